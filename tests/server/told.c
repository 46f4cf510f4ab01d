/* What a device tells a client itself: the number of the last record, wherever the event was recorded and whatever became of it since, also
 * where the device can tell no more; what a client writes there itself harms nobody else. Sessions in this process, on the simulated device.
 */
#include "lib/server/client_events.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

enum { EVENT = 7, OTHER_EVENT = 8, BYTES = 1 << 14 };

#define SLOW_LINK "1e5" /* bytes a second */

static void record(raw_client *client, uint32_t event, uint32_t stream, uint32_t number)
{
    raw_send(client,
             &(tb_order){.kind = TB_ORDER_RECORD, .stream = stream, .event = event, .number = number});
}

static uint32_t passed(const raw_client *client, uint32_t event)
{
    return atomic_load(&client->berth.wire->passed[event]);
}

static void wait_until_passed(raw_client *client, uint32_t event, uint32_t number)
{
    for (int look = 0; look < 200000 && !raw_is_over(client) && passed(client, event) != number; look++)
        raw_look_again();
    CHECK(passed(client, event) == number, "event %u has come to %u and not to %u", event,
          passed(client, event), number);
}

/* With two streams, the first of which has much to do. */
static void come_with_work(raw_client *client)
{
    uint64_t block;
    raw_come(client);
    raw_send(client, &(tb_order){.kind = TB_ORDER_CREATE_STREAM, .stream = 1});
    if (raw_take(client, BYTES, &block) != TB_OK)
        abort();
    sim_set("LINK", SLOW_LINK);
    const tb_order slow = raw_copy(TB_HOST_TO_DEVICE, block, BYTES);
    raw_send(client, &slow);
}

/* And the session has seen that they have passed. */
static void check_has_left(raw_client *client, const char *what)
{
    for (int look = 0; look < 200000 && tb_is_at_work(0); look++)
        raw_look_again();
    CHECK(!tb_is_at_work(0), "%s: what has passed is still waited for", what);
    raw_leave(client);
    CHECK(client->ending == TB_CLIENT_LEFT, "%s: the session ends with %d", what, (int)client->ending);
}

/* ---- Recorded again ---------------------------------------------------------------------------------------- */

/* First behind what takes long, and then elsewhere, or there again; or it is destroyed in between. `fails`: what the device refuses to tell. */
static void check_two_records(const char *fails, uint32_t second_stream, bool is_destroyed)
{
    raw_client client;
    come_with_work(&client);
    sim_set("FAIL", fails);
    record(&client, EVENT, 0, 1);
    if (is_destroyed)
        raw_send(&client, &(tb_order){.kind = TB_ORDER_DESTROY_EVENT, .event = EVENT});
    record(&client, EVENT, second_stream, 2);
    wait_until_passed(&client, EVENT, 2);
    record(&client, OTHER_EVENT, 0, 1);
    wait_until_passed(&client, OTHER_EVENT, 1);
    CHECK(passed(&client, EVENT) == 2, "an event that had come to 2 is at %u%s", passed(&client, EVENT),
          fails);
    sim_set("LINK", "0");
    sim_set("FAIL", "");
    check_has_left(&client, "an event that is recorded again");
}

/* What is destroyed while it is pending has passed. */
static void check_destroyed(const char *fails)
{
    raw_client client;
    come_with_work(&client);
    sim_set("FAIL", fails);
    record(&client, EVENT, 0, 3);
    raw_send(&client, &(tb_order){.kind = TB_ORDER_DESTROY_EVENT, .event = EVENT});
    wait_until_passed(&client, EVENT, 3);
    sim_set("LINK", "0");
    sim_set("FAIL", "");
    check_has_left(&client, "an event that is destroyed");
}

/* ---- Clients that say it themselves ------------------------------------------------------------------------ */

/* That it has passed, before it has; and something else, once it has. */
static void check_liar(bool says_passed)
{
    raw_client client;
    uint64_t bytes;
    come_with_work(&client);
    if (says_passed)
        atomic_store(&client.berth.wire->passed[EVENT], 1);
    record(&client, EVENT, 0, 1);
    raw_ask(&client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes);
    sim_set("LINK", "0");
    if (!says_passed) {
        wait_until_passed(&client, EVENT, 1);
        record(&client, EVENT, 0, 2);
        while (passed(&client, EVENT) != 2)
            raw_look_again();
        atomic_store(&client.berth.wire->passed[EVENT], 77);
    }
    check_has_left(&client, "a client that says itself what has passed");
}

/* ---- A device that is lost --------------------------------------------------------------------------------- */

static void wait_until_over(const raw_client *client)
{
    for (int look = 0; look < 200000 && !raw_is_over(client); look++)
        raw_look_again();
}

/* Nothing is told any more, and the session ends though nothing is ordered any more. For the others, too. */
static void check_lost(void)
{
    raw_client client, other;
    raw_come(&other);
    raw_finish(&other);
    come_with_work(&client);
    sim_set("FAIL", "copy:1=fault"); /* the next one, when the first is done */
    uint64_t block;
    if (raw_take(&client, BYTES, &block) != TB_OK)
        abort();
    const tb_order copy = raw_copy(TB_HOST_TO_DEVICE, block, BYTES);
    raw_send(&client, &copy);
    record(&client, EVENT, 0, 1);
    wait_until_over(&client);
    record(&other, EVENT, 0, 1);
    wait_until_over(&other);
    CHECK(raw_is_over(&client) && raw_is_over(&other), "a client waits for a device that is lost");
    CHECK(passed(&client, EVENT) == 0, "a device that is lost has told something");
    raw_leave(&client);
    raw_leave(&other);
    CHECK(client.ending == TB_DEVICES_FAILED && other.ending == TB_DEVICES_FAILED,
          "the sessions of a lost device end with %d and %d", (int)client.ending, (int)other.ending);
    CHECK(!tb_is_at_work(0), "a device that is lost is at work");
}

int main(void)
{
    static const char *const fails[] = {"", "tell:1=unsupported", "tell:2=unsupported"};
    if (!raw_open(1 << 26))
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        for (uint32_t stream = 0; stream < 2; stream++)
            for (int is_destroyed = 0; is_destroyed < 2; is_destroyed++)
                check_two_records(fails[i], stream, is_destroyed);
        check_destroyed(fails[i]);
    }
    check_liar(true);
    check_liar(false);
    check_lost();
    return check_result();
}
