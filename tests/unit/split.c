/* How a product is shared by devices: whatever the shape and their speeds, each element of C is computed once, in
 * shares that follow the speeds; and which products are shared at all.
 */
#include "dispatch/plan.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { SIDE = 97, SHAPES = 300 };

static unsigned char covered[SIDE * SIDE];

static void every_element_is_computed_once(int64_t rows, int64_t columns, const double *weights, int count)
{
    tb_region regions[TB_REGIONS_MAXIMUM];
    tb_split(rows, columns, weights, count, regions);
    memset(covered, 0, sizeof covered);
    for (int i = 0; i < count; i++)
        for (int64_t column = 0; column < regions[i].columns; column++)
            for (int64_t row = 0; row < regions[i].rows; row++)
                covered[(regions[i].column + column) * SIDE + regions[i].row + row]++;
    long wrong = 0;
    for (int64_t column = 0; column < SIDE; column++)
        for (int64_t row = 0; row < SIDE; row++)
            wrong += covered[column * SIDE + row] != (row < rows && column < columns);
    CHECK(wrong == 0, "%lld x %lld for %d devices: %ld elements", (long long)rows, (long long)columns, count,
          wrong);
}

static void shares_follow_the_speeds(const double *weights, int count)
{
    const int64_t rows = 8000, columns = 6000;
    tb_region regions[TB_REGIONS_MAXIMUM];
    double all = 0;
    for (int i = 0; i < count; i++)
        all += weights[i];
    tb_split(rows, columns, weights, count, regions);
    for (int i = 0; i < count; i++) {
        double share = (double)(regions[i].rows * regions[i].columns) / (double)(rows * columns);
        CHECK(fabs(share - weights[i] / all) < 0.03, "device %d of %d has %g, not %g", i, count, share,
              weights[i] / all);
    }
}

/* Four equal devices take a quarter of either operand less than strips would make them. */
static void little_goes_to_more_than_one_device(void)
{
    const double equal[] = {1, 1, 1, 1};
    tb_region regions[TB_REGIONS_MAXIMUM];
    tb_split(4096, 4096, equal, 4, regions);
    for (int i = 0; i < 4; i++)
        CHECK(regions[i].rows == 2048 && regions[i].columns == 2048, "region %d is %lld x %lld", i,
              (long long)regions[i].rows, (long long)regions[i].columns);
}

/* ---- Decisions -------------------------------------------------------------------------------------------- */

static tb_chip chips[TB_REGIONS_MAXIMUM];

/* There are as many cores as copy for one link, so that copies are no faster beside several. */
static tb_facts facts_of(int count)
{
    for (int i = 0; i < TB_REGIONS_MAXIMUM; i++)
        chips[i] = (tb_chip){.device = i,
                             .open = true,
                             .architecture = 90,
                             .multiprocessors = 132,
                             .clock = 1.76e9,
                             .memory_rate = 4.2e12,
                             .link_in = 55e9,
                             .link_out = 55e9};
    return (tb_facts){
        .machine = {.readiness = TB_READY, .host_cores = 7, .chips = chips, .chip_count = count},
        .kernels = tb_catalog,
        .kernel_count = tb_catalog_size};
}

static tb_product square(int64_t n)
{
    static float memory[16] __attribute__((aligned(64)));
    return tb_gemm(TB_SGEMM, false, false, n, n, n, 1, memory, n, memory, n, 0, memory, n);
}

