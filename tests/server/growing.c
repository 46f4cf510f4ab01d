/* Slots that grow: what lies in those that are not there yet no order names, nor what lies across the border of two steps; who asks for
 * ever gets no more than the others, and holds nobody up; and the next client finds neither them nor what was in them. Sessions in this
 * process, on the simulated device, which ends the process where a copy goes beyond what was pinned at once.
 */
#include "lib/server/port.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

enum { STEP = 1 << 20, PIECE = 1 << 12, ASKED = 1000 };

static const tb_slots_extent extent = {.first = RAW_SLOTS_BYTES, .step = STEP, .steps_most = TB_WIRE_STEPS};

static const uint64_t all_bytes = RAW_SLOTS_BYTES + (uint64_t)STEP * TB_WIRE_STEPS;

/* ---- Orders ------------------------------------------------------------------------------------------------ */

static tb_order copy_at(tb_direction direction, uint64_t address, uint64_t slot, uint64_t bytes)
{
    tb_order order = raw_copy(direction, address, bytes);
    tb_copy *copy = &order.command.copy;
    if (direction == TB_HOST_TO_DEVICE)
        copy->source = (const void *)(uintptr_t)slot;
    else
        copy->target = (void *)(uintptr_t)slot;
    return order;
}

/* Two rows, the second at the end. */
static tb_order rows_at(tb_direction direction, uint64_t address, uint64_t slot, uint64_t bytes)
{
    tb_order order = copy_at(direction, address, slot, bytes);
    tb_copy *copy = &order.command.copy;
    copy->rows = 2;
    copy->row_bytes = bytes / 4;
    copy->source_pitch = copy->target_pitch = bytes - copy->row_bytes;
    return order;
}

/* Slots that have grown by so many steps, which nobody may exceed by a byte, and of which nobody names two at once. */
static void check_copy(uint32_t steps, tb_direction direction, uint64_t slot, bool is_taken)
{
    for (int of_rows = 0; of_rows < 2; of_rows++) {
        raw_client client;
        uint64_t block, bytes;
        raw_come_to(&client, &extent);
        while (atomic_load(&client.berth.steps) < steps)
            tb_grow_berth(&client.berth);
        if (raw_take(&client, PIECE, &block) != TB_OK)
            abort();
        const tb_order order = (of_rows ? rows_at : copy_at)(direction, block, slot, PIECE);
        raw_send(&client, &order);
        const bool goes_on = raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK;
        raw_leave(&client);
        CHECK(goes_on == is_taken && client.ending == (is_taken ? TB_CLIENT_LEFT : TB_CLIENT_REFUSED),
              "with %u steps a copy of the slots' bytes from %llu on is %s", steps, (unsigned long long)slot,
              goes_on ? "taken" : "refused");
    }
}

static void check_copies(void)
{
    for (tb_direction direction = TB_HOST_TO_DEVICE; direction <= TB_DEVICE_TO_HOST; direction++)
        for (uint32_t steps = 0; steps <= TB_WIRE_STEPS; steps++) {
            const uint64_t end = tb_slots_after(&extent, steps);
            check_copy(steps, direction, end - PIECE, true);
            check_copy(steps, direction, end - PIECE + 1, false);
            check_copy(steps, direction, end, false);
            for (uint32_t step = 0; step < steps; step++) {
                check_copy(steps, direction, tb_slots_after(&extent, step), true);
                check_copy(steps, direction, tb_slots_after(&extent, step) - PIECE / 2, false);
            }
        }
}

/* ---- The port ---------------------------------------------------------------------------------------------- */

static void come(raw_client *client)
{
    *client = (raw_client){0};
    if (!tb_take_berth(&client->berth) || !tb_enter_port(&client->berth))
        abort();
    raw_begin(client);
}

static void leave(raw_client *client)
{
    raw_end(client);
    tb_leave_port(&client->berth);
    tb_give_berth(&client->berth, true);
}

static void ask_for_slots(raw_client *client, int times)
{
    for (int i = 0; i < times; i++)
        raw_send(client, &(tb_order){.kind = TB_ORDER_MORE_SLOTS});
    uint64_t bytes; /* which is answered when those have been done */
    raw_ask(client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes);
}

static void grow_fully(raw_client *client)
{
    for (int i = 0; i < TB_WIRE_STEPS; i++) {
        ask_for_slots(client, 1);
        tb_keep_berths();
    }
}

static uint32_t told_steps(const raw_client *client)
{
    return atomic_load(&client->berth.wire->slots_steps);
}

static void *ask_on(void *asker)
{
    ask_for_slots(asker, ASKED);
    return NULL;
}

/* One asks while slots grow, and for ever: another one's grow as well, and who keeps the berths has an end. */
static void check_asker(void)
{
    raw_client asker, other;
    pthread_t thread;
    come(&asker);
    come(&other);
    if (pthread_create(&thread, NULL, ask_on, &asker) != 0)
        abort();
    grow_fully(&other);
    pthread_join(thread, NULL);
    tb_keep_berths();
    grow_fully(&asker);
    ask_for_slots(&asker, ASKED);
    tb_keep_berths();
    CHECK(told_steps(&asker) == TB_WIRE_STEPS && told_steps(&other) == TB_WIRE_STEPS,
          "slots have grown by %u steps and by %u", told_steps(&asker), told_steps(&other));
    CHECK(!raw_is_over(&asker) && !raw_is_over(&other), "a client that asks for slots is refused");
    leave(&asker);
    leave(&other);
    tb_keep_berths();
}

