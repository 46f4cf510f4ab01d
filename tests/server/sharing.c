/* What clients may hold of a device's memory, and what becomes of it while they sleep: sessions in this process, on the simulated
 * device, which ends the process where memory is used that was given back.
 */
#include "lib/server/cleaning.h"
#include "lib/server/client_memory.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

#define MEMORY ((uint64_t)1 << 20) /* of the device */
#define PIECE  ((uint64_t)1 << 14)

static uint64_t told_free(raw_client *client)
{
    uint64_t bytes = 0;
    CHECK(raw_ask(client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK, "nobody says what is free");
    return bytes;
}

/* Pieces until there are none; so many bytes. The first is left in *address. */
static uint64_t take_all(raw_client *client, uint64_t *address)
{
    uint64_t bytes = 0, other;
    while (raw_take(client, PIECE, bytes == 0 ? address : &other) == TB_OK)
        bytes += PIECE;
    return bytes;
}

static tb_order copy_within(uint64_t address)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    order.command.kind = TB_COMMAND_COPY;
    order.command.copy = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, (void *)(uintptr_t)address,
                                          (void *)(uintptr_t)(address + PIECE / 2), PIECE / 2);
    return order;
}

/* Of all the device's memory, or of as much of it as clients may have together; 0: they may have all. */
static void check_shares(uint64_t most)
{
    enum { CLIENTS = 6 };
    const uint64_t all = most > 0 ? most : MEMORY;
    raw_client clients[CLIENTS];
    uint64_t address, sum = 0;
    raw_facts.memory_most = most;
    for (int i = 0; i < CLIENTS; i++) {
        raw_come(&clients[i]);
        raw_use(&clients[i], 1);
        const uint64_t told = told_free(&clients[i]), got = take_all(&clients[i], &address);
        CHECK(got <= told && got + PIECE > told, "client %d is told of %llu bytes and gets %llu", i,
              (unsigned long long)told, (unsigned long long)got);
        CHECK(i > 2 || got >= all / 8, "client %d gets %llu bytes", i, (unsigned long long)got);
        sum += got;
    }
    CHECK(sum <= all && tb_held_bytes(0) == sum, "%llu bytes of %llu are given out, and %llu are said to be",
          (unsigned long long)sum, (unsigned long long)all, (unsigned long long)tb_held_bytes(0));
    for (int i = 0; i < CLIENTS; i++)
        raw_leave(&clients[i]);
    raw_facts.memory_most = 0;
}

/* What one held that sleeps is another one's; who is awake keeps what it has. */
static void check_sleepers(void)
{
    raw_client awake, asleep, next;
    uint64_t of_awake, of_sleeper, address;
    raw_come(&awake);
    raw_come(&asleep);
    raw_use(&awake, 1);
    raw_use(&asleep, 1);
    take_all(&awake, &of_awake);
    take_all(&asleep, &of_sleeper);
    raw_fall_asleep(&asleep);
    raw_come(&next);
    raw_use(&next, 1);
    const uint64_t told = told_free(&next);
    CHECK(raw_take(&next, told, &address) == TB_OK, "%llu bytes that are free are not there",
          (unsigned long long)told);
    CHECK(atomic_load(&asleep.berth.wire->use) == TB_WIRE_TAKEN_BACK, "the sleeper is not told");
    CHECK(atomic_load(&awake.berth.wire->use) == 1, "a client that is awake is told something");
    const tb_order order = copy_within(of_awake);
    raw_send(&awake, &order);
    CHECK(raw_take(&awake, PIECE, &address) != TB_DEVICE_LOST, "a client that is awake has lost what it had");

    /* It wakes up and goes on. */
    raw_use(&asleep, 1);
    CHECK(raw_take(&asleep, PIECE, &of_sleeper) == TB_OK, "a client that wakes up gets nothing");
    const tb_order own = copy_within(of_sleeper);
    raw_send(&asleep, &own);
    CHECK(told_free(&asleep) > 0 || !raw_is_over(&asleep), "a client that wakes up is refused");
    raw_leave(&awake);
    raw_leave(&asleep);
    raw_leave(&next);
}

static void *take_much(void *taker)
{
    uint64_t address;
    raw_take(taker, MEMORY / 3, &address);
    return NULL;
}

/* One that says that it sleeps, and goes on ordering while that is believed, or once it has been: it keeps what it has, or it is refused,
 * and touches nothing that is another one's. */
static void check_liars(check_random *random)
{
    enum { ROUNDS = 12 };
    int taken_back = 0;
    for (int round = 0; round < ROUNDS; round++) {
        raw_client liar, honest, taker;
        pthread_t thread;
        uint64_t first, other;
        raw_come(&liar);
        raw_come(&honest);
        raw_use(&honest, 1);
        take_all(&liar, &first);
        take_all(&honest, &other);
        raw_fall_asleep(&liar);
        raw_come(&taker);
        raw_use(&taker, 1);
        pthread_create(&thread, NULL, take_much, &taker);
        nanosleep(&(struct timespec){.tv_nsec = check_between(random, 0, 200000)}, NULL);
        const tb_order order = copy_within(first);
        for (int i = 0; i < 300 && !raw_is_over(&liar); i++)
            raw_send(&liar, &order);
        pthread_join(thread, NULL);
        const bool was_taken_back = atomic_load(&liar.berth.wire->use) == TB_WIRE_TAKEN_BACK;
        raw_send(&liar, &order);
        for (int i = 0; i < 10000 && was_taken_back && !raw_is_over(&liar); i++)
            raw_look_again();
        CHECK(raw_is_over(&liar) == was_taken_back, "one that lies %s",
              was_taken_back ? "goes on" : "is refused what it has");
        taken_back += was_taken_back;
        raw_leave(&taker);
        raw_leave(&liar);
        raw_leave(&honest);
    }
    CHECK(taken_back > 0, "nothing was ever taken back");
}

