/* What is decided where not all devices are up: those that are closed or have failed, and memory that is theirs, or of a
 * context of the program's own.
 */
#include "dispatch/plan.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "words/members.h"

enum { OPEN, OTHER, DEVICES };

/* Two devices, of which the first one is open. */
typedef struct two {
    tb_chip chips[DEVICES];
    tb_facts facts;
} two;

static two *make_two(const row *row)
{
    static two two;
    two.chips[OPEN] = h200s[OPEN];
    two.chips[OTHER] = h200s[OTHER];
    two.chips[OTHER].open = false;
    two.facts = facts_of(row);
    two.facts.machine.chips = two.chips;
    two.facts.machine.chip_count = DEVICES;
    return &two;
}

static void set_places(tb_facts *facts, tb_memory memory, int device)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        facts->places[role] = (tb_place){.memory = memory, .device = device};
}

/* One that is not open has nothing to do, and cannot do it either. */
static void a_closed_device_takes_no_work_from_a_busy_one(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const tb_product product = product_of(&row);
    two *two = make_two(&row);
    two->facts.machine.devices_wanted = 1;
    CHECK(tb_decide(&product, &two->facts).route == TB_ROUTE_STREAMED, "a large product stays");
    two->facts.backlogs[OPEN] = 10;
    CHECK(tb_decide(&product, &two->facts).reason == TB_REASON_DEVICE_BUSY,
          "the call waits for a busy device");
    two->chips[OTHER].open = true;
    CHECK(tb_decide(&product, &two->facts).route == TB_ROUTE_STREAMED, "the other device has nothing to do");
}

/* Any device reaches managed memory: where it was made for one that is not up, another one works there. */
static void managed_memory_is_any_open_devices(void)
{
    const row row = {2048, 2048, 2048, M, M, M, TB_READY, AUTO, "", "", TB_START_NOT};
    const tb_product product = product_of(&row);
    two *two = make_two(&row);
    for (int open = 0; open < 2; open++) {
        set_places(&two->facts, M, OTHER);
        two->chips[OTHER].open = open;
        const tb_plan plan = tb_decide(&product, &two->facts);
        CHECK(plan.route == TB_ROUTE_RESIDENT && plan.place.device == (open ? OTHER : OPEN),
              "%s on device %d, and device %d is %s", tb_route_text(plan.route), plan.place.device, OTHER,
              open ? "open" : "closed");
    }
}

/* It is opened for operands that lie there, unless that has been tried. */
static void memory_of_a_failed_device_is_not_waited_for(void)
{
    const row row = row_on_device(2048, 2048, 2048);
    const tb_product product = product_of(&row);
    two *two = make_two(&row);
    set_places(&two->facts, D, OTHER);
    const tb_plan first = tb_decide(&product, &two->facts);
    CHECK(first.start == TB_START_NOW && first.needs_device && first.place.device == OTHER,
          "a closed device is not opened");
    two->chips[OTHER].failed = true;
    const tb_plan plan = tb_decide(&product, &two->facts);
    CHECK(plan.route == TB_ROUTE_HOST && plan.reason == TB_REASON_NO_DEVICE && plan.start == TB_START_NOT &&
              plan.needs_device,
          "a failed device: %s", tb_reason_text(plan.reason));
}

/* The library's buffers are in its own context: what lies in another one of the same device is not launched together. */
static void batches_of_other_contexts_go_one_by_one(void)
{
    enum { SIDE = 64, MEMBERS = 100 };
    static int context;
    const row row = row_on_device(SIDE, SIDE, SIDE);
    tb_product batch = product_of(&row);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&batch, role, MEMBERS, SIDE * SIDE, NULL);
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_FP32;
    CHECK(!tb_decide(&batch, &facts).separately, "a batch on the device is not one launch");
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_FP32;
        facts.places[role].context = &context;
        CHECK(tb_decide(&batch, &facts).separately, "operand %d lies in another context", (int)role);
    }
}

int main(void)
{
    a_closed_device_takes_no_work_from_a_busy_one();
    managed_memory_is_any_open_devices();
    memory_of_a_failed_device_is_not_waited_for();
    batches_of_other_contexts_go_one_by_one();
    return check_result();
}
