/* What is decided, as a table: a product, where its operands lie, the state of the machine and what is
 * forced, and the plan in words. decide() is a pure function, so the table is the whole behaviour.
 */
#include "dispatch/plan.h"
#include "words/members.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "tests/unit/products.h"

#include <math.h>
#include <string.h>

static const row rows[] = {
    /* Host memory: whatever is faster, and the device is started only for calls that would gain. */
    {8, 8, 8, H, H, H, TB_UNTRIED, AUTO, "", "host: too small", TB_START_NOT},
    {8, 8, 8, H, H, H, TB_READY, AUTO, "", "host: too small", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_UNTRIED, AUTO, "", "host: the device is not up yet", TB_START_NOT},
    {16384, 16384, 16384, H, H, H, TB_UNTRIED, AUTO, "", "host: the device is not up yet", TB_START_NOW},
    {16384, 16384, 16384, H, H, H, TB_STARTING, AUTO, "", "host: the device is not up yet", TB_START_NOW},
    {16384, 16384, 16384, H, H, H, TB_ABSENT, AUTO, "", "host: no usable device", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_STARTING, AUTO, "", "host: the device is not up yet", TB_START_FOR_LATER},
    {4096, 4096, 4096, H, H, H, TB_ABSENT, AUTO, "", "host: no usable device", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_LOST, AUTO, "", "host: the device is lost", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "streamed with", TB_START_NOT},
    {4096, 4096, 4096, P, P, P, TB_READY, AUTO, "", "streamed with", TB_START_NOT},
    {4096, 4096, 0, H, H, H, TB_READY, AUTO, "", "host: too small", TB_START_NOT},
    {100000, 1, 1, H, H, H, TB_READY, AUTO, "", "host: too small", TB_START_NOT},

    /* Device memory: the device, whatever the size and even if it has to be waited for. */
    {8, 8, 8, D, D, D, TB_READY, AUTO, "", "resident with", TB_START_NOT},
    {8, 8, 0, H, H, D, TB_READY, AUTO, "", "resident with", TB_START_NOT},
    {8, 8, 8, D, H, D, TB_READY, AUTO, "", "streamed with", TB_START_NOT},
    {8, 8, 8, H, H, D, TB_READY, AUTO, "", "streamed with", TB_START_NOT},
    {8, 8, 8, D, P, D, TB_READY, AUTO, "", "streamed with", TB_START_NOT},
    {8, 8, 8, D, D, D, TB_UNTRIED, AUTO, "", "host: the device is not up yet", TB_START_NOW},
    {8, 8, 8, D, D, D, TB_STARTING, AUTO, "", "host: the device is not up yet", TB_START_NOW},
    {8, 8, 8, D, D, D, TB_LOST, AUTO, "", "host: the device is lost", TB_START_NOT},
    {8, 8, 8, D, D, D, TB_READY, TB_ROUTE_HOST, "", "resident with", TB_START_NOT},
    {8, 8, 8, M, M, M, TB_READY, AUTO, "", "resident with", TB_START_NOT},

    /* A forced route is taken at any size, or refused. */
    {8, 8, 8, H, H, H, TB_READY, TB_ROUTE_STREAMED, "", "streamed with", TB_START_NOT},
    {8, 8, 0, H, H, H, TB_READY, TB_ROUTE_STREAMED, "", "streamed with", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_READY, TB_ROUTE_HOST, "", "host: forced", TB_START_NOT},
    {4096, 4096, 4096, H, H, H, TB_READY, TB_ROUTE_RESIDENT, "", "host: the forced route cannot",
     TB_START_NOT},
    {4096, 4096, 4096, H, M, M, TB_READY, TB_ROUTE_RESIDENT, "", "host: the forced route cannot",
     TB_START_NOT},
    {8, 8, 8, M, M, M, TB_READY, TB_ROUTE_RESIDENT, "", "resident with", TB_START_NOT},
    {8, 8, 8, H, H, H, TB_UNTRIED, TB_ROUTE_STREAMED, "", "host: the device is not up yet",
     TB_START_FOR_LATER},
    {8, 8, 8, H, H, H, TB_ABSENT, TB_ROUTE_STREAMED, "", "host: no usable device", TB_START_NOT},

    /* A forced kernel is used, or refused. Streamed operands are always aligned. */
    {8, 8, 8, H, H, H, TB_READY, TB_ROUTE_STREAMED, "naive", "streamed with naive on device 0: forced",
     TB_START_NOT},
    {7, 7, 7, H, H, H, TB_READY, TB_ROUTE_STREAMED, "tiled", "streamed with tiled", TB_START_NOT},
    {8, 8, 8, D, D, D, TB_READY, AUTO, "tiled", "resident with tiled", TB_START_NOT},
    {7, 8, 8, D, D, D, TB_READY, AUTO, "padded", "resident with padded, A padded on device 0", TB_START_NOT},
    {8, 8, 7, D, D, D, TB_READY, AUTO, "padded", "resident with padded, B padded on device 0", TB_START_NOT},
    {7, 8, 7, D, D, D, TB_READY, AUTO, "padded", "resident with padded, A padded, B padded on device 0",
     TB_START_NOT},
    {7, 8, 0, D, D, D, TB_READY, AUTO, "padded", "resident with padded on device 0", TB_START_NOT},
    {8, 8, 8, H, H, H, TB_READY, TB_ROUTE_STREAMED, "no such", "host: the forced kernel cannot",
     TB_START_NOT},
};