/* ---- What memory holds ------------------------------------------------------------------------------------- */

#define SECRET UINT32_C(0x5ec2e75e)

/* Memory that has been given back, taken back, or left by a client that has ended. */
static void check_secret(int way, uint64_t bytes)
{
    raw_client first, second;
    uint64_t address, other;
    const long words = (long)(bytes / sizeof(uint32_t));
    raw_come(&first);
    raw_use(&first, 1);
    CHECK(raw_take(&first, bytes, &address) == TB_OK, "there is no memory");
    raw_write(&first, address, bytes, SECRET);
    CHECK(raw_count(&first, address, bytes, SECRET) == words, "what was written is not there");
    if (way == 0)
        raw_release(&first, address);
    raw_come(&second);
    raw_use(&second, 1);
    if (way == 1) {
        raw_fall_asleep(&first);
        const uint64_t told = told_free(&second);
        CHECK(raw_take(&second, told, &other) == TB_OK, "there is no memory for the second");
        CHECK(raw_count(&second, other, told, SECRET) == 0, "what was taken back shows");
        raw_release(&second, other);
    }
    if (way == 2)
        raw_leave(&first);
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    CHECK(raw_take(&second, bytes, &address) == TB_OK, "there is no memory for the second");
    CHECK(raw_count(&second, address, bytes, SECRET) == 0, "what one had shows to another: %d", way);
    if (way != 2)
        raw_leave(&first);
    raw_leave(&second);
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
}

/* The larger block is zeroed by several copies, the last of which is shorter. */
static void check_secrets(void)
{
    enum { WAYS = 3 };
    static const uint64_t sizes[] = {PIECE, 13 * PIECE - 4};
    tb_wait_for_cleaning(0);
    sim_set("STALE", "1");
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < 2; i++)
            check_secret(way, sizes[i]);
    sim_set("STALE", "0");
}

/* What one client has given back serves another one that wants nearly as much: the device is not asked again. */
static void check_reuse(void)
{
    raw_client first, second;
    uint64_t address;
    raw_come(&first);
    raw_use(&first, 1);
    CHECK(raw_take(&first, 2 * PIECE + 4, &address) == TB_OK, "there is no memory");
    raw_release(&first, address);
    raw_leave(&first);
    tb_wait_for_cleaning(0);
    raw_come(&second);
    raw_use(&second, 1);
    const long allocations = sim_operations("allocate");
    CHECK(raw_take(&second, 2 * PIECE + PIECE / 4, &address) == TB_OK, "there is no memory for the second");
    CHECK(sim_operations("allocate") == allocations,
          "the device is asked for what another client has given back");
    raw_release(&second, address);
    raw_leave(&second);
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
}

/* One that wakes up when it has been chosen, and before it is taken from, keeps what it has: its session waits for the device's work
 * meanwhile. */
static void check_waking(void)
{
    raw_client waking, honest, taker;
    pthread_t thread;
    uint64_t first, other, last;
    uint32_t nobody = 0;
    raw_come(&waking);
    raw_take(&waking, PIECE, &first);
    raw_take(&waking, PIECE, &other);
    take_all(&waking, &last);
    raw_come(&honest);
    raw_use(&honest, 1);
    take_all(&honest, &last);
    sim_set("LINK", "4e4"); /* bytes a second */
    const tb_order slow = raw_copy(TB_HOST_TO_DEVICE, other, PIECE);
    raw_send(&waking, &slow);
    raw_release(&waking, other);
    raw_fall_asleep(&waking);
    raw_come(&taker);
    raw_use(&taker, 1);
    pthread_create(&thread, NULL, take_much, &taker);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    const bool has_woken = atomic_compare_exchange_strong(&waking.berth.wire->use, &nobody, 1);
    pthread_join(thread, NULL);
    sim_set("LINK", "0");
    const tb_order order = copy_within(first);
    raw_send(&waking, &order);
    CHECK(!has_woken || (raw_take(&waking, PIECE, &last) != TB_DEVICE_LOST &&
                         atomic_load(&waking.berth.wire->use) == 1),
          "a client that has woken up in time is taken from");
    raw_leave(&taker);
    raw_leave(&honest);
    raw_leave(&waking);
}

int main(void)
{
    check_random random = {check_seed()};
    sim_set("MEMORY", "1048576");
    if (!raw_open(0))
        return EXIT_FAILURE;
    check_shares(0);
    check_shares(MEMORY / 4);
    check_sleepers();
    check_liars(&random);
    check_secrets();
    check_reuse();
    check_waking();
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    const sim_usage usage = sim_get_usage();
    CHECK(usage.device_blocks == 0 && usage.pinned_blocks == 0 && usage.streams == 0 && usage.events == 0,
          "%ld blocks, %ld pinned ones, %ld streams and %ld events stay", usage.device_blocks,
          usage.pinned_blocks, usage.streams, usage.events);
    return check_result();
}