static void large_products_are_shared(void)
{
    tb_facts facts = facts_of(4);
    tb_product small = square(2048), large = square(16384);
    tb_plan plan = tb_decide(&small, &facts);
    CHECK(plan.region_count == 1, "2048 is shared by %d", plan.region_count);
    plan = tb_decide(&large, &facts);
    CHECK(plan.region_count > 1 && plan.start == TB_START_NOT, "16384 is computed by %d", plan.region_count);
    CHECK(plan.device_seconds > 0 && plan.device_seconds < plan.host_seconds, "forecast %g s, host %g s",
          plan.device_seconds, plan.host_seconds);

    /* Two links carry more than one, and so do the threads that copy beside them. */
    facts = facts_of(2);
    facts.machine.host_cores = 16;
    facts.accuracy = TB_ACCURACY_FP32;
    const tb_product medium = square(8192);
    plan = tb_decide(&medium, &facts);
    CHECK(plan.region_count == 2, "8192 is computed by %d", plan.region_count);

    /* Where the host's own memory is what is slow, more devices do not help. */
    facts = facts_of(4);
    facts.machine.host_cores = 1;
    CHECK(tb_decide(&large, &facts).region_count == 1, "copies are slow, and the product is shared");

    facts = facts_of(4);
    facts.machine.devices_wanted = 1;
    CHECK(tb_decide(&large, &facts).region_count == 1, "shared against the wish");
    facts.machine.devices_wanted = 3;
    facts.route_forced = true;
    facts.forced_route = TB_ROUTE_STREAMED;
    CHECK(tb_decide(&small, &facts).region_count == 3, "not shared by three, as was wished");
}

/* Nor against a wish: nearly all of A would have to go to each device. */
static void a_triangle_is_not_shared(void)
{
    static const tb_routine routines[] = {TB_SSYRK, TB_SGEMMT};
    for (int i = 0; i < 2; i++)
        for (int wanted = 0; wanted <= 3; wanted += 3) {
            tb_facts facts = facts_of(4);
            facts.machine.devices_wanted = wanted;
            tb_product triangle = square(16384);
            triangle.routine = routines[i];
            triangle.b.transposed = i == 0;
            triangle.mask = TB_LOWER;
            const tb_plan plan = tb_decide(&triangle, &facts);
            CHECK(plan.route == TB_ROUTE_STREAMED && plan.region_count == 1 && plan.start == TB_START_NOT,
                  "%s of 16384, %d devices wanted, is computed by %d", tb_routine_rows[routines[i]].name,
                  wanted, plan.region_count);
        }
}

static void closed_devices_are_asked_for(void)
{
    tb_facts facts = facts_of(2);
    tb_product large = square(16384);
    chips[1].open = false;
    tb_plan plan = tb_decide(&large, &facts);
    CHECK(plan.region_count == 1 && plan.start == TB_START_MORE, "%d regions, start %d", plan.region_count,
          plan.start);
    chips[1].failed = true;
    plan = tb_decide(&large, &facts);
    CHECK(plan.region_count == 1 && plan.start == TB_START_NOT, "%d regions, start %d", plan.region_count,
          plan.start);

    /* Operands that lie on it have to wait for it, or for ever. */
    facts.places[TB_A].memory = facts.places[TB_B].memory = facts.places[TB_C].memory = TB_MEMORY_DEVICE;
    facts.places[TB_A].device = facts.places[TB_B].device = facts.places[TB_C].device = 1;
    CHECK(tb_decide(&large, &facts).reason == TB_REASON_NO_DEVICE, "a device that failed is used");
    chips[1].failed = false;
    plan = tb_decide(&large, &facts);
    CHECK(plan.start == TB_START_NOW && plan.place.device == 1, "start %d of device %d", plan.start,
          plan.place.device);
}

/* Where sharing has been slow, one device has the product, unless the option says how many. */
static void slow_sharing_ends(void)
{
    tb_facts facts = facts_of(2);
    const tb_product large = square(16384);
    facts.machine.sharing_ratio = 2;
    int regions = tb_decide(&large, &facts).region_count;
    CHECK(regions == 1, "%d regions", regions);
    facts.machine.devices_wanted = 2;
    regions = tb_decide(&large, &facts).region_count;
    CHECK(regions == 2, "%d regions as wanted", regions);
}

/* Where sharing has been faster than forecast, it is considered as soon as that saves enough; where it has been
 * slower, one device still is. */
