/* What a device has still to write into memory that its client gives back, leaves, or sleeps on: it is another client's once that has
 * been written. Sessions in this process, on the simulated device.
 */
#include "lib/server/cleaning.h"
#include "lib/server/client_memory.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#define PIECE ((uint64_t)1 << 14)

enum { WORDS = PIECE / sizeof(uint32_t) };

#define SECRET UINT32_C(0x5ec2e75e)
#define OWN    UINT32_C(0x0d0c0b0a)

#define SLOW_LINK "2e4" /* bytes a second */

/* A secret is on its way into the memory, behind a long copy that has begun. */
static void write_late(raw_client *client, uint64_t address, uint64_t source)
{
    const tb_order slow = raw_copy(TB_DEVICE_TO_HOST, source, PIECE);
    tb_order late = {.kind = TB_ORDER_COMMAND};
    late.command.kind = TB_COMMAND_COPY;
    late.command.copy = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, (void *)(uintptr_t)address,
                                         (const void *)(uintptr_t)source, PIECE);
    raw_write(client, source, PIECE, SECRET);
    sim_set("LINK", SLOW_LINK);
    raw_send(client, &slow);
    nanosleep(&(struct timespec){.tv_nsec = RAW_ASLEEP_NANOSECONDS}, NULL);
    sim_set("LINK", "0");
    raw_send(client, &late);
}

static void *leave(void *client)
{
    raw_leave(client);
    return NULL;
}

/* That has held more, by and by. */
static void wait_until_held(uint64_t bytes)
{
    for (int look = 0; look < 100000 && tb_held_bytes(0) > bytes; look++)
        raw_look_again();
    tb_wait_for_cleaning(0);
    CHECK(tb_held_bytes(0) == bytes, "%llu bytes are held", (unsigned long long)tb_held_bytes(0));
}

/* Memory into which one has ordered to write, and which that one gives back or leaves, is another one's once it has been written. */
static void check_late_writes(bool leaves)
{
    raw_client first, next;
    pthread_t leaving;
    uint64_t source, late, address = 0;
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    raw_come(&first);
    raw_come(&next);
    CHECK(raw_take(&first, PIECE, &source) == TB_OK && raw_take(&first, PIECE, &late) == TB_OK,
          "there is no memory");
    write_late(&first, late, source);
    if (!leaves)
        raw_release(&first, late);
    else if (pthread_create(&leaving, NULL, leave, &first) != 0)
        abort();
    wait_until_held(leaves ? 0 : PIECE);
    for (int i = 0; i < 2 && address != late; i++)
        CHECK(raw_take(&next, PIECE, &address) == TB_OK, "there is no memory for the next");
    CHECK(address == late, "the next one has other memory");
    raw_write(&next, address, PIECE, OWN);
    if (leaves) {
        pthread_join(leaving, NULL);
    } else {
        raw_finish(&first);
        raw_leave(&first);
    }
    CHECK(raw_count(&next, address, PIECE, OWN) == WORDS, "one that %s has written into another one's memory",
          leaves ? "has left" : "has given it back");
    raw_leave(&next);
}

/* The same where it is taken back from one that sleeps. The rest of the device's memory is the program's. */
static void check_late_write_of_sleeper(void)
{
    raw_client first, next;
    uint64_t source, late, addresses[2] = {0};
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    raw_come(&first);
    raw_come(&next);
    raw_use(&next, 1);
    CHECK(raw_take(&first, PIECE, &source) == TB_OK && raw_take(&first, PIECE, &late) == TB_OK,
          "there is no memory");
    void *const rest = sim_allocate(TB_MEMORY_DEVICE, 0, sim_free_bytes(0));
    write_late(&first, late, source);
    raw_fall_asleep(&first);
    for (int i = 0; i < 2; i++) {
        tb_status status = TB_OUT_OF_MEMORY;
        for (int attempt = 0; attempt < 20 && status == TB_OUT_OF_MEMORY; attempt++)
            status = raw_take(&next, PIECE, &addresses[i]);
        CHECK(status == TB_OK, "piece %d is not taken back", i);
        raw_write(&next, addresses[i], PIECE, OWN + (uint32_t)i);
    }
    CHECK(atomic_load(&first.berth.wire->use) == TB_WIRE_TAKEN_BACK, "the sleeper is not told");
    raw_finish(&first);
    for (int i = 0; i < 2; i++)
        CHECK(raw_count(&next, addresses[i], PIECE, OWN + (uint32_t)i) == WORDS,
              "one that sleeps has written into piece %d", i);
    sim_release(rest);
    raw_leave(&first);
    raw_leave(&next);
}

int main(void)
{
    sim_set("MEMORY", "1048576");
    if (!raw_open(0))
        return EXIT_FAILURE;
    check_late_writes(false);
    check_late_writes(true);
    check_late_write_of_sleeper();
    return check_result();
}