static void every_row_is_decided_as_it_says(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tb_product product = product_of(&rows[i]);
        tb_facts facts = facts_of(&rows[i]);
        tb_plan plan = tb_decide(&product, &facts);
        char text[256];
        tb_print_plan(&plan, text, sizeof text);
        CHECK(strncmp(text, rows[i].plan, strlen(rows[i].plan)) == 0, "row %zu: \"%s\" instead of \"%s\"", i,
              text, rows[i].plan);
        CHECK(plan.start == rows[i].start, "row %zu, \"%s\": start is %d", i, text, plan.start);
    }
}

/* Starting the device costs more than a short program's products take. */
static void the_device_is_started_for_programs_that_multiply_for_long(void)
{
    const row row = {2048, 2048, 2048, H, H, H, TB_UNTRIED, AUTO, "", "", TB_START_NOT};
    tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    double spent = 0;
    while (tb_decide(&product, &facts).start == TB_START_NOT && spent < 100)
        spent = facts.machine.host_spent += 0.01;
    CHECK(spent > 0.3 && spent < 1, "started after %g s of products", spent);
    facts.machine.host_spent = 0;
    facts.machine.starts_at_once = true;
    CHECK(tb_decide(&product, &facts).start == TB_START_FOR_LATER, "not started though it was asked for");
}

static void a_host_that_cannot_reach_an_operand_is_told(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tb_product product = product_of(&rows[i]);
        tb_facts facts = facts_of(&rows[i]);
        bool reads = rows[i].k > 0;
        bool on_device = rows[i].c == D || (reads && (rows[i].a == D || rows[i].b == D));
        CHECK(tb_decide(&product, &facts).needs_device == on_device, "row %zu", i);
    }
}