static void what_saves_enough_is_considered(void)
{
    static const struct {
        double sharing;
        int regions;
    } cases[] = {{0.25, 2}, {4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tb_facts facts = facts_of(2);
        const tb_product large = square(8192);
        facts.machine.sharing_ratio = cases[i].sharing;
        tb_plan plan = tb_decide(&large, &facts);
        facts.machine.streamed_ratio = 0.8 * plan.host_seconds / plan.device_seconds;
        plan = tb_decide(&large, &facts);
        CHECK(plan.route == TB_ROUTE_STREAMED && plan.region_count == cases[i].regions,
              "sharing takes %g times as long: %s, %d regions", cases[i].sharing, tb_route_text(plan.route),
              plan.region_count);
    }
}

static void slower_devices_get_less(void)
{
    tb_facts facts = facts_of(2);
    chips[1].clock /= 2;
    facts.machine.devices_wanted = 2;
    tb_product large = square(16384);
    tb_plan plan = tb_decide(&large, &facts);
    CHECK(plan.region_count == 2, "%d regions", plan.region_count);
    int64_t first = plan.regions[0].rows * plan.regions[0].columns,
            second = plan.regions[1].rows * plan.regions[1].columns;
    CHECK(first > second && first < 3 * second, "%lld and %lld elements", (long long)first,
          (long long)second);
}

static void a_busy_device_leaves_calls_to_the_host(void)
{
    tb_facts facts = facts_of(1);
    tb_product product = square(2048);
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "2048 stays on the host");
    facts.backlogs[0] = 10;
    CHECK(tb_decide(&product, &facts).reason == TB_REASON_DEVICE_BUSY, "2048 waits for ten seconds");
    facts = facts_of(2);
    facts.backlogs[0] = 10;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "another device has nothing to do");
    facts.backlogs[0] = 0;
    facts.backlogs[1] = 10;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "the first device has nothing to do");
    facts.backlogs[0] = 10;
    facts.backlogs[1] = 0;
    chips[1].open = false;
    CHECK(tb_decide(&product, &facts).reason == TB_REASON_DEVICE_BUSY, "a closed device has nothing to do");
    chips[1].open = true;
}

/* Unless the operands, a wish or its speed tie the product to another one. */
static void the_device_with_least_to_do_is_taken(void)
{
    tb_product product = square(2048);
    tb_facts facts = facts_of(3);
    facts.backlogs[0] = 3e-3;
    facts.backlogs[1] = 2e-3;
    facts.backlogs[2] = 1e-3;
    tb_plan plan = tb_decide(&product, &facts);
    CHECK(plan.region_count == 1 && plan.regions[0].device == 2 && plan.place.device == 2, "device %d has it",
          plan.regions[0].device);
    chips[2].multiprocessors--;
    CHECK(tb_decide(&product, &facts).regions[0].device == 1, "by a slower device");
    chips[1].open = false;
    CHECK(tb_decide(&product, &facts).regions[0].device == 0, "by a device that is closed");
    chips[1].open = true;
    facts.machine.devices_wanted = 1;
    CHECK(tb_decide(&product, &facts).regions[0].device == 0, "against the wish for one device");
    facts.machine.devices_wanted = 0;
    facts.places[TB_A] = (tb_place){.memory = TB_MEMORY_DEVICE, .device = 0};
    CHECK(tb_decide(&product, &facts).regions[0].device == 0, "by a device that A does not lie on");
}

int main(void)
{
    check_random random = {.state = check_seed()};
    for (int i = 0; i < SHAPES; i++) {
        double weights[TB_REGIONS_MAXIMUM];
        int count = 1 + (int)(check_next(&random) % TB_REGIONS_MAXIMUM);
        for (int device = 0; device < count; device++)
            weights[device] = 0.1 + (double)(check_next(&random) % 100) / 100;
        every_element_is_computed_once((int64_t)(check_next(&random) % (SIDE + 1)),
                                       (int64_t)(check_next(&random) % (SIDE + 1)), weights, count);
        shares_follow_the_speeds(weights, count);
    }
    little_goes_to_more_than_one_device();
    large_products_are_shared();
    a_triangle_is_not_shared();
    closed_devices_are_asked_for();
    slow_sharing_ends();
    what_saves_enough_is_considered();
    slower_devices_get_less();
    a_busy_device_leaves_calls_to_the_host();
    the_device_with_least_to_do_is_taken();
    return check_result();
}
