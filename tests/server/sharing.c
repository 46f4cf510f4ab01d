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

/* Longer than a client does nothing that is awake (lib/server/sleepers.c). */
#define ASLEEP_NANOSECONDS 150000000

static uint64_t told_free(raw_client *client)
{
    uint64_t bytes = 0;
    CHECK(raw_ask(client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK, "nobody says what is free");
    return bytes;
}

static tb_status take(raw_client *client, uint64_t bytes, uint64_t *address)
{
    return raw_ask(client, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = bytes}, address);
}

/* Pieces until there are none; so many bytes. The first is left in *address. */
static uint64_t take_all(raw_client *client, uint64_t *address)
{
    uint64_t bytes = 0, other;
    while (take(client, PIECE, bytes == 0 ? address : &other) == TB_OK)
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

static tb_order release_of(uint64_t address)
{
    return (tb_order){.kind = TB_ORDER_RELEASE, .address = address};
}

static void use(raw_client *client, uint32_t threads)
{
    atomic_store(&client->berth.wire->use, threads);
}

static void fall_asleep(raw_client *client)
{
    use(client, 0);
    nanosleep(&(struct timespec){.tv_nsec = ASLEEP_NANOSECONDS}, NULL);
}

static void check_shares(void)
{
    enum { CLIENTS = 4 };
    raw_client clients[CLIENTS];
    uint64_t address, sum = 0;
    for (int i = 0; i < CLIENTS; i++) {
        raw_come(&clients[i]);
        use(&clients[i], 1);
        const uint64_t told = told_free(&clients[i]), got = take_all(&clients[i], &address);
        CHECK(got <= told && got + PIECE > told, "client %d is told of %llu bytes and gets %llu", i,
              (unsigned long long)told, (unsigned long long)got);
        CHECK(i > 2 || got >= MEMORY / 8, "client %d gets %llu bytes", i, (unsigned long long)got);
        sum += got;
    }
    CHECK(sum <= MEMORY, "%llu bytes of %llu are given out", (unsigned long long)sum,
          (unsigned long long)MEMORY);
    for (int i = 0; i < CLIENTS; i++)
        raw_leave(&clients[i]);
}

/* What one held that sleeps is another one's; who is awake keeps what it has. */
static void check_sleepers(void)
{
    raw_client awake, asleep, next;
    uint64_t of_awake, of_sleeper, address;
    raw_come(&awake);
    raw_come(&asleep);
    use(&awake, 1);
    use(&asleep, 1);
    take_all(&awake, &of_awake);
    take_all(&asleep, &of_sleeper);
    fall_asleep(&asleep);
    raw_come(&next);
    use(&next, 1);
    const uint64_t told = told_free(&next);
    CHECK(take(&next, told, &address) == TB_OK, "%llu bytes that are free are not there",
          (unsigned long long)told);
    CHECK(atomic_load(&asleep.berth.wire->use) == TB_WIRE_TAKEN_BACK, "the sleeper is not told");
    CHECK(atomic_load(&awake.berth.wire->use) == 1, "a client that is awake is told something");
    const tb_order order = copy_within(of_awake);
    raw_send(&awake, &order);
    CHECK(take(&awake, PIECE, &address) != TB_DEVICE_LOST, "a client that is awake has lost what it had");

    /* It wakes up and goes on. */
    use(&asleep, 1);
    CHECK(take(&asleep, PIECE, &of_sleeper) == TB_OK, "a client that wakes up gets nothing");
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
    take(taker, MEMORY / 3, &address);
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
        use(&honest, 1);
        take_all(&liar, &first);
        take_all(&honest, &other);
        fall_asleep(&liar);
        raw_come(&taker);
        use(&taker, 1);
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

enum { WORDS = PIECE / sizeof(uint32_t) };

#define SECRET UINT32_C(0x5ec2e75e)

static tb_order copy_slot(tb_direction direction, uint64_t address)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    void *const there = (void *)(uintptr_t)address;
    order.command.kind = TB_COMMAND_COPY;
    order.command.copy = direction == TB_HOST_TO_DEVICE ? tb_copy_of_bytes(direction, there, NULL, PIECE)
                                                        : tb_copy_of_bytes(direction, NULL, there, PIECE);
    return order;
}

static void fill_slot(raw_client *client, uint32_t word)
{
    uint32_t *words = (uint32_t *)(void *)client->berth.slots;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = word;
}

static void write_words(raw_client *client, uint64_t address, uint32_t word)
{
    fill_slot(client, word);
    const tb_order order = copy_slot(TB_HOST_TO_DEVICE, address);
    raw_send(client, &order);
    raw_finish(client);
}

static int count_words(raw_client *client, uint64_t address, uint32_t word)
{
    const uint32_t *words = (const uint32_t *)(const void *)client->berth.slots;
    const tb_order order = copy_slot(TB_DEVICE_TO_HOST, address);
    raw_send(client, &order);
    raw_finish(client);
    int count = 0;
    for (size_t i = 0; i < WORDS; i++)
        count += words[i] == word;
    return count;
}

/* Which has been given back, taken back, or left by a client that has ended. */
static void check_secrets(void)
{
    enum { WAYS = 3 };
    tb_wait_for_cleaning(0);
    sim_set("STALE", "1");
    for (int way = 0; way < WAYS; way++) {
        raw_client first, second;
        uint64_t address;
        raw_come(&first);
        use(&first, 1);
        CHECK(take(&first, PIECE, &address) == TB_OK, "there is no memory");
        write_words(&first, address, SECRET);
        CHECK(count_words(&first, address, SECRET) == WORDS, "what was written is not there");
        if (way == 0)
            raw_send(&first, &(tb_order){.kind = TB_ORDER_RELEASE, .address = address});
        raw_come(&second);
        use(&second, 1);
        if (way == 1) {
            uint64_t other;
            fall_asleep(&first);
            CHECK(take(&second, told_free(&second), &other) == TB_OK, "there is no memory for the second");
            CHECK(count_words(&second, other, SECRET) == 0, "what was taken back shows");
            raw_send(&second, &(tb_order){.kind = TB_ORDER_RELEASE, .address = other});
        }
        if (way == 2)
            raw_leave(&first);
        tb_wait_for_cleaning(0);
        tb_give_back_all_kept(0);
        CHECK(take(&second, PIECE, &address) == TB_OK, "there is no memory for the second");
        CHECK(count_words(&second, address, SECRET) == 0, "what one had shows to another: %d", way);
        if (way != 2)
            raw_leave(&first);
        raw_leave(&second);
        tb_wait_for_cleaning(0);
        tb_give_back_all_kept(0);
    }
    sim_set("STALE", "0");
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
    take(&waking, PIECE, &first);
    take(&waking, PIECE, &other);
    take_all(&waking, &last);
    raw_come(&honest);
    use(&honest, 1);
    take_all(&honest, &last);
    sim_set("LINK", "4e4"); /* bytes a second */
    const tb_order slow = copy_slot(TB_HOST_TO_DEVICE, other), release = release_of(other);
    raw_send(&waking, &slow);
    raw_send(&waking, &release);
    fall_asleep(&waking);
    raw_come(&taker);
    use(&taker, 1);
    pthread_create(&thread, NULL, take_much, &taker);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    const bool has_woken = atomic_compare_exchange_strong(&waking.berth.wire->use, &nobody, 1);
    pthread_join(thread, NULL);
    sim_set("LINK", "0");
    const tb_order order = copy_within(first);
    raw_send(&waking, &order);
    CHECK(!has_woken ||
              (take(&waking, PIECE, &last) != TB_DEVICE_LOST && atomic_load(&waking.berth.wire->use) == 1),
          "a client that has woken up in time is taken from");
    raw_leave(&taker);
    raw_leave(&honest);
    raw_leave(&waking);
}

/* ---- What is under way ------------------------------------------------------------------------------------- */

#define OWN UINT32_C(0x0d0c0b0a)

#define SLOW_LINK "2e4" /* bytes a second */

/* A secret is on its way into the memory, behind a long copy that has begun. */
static void write_late(raw_client *client, uint64_t address, uint64_t source)
{
    const tb_order slow = copy_slot(TB_DEVICE_TO_HOST, source);
    tb_order late = {.kind = TB_ORDER_COMMAND};
    late.command.kind = TB_COMMAND_COPY;
    late.command.copy = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, (void *)(uintptr_t)address,
                                         (const void *)(uintptr_t)source, PIECE);
    write_words(client, source, SECRET);
    sim_set("LINK", SLOW_LINK);
    raw_send(client, &slow);
    nanosleep(&(struct timespec){.tv_nsec = ASLEEP_NANOSECONDS}, NULL);
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
    CHECK(take(&first, PIECE, &source) == TB_OK && take(&first, PIECE, &late) == TB_OK, "there is no memory");
    write_late(&first, late, source);
    const tb_order release = release_of(late);
    if (!leaves)
        raw_send(&first, &release);
    else if (pthread_create(&leaving, NULL, leave, &first) != 0)
        abort();
    wait_until_held(leaves ? 0 : PIECE);
    for (int i = 0; i < 2 && address != late; i++)
        CHECK(take(&next, PIECE, &address) == TB_OK, "there is no memory for the next");
    CHECK(address == late, "the next one has other memory");
    write_words(&next, address, OWN);
    if (leaves) {
        pthread_join(leaving, NULL);
    } else {
        raw_finish(&first);
        raw_leave(&first);
    }
    CHECK(count_words(&next, address, OWN) == WORDS, "one that %s has written into another one's memory",
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
    use(&next, 1);
    CHECK(take(&first, PIECE, &source) == TB_OK && take(&first, PIECE, &late) == TB_OK, "there is no memory");
    void *const rest = sim_allocate(TB_MEMORY_DEVICE, 0, sim_free_bytes(0));
    write_late(&first, late, source);
    fall_asleep(&first);
    for (int i = 0; i < 2; i++) {
        tb_status status = TB_OUT_OF_MEMORY;
        for (int attempt = 0; attempt < 20 && status == TB_OUT_OF_MEMORY; attempt++)
            status = take(&next, PIECE, &addresses[i]);
        CHECK(status == TB_OK, "piece %d is not taken back", i);
        write_words(&next, addresses[i], OWN + (uint32_t)i);
    }
    CHECK(atomic_load(&first.berth.wire->use) == TB_WIRE_TAKEN_BACK, "the sleeper is not told");
    raw_finish(&first);
    for (int i = 0; i < 2; i++)
        CHECK(count_words(&next, addresses[i], OWN + (uint32_t)i) == WORDS,
              "one that sleeps has written into piece %d", i);
    sim_release(rest);
    raw_leave(&first);
    raw_leave(&next);
}

int main(void)
{
    check_random random = {check_seed()};
    sim_set("MEMORY", "1048576");
    if (!raw_open(0))
        return EXIT_FAILURE;
    check_shares();
    check_sleepers();
    check_liars(&random);
    check_secrets();
    check_waking();
    check_late_writes(false);
    check_late_writes(true);
    check_late_write_of_sleeper();
    tb_wait_for_cleaning(0);
    tb_give_back_all_kept(0);
    const sim_usage usage = sim_get_usage();
    CHECK(usage.device_blocks == 0 && usage.pinned_blocks == 0 && usage.streams == 0 && usage.events == 0,
          "%ld blocks, %ld pinned ones, %ld streams and %ld events stay", usage.device_blocks,
          usage.pinned_blocks, usage.streams, usage.events);
    return check_result();
}