static void forecasts_grow_with_the_product(void)
{
    double host = 0, device = 0;
    for (int64_t n = 64; n <= 16384; n *= 2) {
        const row row = {n, n, n, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
        tb_product product = product_of(&row);
        tb_facts facts = facts_of(&row);
        double host_before = host, device_before = device;
        host = tb_host_seconds(&product, &facts.machine);
        facts.route_forced = true;
        facts.forced_route = TB_ROUTE_STREAMED;
        device = tb_decide(&product, &facts).device_seconds;
        CHECK(host > host_before && device > device_before, "n = %lld: %g and %g s", (long long)n, host,
              device);
    }
}

/* What would save less than 15%, of a short call 40%, stays on the host; what saves more leaves it, but not to wait for a busy
 * device. */
static void a_call_leaves_the_host_for_a_saving(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    tb_plan plan = tb_decide(&product, &facts);
    CHECK(plan.route == TB_ROUTE_STREAMED, "a large product stays");
    const double ratio = facts.machine.streamed_ratio > 0 ? facts.machine.streamed_ratio : 1;
    const double alike = ratio * plan.host_seconds / plan.device_seconds; /* either takes as long */
    const double known = facts.machine.host_ratio > 0 ? facts.machine.host_ratio : 1;
    const double brief = 0.4e-3 / plan.host_seconds; /* a host so fast that the call is short */
    const struct {
        double share, backlog, speed;
        tb_route route;
        tb_reason reason;
    } cases[] = {
        {1.1, 0, 1, TB_ROUTE_HOST, TB_REASON_TOO_SMALL},
        {0.9, 0, 1, TB_ROUTE_HOST, TB_REASON_TOO_SMALL},
        {0.8, 0, 1, TB_ROUTE_STREAMED, TB_REASON_FASTER_ON_DEVICE},
        {0.8, 1, 1, TB_ROUTE_HOST, TB_REASON_DEVICE_BUSY},
        {0.8, 0, brief, TB_ROUTE_HOST, TB_REASON_TOO_SMALL},
        {0.55, 0, brief, TB_ROUTE_STREAMED, TB_REASON_FASTER_ON_DEVICE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        facts.machine.host_ratio = cases[i].speed * known;
        facts.machine.streamed_ratio = cases[i].share * cases[i].speed * alike;
        facts.backlogs[0] = cases[i].backlog * plan.host_seconds;
        tb_plan other = tb_decide(&product, &facts);
        CHECK(other.route == cases[i].route && other.reason == cases[i].reason,
              "%g of the host's time: %s, %s", cases[i].share, tb_route_text(other.route),
              tb_reason_text(other.reason));
    }
}

/* What both need comes over each one's link by half: over what the host stages, that counts most. */
static void devices_that_read_each_other_gain(void)
{
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED};
    for (int i = 0; i < 2; i++)
        for (int wide = 0; wide < 2; wide++) {
            const row row = {wide ? 8192 : 12288,
                             wide ? 12288 : 8192,
                             8192,
                             memories[i],
                             memories[i],
                             memories[i],
                             TB_READY,
                             AUTO,
                             "",
                             "",
                             TB_START_NOT};
            const tb_product product = product_of(&row);
            tb_facts facts = facts_of(&row);
            tb_chip chips[2] = {facts.machine.chips[0], facts.machine.chips[0]};
            chips[1].device = chips[0].device + 1;
            chips[1].open = true;
            facts.machine.chips = chips;
            facts.machine.chip_count = facts.machine.devices_wanted = 2;
            const tb_plan apart = tb_decide(&product, &facts);
            chips[0].reached = UINT64_C(1) << chips[1].device;
            const tb_plan one_way = tb_decide(&product, &facts);
            chips[1].reached = UINT64_C(1) << chips[0].device;
            const tb_plan together = tb_decide(&product, &facts);
            CHECK(apart.region_count == 2 && one_way.device_seconds == apart.device_seconds,
                  "%g seconds, not %g", one_way.device_seconds, apart.device_seconds);
            const bool gains = together.device_seconds < apart.device_seconds;
            CHECK(gains == (memories[i] == TB_MEMORY_HOST), "%s: %g seconds, and %g apart",
                  tb_memory_text(memories[i]), together.device_seconds, apart.device_seconds);
        }
}

/* Equal devices that share a product; by the argument they read each other's memory. */
static double shared_seconds(const row *row, const tb_product *product, tb_chip chip, int devices, int cores,
                             bool reach)
{
    enum { DEVICES = 3 };
    tb_chip chips[DEVICES];
    tb_facts facts = facts_of(row);
    for (int i = 0; i < devices; i++) {
        chips[i] = chip;
        chips[i].device = i;
        chips[i].reached = reach ? UINT64_MAX : 0;
    }
    facts.machine.chips = chips;
    facts.machine.chip_count = facts.machine.devices_wanted = devices;
    facts.machine.host_cores = cores;
    const tb_plan plan = tb_decide(product, &facts);
    CHECK(plan.region_count == devices, "%d regions for %d devices", plan.region_count, devices);
    return plan.device_seconds;
}

/* Half of the common operand comes over neither link, and the host copies it once instead of twice. */
static void devices_gain_what_they_spare_their_links(void)
{
    enum { K = 4096, SHORT = 8192, LONG = 12288, CORES = 16 };
    static const double uncovered = 1.0 / 8, copied_a_core = 8e9, bytes = 4.0 * SHORT * K;
    static const struct {
        double link;
        int cores;
        tb_memory common, other;
        double gain;
    } cases[] = {{1e9, CORES, H, H, (1 + uncovered) * bytes / 2 / 1e9}, /* the links are what takes longest */
                 {1e12, 1, H, H, bytes / copied_a_core + uncovered * bytes / 2 / 1e12}, /* copying does */
                 {1e9, CORES, H, P, (1 + uncovered) * bytes / 2 / 1e9},
                 {1e9, CORES, P, H, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int wide = 0; wide < 2; wide++) {
            const tb_memory common = cases[i].common, other = cases[i].other;
            const row row = {
                .m = wide ? SHORT : LONG,
                .n = wide ? LONG : SHORT,
                .k = K,
                .a = wide ? common : other,
                .b = wide ? other : common,
                .c = H,
                .readiness = TB_READY,
                .route = TB_ROUTE_STREAMED,
                .kernel = "",
            };
            tb_chip chip = h200s[0];
            chip.link_in = chip.link_out = cases[i].link;
            const tb_product product = product_of(&row);
            const double gain = shared_seconds(&row, &product, chip, 2, cases[i].cores, false) -
                                shared_seconds(&row, &product, chip, 2, cases[i].cores, true);
            CHECK(fabs(gain - cases[i].gain) <= 1e-9, "case %zu, %s: %g seconds, not %g", i,
                  wide ? "wide" : "high", gain, cases[i].gain);
        }
}

/* They exchange nothing, as an exchange has two sides, and no triangle is exchanged (lib/call/run_streamed.c). */
static void others_are_forecast_to_exchange_nothing(void)
{
    const row row = {8192, 12288, 4096, H, H, H, TB_READY, TB_ROUTE_STREAMED, "", "", TB_START_NOT};
    const tb_product product = product_of(&row);
    const double apart = shared_seconds(&row, &product, h200s[0], 3, 16, false),
                 together = shared_seconds(&row, &product, h200s[0], 3, 16, true);
    CHECK(together == apart, "three devices: %g seconds, and %g apart", together, apart);
    const tb_product in_place = product_of_routine(TB_STRMM, 8192, 12288, 8192);
    const double triangle_apart = shared_seconds(&row, &in_place, h200s[0], 2, 16, false),
                 triangle_together = shared_seconds(&row, &in_place, h200s[0], 2, 16, true);
    CHECK(triangle_together == triangle_apart, "a triangle: %g seconds, and %g apart", triangle_together,
          triangle_apart);
}

static void a_plan_is_printed_within_its_space(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    tb_plan plan = tb_decide(&product, &facts);
    char whole[256], cut[8] = "#######";
    int length = tb_print_plan(&plan, whole, sizeof whole);
    CHECK(length == (int)strlen(whole), "%d characters are \"%s\"", length, whole);
    CHECK(strstr(whole, "forecast") != NULL, "\"%s\" tells no forecast", whole);
    CHECK(tb_print_plan(&plan, cut, 4) == length && strcmp(cut, "str") == 0 && cut[4] == '#', "cut to \"%s\"",
          cut);
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
        CHECK(tb_reason_text(reason) != NULL, "reason %d has no text", reason);
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        CHECK(tb_route_text(route) != NULL, "route %d has no text", route);
}

/* A routine that the user leaves to the host, unless an operand or the user's own word ties the call to the device. */
static void routines_are_left_to_the_host(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const tb_product product = product_of(&row);
    tb_facts facts = facts_of(&row);
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "4096 stays on the host");
    facts.stays_on_host = true;
    CHECK(tb_decide(&product, &facts).reason == TB_REASON_ROUTINE, "it leaves the host");
    facts.places[TB_A].memory = TB_MEMORY_DEVICE;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "the host cannot reach A");
    facts.places[TB_A].memory = TB_MEMORY_HOST;
    facts.route_forced = true;
    facts.forced_route = TB_ROUTE_STREAMED;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "the forced route is not taken");
}

