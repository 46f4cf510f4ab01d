/* The last number that a client may name, and the one behind it: of streams, events, devices, orders in the ring, and pieces of memory. And
 * what is one device's at another one's stream. Sessions in this process, on two simulated devices.
 */
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

enum { DEVICES = 2, BYTES = 64 };

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

static void check_number(const char *what, tb_order order, bool is_taken)
{
    raw_client client;
    uint64_t bytes;
    raw_come(&client);
    if (order.kind == TB_ORDER_ALLOCATE || order.kind == TB_ORDER_MEMORY)
        raw_ask(&client, order, &bytes);
    else
        raw_send(&client, &order);
    const bool goes_on = raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK;
    raw_leave(&client);
    CHECK(goes_on == is_taken && client.ending == (is_taken ? TB_CLIENT_LEFT : TB_CLIENT_REFUSED), "%s is %s",
          what, goes_on ? "taken" : "refused");
}

static void check_numbers(void)
{
    static const struct {
        const char *what;
        tb_order last;                  /* that is taken */
        uint32_t device, stream, event; /* by so much more it is not */
    } rows[] = {
        {"a record", {.kind = TB_ORDER_RECORD, .event = TB_WIRE_EVENTS - 1, .number = 1}, 0, 0, 1},
        {"a wait", {.kind = TB_ORDER_WAIT, .event = TB_WIRE_EVENTS - 1}, 0, 0, 1},
        {"an event", {.kind = TB_ORDER_CREATE_EVENT, .event = TB_WIRE_EVENTS - 1}, 0, 0, 1},
        {"an event that goes", {.kind = TB_ORDER_DESTROY_EVENT, .event = TB_WIRE_EVENTS - 1}, 0, 0, 1},
        {"a stream", {.kind = TB_ORDER_CREATE_STREAM, .stream = TB_WIRE_STREAMS - 1}, 0, 1, 0},
        {"a stream that goes", {.kind = TB_ORDER_DESTROY_STREAM, .stream = TB_WIRE_STREAMS - 1}, 0, 1, 0},
        {"a device's stream", {.kind = TB_ORDER_CREATE_STREAM, .stream = 1, .device = DEVICES - 1}, 1, 0, 0},
        {"a device's memory", {.kind = TB_ORDER_ALLOCATE, .bytes = BYTES, .device = DEVICES - 1}, 1, 0, 0},
        {"a device's room", {.kind = TB_ORDER_MEMORY, .device = DEVICES - 1}, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tb_order order = rows[i].last;
        check_number(rows[i].what, order, true);
        order.device += rows[i].device;
        order.stream += rows[i].stream;
        order.event += rows[i].event;
        check_number(rows[i].what, order, false);
    }
}

/* ---- The ring ---------------------------------------------------------------------------------------------- */

/* As many orders at once as the ring holds, which do nothing. */
static void check_ring(int more)
{
    raw_client client;
    raw_come(&client);
    tb_wire *wire = client.berth.wire;
    tb_order nothing = raw_copy(TB_HOST_TO_DEVICE, 0, 0);
    nothing.command.copy.rows = 0;
    for (int i = 0; i < TB_WIRE_ORDERS; i++)
        wire->orders[i] = nothing;
    const uint32_t tail = atomic_load(&wire->tail) + TB_WIRE_ORDERS + (uint32_t)more;
    atomic_store(&wire->tail, tail);
    tb_wire_wake(&wire->tail);
    while (!raw_is_over(&client) && atomic_load(&wire->head) != tail)
        raw_look_again();
    raw_leave(&client);
    CHECK(client.ending == (more == 0 ? TB_CLIENT_LEFT : TB_CLIENT_REFUSED),
          "%d orders more than the ring holds end with %d", more, (int)client.ending);
}

/* ---- Two devices ------------------------------------------------------------------------------------------- */

/* What is one device's the other's stream does not take: memory, and an event that was recorded there. */
static void check_other_device(const char *what, bool is_event, uint32_t stream)
{
    raw_client client;
    uint64_t block, bytes;
    raw_come(&client);
    raw_send(&client, &(tb_order){.kind = TB_ORDER_CREATE_STREAM, .device = 1, .stream = 1});
    if (raw_take(&client, BYTES, &block) != TB_OK)
        abort();
    tb_order first = raw_copy(TB_HOST_TO_DEVICE, block, BYTES);
    if (is_event)
        first = (tb_order){.kind = TB_ORDER_RECORD, .number = 1};
    tb_order second = first;
    second.stream = stream;
    raw_send(&client, &first);
    raw_send(&client, &second);
    const bool goes_on = raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK;
    raw_leave(&client);
    CHECK(goes_on == (stream == 0), "%s of the first device is %s by stream %u", what,
          goes_on ? "taken" : "refused", stream);
}

/* ---- Many pieces of memory --------------------------------------------------------------------------------- */

/* More than a client may have are not there, and it keeps those that it has. */
static void check_blocks(void)
{
    enum { BLOCKS_MOST = 4096 };
    static uint64_t blocks[BLOCKS_MOST];
    raw_client client;
    uint64_t more;
    raw_come(&client);
    for (int i = 0; i < BLOCKS_MOST; i++)
        CHECK(raw_take(&client, BYTES, &blocks[i]) == TB_OK, "there is no piece %d", i);
    for (int i = 0; i < 64; i++)
        CHECK(raw_take(&client, BYTES, &more) == TB_OUT_OF_MEMORY, "there is one more piece");
    raw_write(&client, blocks[BLOCKS_MOST - 1], BYTES, 1);
    CHECK(raw_count(&client, blocks[BLOCKS_MOST - 1], BYTES, 1) == BYTES / sizeof(uint32_t),
          "the last piece is gone");
    raw_release(&client, blocks[0]);
    CHECK(raw_take(&client, BYTES, &more) == TB_OK,
          "there is no piece in the place of one that was given back");
    raw_leave(&client);
    CHECK(client.ending == TB_CLIENT_LEFT, "a client with many pieces is refused");
}

int main(void)
{
    sim_set("DEVICES", "2");
    if (!raw_open(1 << 26))
        return EXIT_FAILURE;
    check_numbers();
    for (uint32_t stream = 0; stream < 2; stream++) {
        check_other_device("memory", false, stream);
        check_other_device("an event", true, stream);
    }
    check_ring(0);
    check_ring(1);
    check_blocks();
    return check_result();
}