/* As many orders at once as the ring holds, again and again. */
static atomic_bool has_kept;
static void *ask_in_rings(void *held)
{
    raw_client *asker = held;
    tb_wire *wire = asker->berth.wire;
    for (int i = 0; i < TB_WIRE_ORDERS; i++)
        wire->orders[i] = (tb_order){.kind = TB_ORDER_MORE_SLOTS};
    while (!atomic_load(&has_kept)) {
        const uint32_t tail = atomic_load(&wire->head) + TB_WIRE_ORDERS;
        atomic_store(&wire->tail, tail);
        tb_wire_wake(&wire->tail);
        while (atomic_load(&wire->head) != tail && !atomic_load(&has_kept))
            ;
    }
    while (atomic_load(&wire->head) != atomic_load(&wire->tail))
        raw_look_again();
    return NULL;
}

/* The device refuses to pin: that is not tried again at once, however often a client asks, and once it does not, slots grow. */
static void check_refused(void)
{
    enum { REFUSED = 64, LINE = 32 };
    char script[REFUSED * LINE] = "";
    raw_client askers[2];
    pthread_t threads[2];
    for (int i = 1; i <= REFUSED; i++)
        snprintf(script + strlen(script), LINE, "%spinned:%d=memory", i == 1 ? "" : ",", i);
    for (int i = 0; i < 2; i++)
        come(&askers[i]);
    tb_keep_berths();
    sim_set("FAIL", script);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, ask_in_rings, &askers[i]) != 0)
            abort();
    for (int i = 0; i < 100000 && sim_failures("pinned") == 0; i++) {
        raw_look_again();
        tb_keep_berths();
    }
    const long tried = sim_failures("pinned");
    CHECK(tried == 1, "what the device has refused is tried %ld times at once", tried);
    atomic_store(&has_kept, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    sim_set("FAIL", "");
    CHECK(told_steps(&askers[0]) + told_steps(&askers[1]) == 0,
          "slots have grown that the device has refused");
    for (int i = 0; i < 5000 && told_steps(&askers[0]) == 0; i++) {
        ask_for_slots(&askers[0], 1);
        tb_keep_berths();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    CHECK(told_steps(&askers[0]) > 0, "slots never grow that the device had refused once");
    for (int i = 0; i < 2; i++)
        leave(&askers[i]);
    tb_keep_berths();
}

static void *keep(void *unused)
{
    tb_keep_berths();
    return unused;
}

/* Who leaves while slots grow waits until they have: what is given back nobody changes any more. */
static void check_leaving(check_random *random)
{
    enum { ROUNDS = 100 };
    for (int round = 0; round < ROUNDS; round++) {
        raw_client client;
        pthread_t keeper;
        come(&client);
        ask_for_slots(&client, 1);
        raw_end(&client);
        if (pthread_create(&keeper, NULL, keep, NULL) != 0)
            abort();
        nanosleep(&(struct timespec){.tv_nsec = check_between(random, 0, 300000)}, NULL);
        tb_leave_port(&client.berth);
        const uint32_t steps = atomic_load(&client.berth.steps);
        pthread_join(keeper, NULL);
        CHECK(atomic_load(&client.berth.steps) == steps, "slots grow of a client that has left");
        tb_give_berth(&client.berth, round % 2 == 0);
    }
    tb_keep_berths();
}

/* ---- The next client --------------------------------------------------------------------------------------- */

static size_t count_bytes(const char *bytes)
{
    size_t count = 0;
    for (uint64_t i = 0; i < all_bytes; i++)
        count += bytes[i] != 0;
    return count;
}

/* It has written everywhere, where nothing had grown, too. */
static void check_next_client(int steps)
{
    raw_client first, next;
    come(&first);
    const char *const slots = first.berth.slots;
    for (int i = 0; i < steps; i++) {
        ask_for_slots(&first, 1);
        tb_keep_berths();
    }
    CHECK(told_steps(&first) == (uint32_t)steps, "slots have grown by %u steps instead of %d",
          told_steps(&first), steps);
    memset(first.berth.slots, 0x5e, all_bytes);
    leave(&first);
    for (int i = 0; i < 2; i++) { /* it is made ready behind what was before */
        tb_keep_berths();
        come(&next);
        CHECK(count_bytes(next.berth.slots) == 0, "the next client finds something");
        CHECK(told_steps(&next) == 0 && atomic_load(&next.berth.steps) == 0,
              "the next client's slots are large");
        const bool is_same = next.berth.slots == slots;
        if (is_same)
            grow_fully(&next);
        CHECK(!is_same || (told_steps(&next) == TB_WIRE_STEPS && count_bytes(next.berth.slots) == 0),
              "slots that grow again are not empty");
        leave(&next);
    }
}

/* Steps of which not one is in the share of the memory that slots may have: berths that are there already do not grow. */
static void check_share(void)
{
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    raw_client client;
    tb_open_port(&(tb_slots_extent){RAW_SLOTS_BYTES, memory, TB_WIRE_STEPS});
    come(&client);
    grow_fully(&client);
    CHECK(told_steps(&client) == 0, "slots grow beyond the share of the memory that they may have");
    leave(&client);
}

int main(void)
{
    check_random random = {check_seed()};
    if (!raw_open(1 << 26))
        return EXIT_FAILURE;
    check_copies();
    tb_open_port(&extent);
    tb_keep_berths();
    check_asker();
    check_refused();
    check_leaving(&random);
    for (int steps = 0; steps <= TB_WIRE_STEPS; steps++)
        check_next_client(steps);
    check_share();
    return check_result();
}