/* Directed rounding and traps, unless an operand lies where the host cannot reach it; also where a route is forced. */
static void no_device_rounds_or_traps_as_asked(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const tb_product product = product_of(&row);
    for (int forced = 0; forced < 2; forced++)
        for (tb_readiness readiness = TB_UNTRIED; readiness <= TB_LOST; readiness++) {
            tb_facts facts = facts_of(&row);
            facts.needs_host = true;
            facts.route_forced = forced;
            facts.forced_route = TB_ROUTE_STREAMED;
            facts.machine.readiness = readiness;
            const tb_plan plan = tb_decide(&product, &facts);
            CHECK(plan.route == TB_ROUTE_HOST && plan.reason == TB_REASON_THREAD, "a device is chosen: %s",
                  tb_reason_text(plan.reason));
            CHECK(plan.start == TB_START_NOT, "a device is started");
        }
    tb_facts facts = facts_of(&row);
    facts.needs_host = true;
    facts.places[TB_A].memory = TB_MEMORY_MANAGED;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_HOST, "the host can reach A");
    facts.places[TB_A].memory = TB_MEMORY_DEVICE;
    CHECK(tb_decide(&product, &facts).route == TB_ROUTE_STREAMED, "the host cannot reach A");
}

typedef struct batch_row {
    int64_t n, members;
    tb_memory memory;
    bool scattered;
    int route;
    bool separately;
} batch_row;

/* The plan of a batch's first product is everybody's, in one call or in as many as there are products; one that is to be compared
 * is not compared by all of them. */
static void batches_go_as_one_or_one_by_one(void)
{
    static const batch_row rows[] = {
        {64, 1000, D, false, TB_ROUTE_RESIDENT, false}, {512, 1000, D, false, TB_ROUTE_RESIDENT, false},
        {8192, 4, D, false, TB_ROUTE_RESIDENT, true}, /* tensor cores do not serve batches */
        {64, 1000, D, true, TB_ROUTE_RESIDENT, true},   {64, 1000, H, false, TB_ROUTE_HOST, false},
        {64, 1000, H, true, TB_ROUTE_HOST, true},       {4096, 8, H, false, TB_ROUTE_STREAMED, true},
        {64, 1000, M, false, TB_ROUTE_RESIDENT, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const batch_row *batch = &rows[i];
        const int64_t n = batch->n;
        const row row = {n,    n,  n,  batch->memory, batch->memory, batch->memory, TB_READY,
                         AUTO, "", "", TB_START_NOT};
        tb_facts facts = facts_of(&row);
        tb_product product = product_of(&row);
        facts.scattered = batch->scattered;
        facts.accuracy = TB_ACCURACY_FP32;
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            tb_spread(&product, role, batch->members, n * n, NULL);
        const tb_plan plan = tb_decide(&product, &facts);
        CHECK((int)plan.route == batch->route && plan.separately == batch->separately,
              "%lld products of %lld in memory %d: %s%s", (long long)batch->members, (long long)n,
              (int)batch->memory, tb_route_text(plan.route), plan.separately ? ", separately" : "");
        CHECK(plan.separately || plan.route != TB_ROUTE_RESIDENT || plan.kernel->batches,
              "by a kernel that serves none");
    }
    const row row = {300, 300, 300, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_facts facts = facts_of(&row);
    tb_product product = product_of(&row);
    const tb_plan one = tb_decide(&product, &facts);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&product, role, 50, 300 * 300, NULL);
    const tb_plan all = tb_decide(&product, &facts);
    CHECK(all.route == TB_ROUTE_HOST && fabs(all.host_seconds / one.host_seconds - 50) < 1e-9,
          "50 products take %g s, one %g", all.host_seconds, one.host_seconds);
    /* The host is to be tried, if it takes little longer than the device. */
    bool was_compared = false;
    facts.repeated = (tb_repeated){.host_due = true};
    for (facts.machine.host_ratio = 1; facts.machine.host_ratio < 100; facts.machine.host_ratio *= 1.05) {
        const tb_product first = tb_member_of(&product, 0);
        const tb_plan tried = tb_decide(&first, &facts);
        if (tried.route != TB_ROUTE_HOST || tried.reason != TB_REASON_COMPARING)
            continue;
        was_compared = true;
        CHECK(tb_decide(&product, &facts).separately, "all are compared at once");
    }
    CHECK(was_compared, "nothing is compared");
}

/* Only a device that nobody waits for is tried on a call that the host is forecast to be faster at. */
static void a_busy_device_is_not_tried(void)
{
    const row row = {1024, 1024, 1024, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_facts facts = facts_of(&row);
    const tb_product product = product_of(&row);
    int tried = 0;
    facts.repeated = (tb_repeated){.streamed_due = true};
    for (facts.machine.host_ratio = 1; facts.machine.host_ratio > 0.01; facts.machine.host_ratio /= 1.05) {
        facts.backlogs[0] = 0;
        const tb_plan plan = tb_decide(&product, &facts);
        if (plan.route != TB_ROUTE_STREAMED || plan.reason != TB_REASON_COMPARING)
            continue;
        tried++;
        facts.backlogs[0] = 1e-6;
        const tb_plan busy = tb_decide(&product, &facts);
        CHECK(busy.route == TB_ROUTE_HOST && busy.reason == TB_REASON_TOO_SMALL, "%s: %s",
              tb_route_text(busy.route), tb_reason_text(busy.reason));
    }
    CHECK(tried > 0, "no call is tried");
}

/* Where so many threads call at once that the device would take as long for all of them as the host does, they stay there. */
static void threads_that_call_at_once_stay(void)
{
    const row row = {2048, 2048, 2048, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_facts facts = facts_of(&row);
    const tb_product product = product_of(&row);
    const tb_plan alone = tb_decide(&product, &facts);
    int left = 0;
    CHECK(alone.route == TB_ROUTE_STREAMED, "%s", tb_route_text(alone.route));
    for (facts.callers = 1; facts.callers < 1000; facts.callers++) {
        const tb_plan plan = tb_decide(&product, &facts);
        const bool gains =
            facts.callers *
            alone.device_seconds<1.9 * alone.host_seconds, loses = facts.callers * alone.device_seconds> 2.1 *
            alone.host_seconds;
        left += plan.route == TB_ROUTE_STREAMED;
        CHECK(!gains || plan.route == TB_ROUTE_STREAMED, "%d callers: %s", facts.callers,
              tb_route_text(plan.route));
        CHECK(!loses || (plan.route == TB_ROUTE_HOST && plan.reason == TB_REASON_DEVICE_BUSY),
              "%d callers: %s", facts.callers, tb_reason_text(plan.reason));
    }
    CHECK(left > 1 && left < 999, "%d of 999", left);
}

/* It takes less on either side, and so it leaves the host where GEMM does. An update reads one operand. */
static void a_triangle_takes_less_than_all(void)
{
    const row row = {4096, 4096, 4096, H, H, H, TB_READY, AUTO, "", "", TB_START_NOT};
    const tb_facts facts = facts_of(&row);
    const tb_product all = product_of(&row);
    tb_product triangle = all;
    static float other[16] __attribute__((aligned(64)));
    triangle.routine = TB_SGEMMT;
    triangle.mask = TB_LOWER;
    triangle.b.data = other;
    const tb_product update = tb_rank_k(TB_SSYRK, TB_UPPER, false, row.n, row.k, 1, triangle.a.data, row.n, 1,
                                        triangle.c.data, row.n);
    const tb_plan of_all = tb_decide(&all, &facts), of_triangle = tb_decide(&triangle, &facts),
                  of_update = tb_decide(&update, &facts);
    CHECK(of_triangle.route == TB_ROUTE_STREAMED && of_update.route == TB_ROUTE_STREAMED, "it stays");
    CHECK(of_triangle.host_seconds < 0.6 * of_all.host_seconds &&
              of_triangle.device_seconds < of_all.device_seconds,
          "a triangle takes %g and %g s, all %g and %g s", of_triangle.host_seconds,
          of_triangle.device_seconds, of_all.host_seconds, of_all.device_seconds);
    CHECK(of_update.device_seconds < of_triangle.device_seconds,
          "an update takes %g s, with two operands %g s", of_update.device_seconds,
          of_triangle.device_seconds);
}

/* Rank-2k in device memory: one term, all of it, takes less than two triangles, whose operands would be taken apart twice. Not so
 * large that it takes too much memory; nor where the host has operands; and a kernel that cannot serve the triangle is not made
 * to by this. */
static void large_updates_of_rank_2k_are_folded(void)
{
    static double memory[16] __attribute__((aligned(64)));
    static const struct {
        tb_routine routine;
        int64_t n;
        tb_memory memory;
        const char *kernel;
        bool folds;
    } cases[] = {{TB_DSYR2K, 4096, D, "", true},
                 {TB_SSYR2K, 8192, D, "", true},
                 {TB_ZHER2K, 4096, D, "", true},
                 {TB_CSYR2K, 2048, D, "", true},
                 {TB_DSYR2K, 16385, D, "", false},
                 {TB_ZHER2K, 11586, D, "", false},
                 {TB_DSYR2K, 8192, H, "", false},
                 {TB_SSYR2K, 4096, M, "tiled", false},
                 {TB_DSYR2K, 2048, D, "dgemm_mma_64x64", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const row row = {.m = 1,
                         .n = 1,
                         .k = 1,
                         .a = cases[i].memory,
                         .b = cases[i].memory,
                         .c = cases[i].memory,
                         .readiness = TB_READY,
                         .route = AUTO,
                         .kernel = cases[i].kernel};
        const int64_t n = cases[i].n;
        const tb_product product =
            tb_rank_2k(cases[i].routine, TB_LOWER, false, n, n, 1, memory, n, memory, n, 1, memory, n);
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_FP32;
        const tb_plan plan = tb_decide(&product, &facts);
        CHECK(plan.folds == cases[i].folds, "%s %lld: folds %d", tb_routine_rows[cases[i].routine].name,
              (long long)n, (int)plan.folds);
        char text[256];
        tb_print_plan(&plan, text, sizeof text);
        CHECK((strstr(text, ", folded on device 0") != NULL) == plan.folds, "folds %d: %s", (int)plan.folds,
              text);
        /* The user's limit is for what is folded, too. */
        facts.bytes_most = n * n * (int64_t)tb_bytes_of(tb_element_of(&product));
        CHECK(tb_decide(&product, &facts).folds == plan.folds, "%s: no room", text);
        facts.bytes_most--;
        CHECK(!tb_decide(&product, &facts).folds, "%s: more room than there is", text);
    }
}

/* Rank-2k with a short k in device memory: both terms by one launch, which reads C once. Not where operands lie such that one
 * launch cannot go on from one to the other, nor where there are parts of a step of k, or so many that sums would have to be cut,
 * nor where C is small. */
static void thin_updates_of_rank_2k_are_joined(void)
{
    static double memory[16] __attribute__((aligned(64)));
    static const struct {
        tb_routine routine;
        int64_t n, k, ldb;
        double alpha_im;
        tb_memory memory;
        bool joins;
    } cases[] = {{TB_DSYR2K, 4096, 64, 4096, 0, D, true},   {TB_DSYR2K, 2048, 128, 2048, 0, D, true},
                 {TB_DSYR2K, 2048, 256, 2048, 0, D, true},  {TB_ZSYR2K, 2048, 64, 2048, 0, D, true},
                 {TB_ZHER2K, 2048, 64, 2048, 0, D, true},   {TB_ZHER2K, 2048, 64, 2048, 1, D, false},
                 {TB_DSYR2K, 4096, 64, 4098, 0, D, false},  {TB_DSYR2K, 4096, 65, 4096, 0, D, false},
                 {TB_DSYR2K, 4096, 512, 4096, 0, D, false}, {TB_DSYR2K, 4096, 64, 4096, 0, H, false},
                 {TB_SSYR2K, 4096, 64, 4096, 0, D, false},  {TB_DSYR2K, 1024, 64, 1024, 0, D, false},
                 {TB_ZHER2K, 1024, 64, 1024, 0, D, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const row row = {.m = 1,
                         .n = 1,
                         .k = 1,
                         .a = cases[i].memory,
                         .b = cases[i].memory,
                         .c = cases[i].memory,
                         .readiness = TB_READY,
                         .route = cases[i].memory == H ? TB_ROUTE_STREAMED : AUTO,
                         .kernel = ""};
        const int64_t n = cases[i].n;
        tb_product product = tb_rank_2k(cases[i].routine, TB_LOWER, false, n, cases[i].k, 1, memory, n,
                                        memory, cases[i].ldb, 1, memory, n);
        product.alpha.im = cases[i].alpha_im;
        tb_facts facts = facts_of(&row);
        facts.accuracy = TB_ACCURACY_FP32;
        const tb_plan plan = tb_decide(&product, &facts);
        char text[256];
        tb_print_plan(&plan, text, sizeof text);
        CHECK(plan.joins == cases[i].joins && (strstr(text, ", joined on device 0") != NULL) == plan.joins,
              "case %zu: joins %d: %s", i, (int)plan.joins, text);
    }
}

/* Folding reads all of P, and a triangle of C unless beta is 0, and writes the triangle. */
static void folding_takes_what_its_memory_takes(void)
{
    enum { N = 4096, LAUNCH = 10 /* us, at most */ };
    for (int beta = 0; beta < 2; beta++) {
        const tb_product product =
            tb_rank_2k(TB_ZHER2K, TB_LOWER, false, N, N, 1, NULL, N, NULL, N, beta, NULL, N);
        const double least = (1.5 + 0.5 * beta) * N * N * 16 / h200s[0].memory_rate,
                     seconds = tb_folding_seconds(&product, &h200s[0]);
        CHECK(seconds >= least && seconds < least + 1e-6 * LAUNCH, "beta %d: %g s, not %g", beta, seconds,
              least);
    }
}

int main(void)
{
    every_row_is_decided_as_it_says();
    the_device_is_started_for_programs_that_multiply_for_long();
    a_host_that_cannot_reach_an_operand_is_told();
    forecasts_grow_with_the_product();
    a_call_leaves_the_host_for_a_saving();
    devices_that_read_each_other_gain();
    devices_gain_what_they_spare_their_links();
    others_are_forecast_to_exchange_nothing();
    a_plan_is_printed_within_its_space();
    routines_are_left_to_the_host();
    no_device_rounds_or_traps_as_asked();
    batches_go_as_one_or_one_by_one();
    a_busy_device_is_not_tried();
    threads_that_call_at_once_stay();
    a_triangle_takes_less_than_all();
    large_updates_of_rank_2k_are_folded();
    thin_updates_of_rank_2k_are_joined();
    folding_takes_what_its_memory_takes();
    return check_result();
}
