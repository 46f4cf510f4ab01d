/* What depends on whether magnitudes of A and B are known to be alike: on chips without fast rows for doubles the forecast of the
 * device, and so whether a call leaves the host; never which kernel is chosen, and nothing anywhere else.
 */
#include "kernels/launch.h"
#include "lib/machine/calibrate.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "tests/unit/products.h"
#include "words/members.h"
#include "words/lowered.h"

#include <string.h>

enum { LARGE = 8192 };

/* An RTX 4090 by its data sheet; with another architecture no chip that there is. */
static tb_chip chip_of(int architecture)
{
    const tb_device_description description = {.architecture = architecture,
                                               .multiprocessors = 128,
                                               .clock_khz = 2520000,
                                               .memory_bytes_per_second = 1008e9};
    tb_chip chip = tb_presume_chip(0, &description);
    chip.open = true;
    chip.link_in = chip.link_out = 25e9;
    return chip;
}

static tb_facts facts_on(const tb_chip *chip, tb_memory memory)
{
    const row row = {LARGE, LARGE, LARGE, memory, memory, memory, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_FP32;
    facts.machine.chips = chip;
    return facts;
}

static bool is_of_doubles(tb_routine routine)
{
    return tb_real_of(tb_routine_rows[routine].element) == TB_FP64;
}

static tb_product known(tb_product product, bool alike)
{
    product.like_magnitudes = alike;
    return product;
}

/* ---- The property -------------------------------------------------------------------------------------------- */

static void check_kept(const tb_product *product, bool alike, const char *what)
{
    CHECK(product->like_magnitudes == alike, "%s of %s", what, tb_routine_rows[product->routine].name);
}

static void what_is_made_of_a_product_keeps_it(void)
{
    const tb_range some = {2, 4};
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        for (int alike = 0; alike < 2; alike++) {
            const tb_product all = known(product_of_routine(routine, 16, 16, 16), alike);
            const tb_region region = {.row = 2, .column = 2, .rows = 4, .columns = 4};
            const struct {
                const char *what;
                tb_product product;
            } made[] = {{"the lowered product", tb_lowered(&all)},
                        {"the first term", tb_term_of(&all, 0)},
                        {"the last term", tb_term_of(&all, tb_terms_of(&all) - 1)},
                        {"some rows", tb_rows_of(&all, some)},
                        {"some columns", tb_columns_of(&all, some)},
                        {"a region", tb_region_of(&all, &region)},
                        {"what is not masked", tb_trimmed(&all)},
                        {"a product of the size", tb_sized_like(&all, 8, 8, 8, 8)},
                        {"a member", tb_member_of(&all, 0)}};
            for (size_t i = 0; i < sizeof made / sizeof *made; i++)
                check_kept(&made[i].product, alike, made[i].what);
            if (all.in_place == TB_OUT_OF_PLACE) {
                const tb_product steps = tb_steps_of(&all, some);
                check_kept(&steps, alike, "some steps");
            }
        }
}

/* ---- Decisions ------------------------------------------------------------------------------------------------- */

static tb_plan decide(const tb_product *product, const tb_chip *chip, tb_memory memory)
{
    const tb_facts facts = facts_on(chip, memory);
    return tb_decide(product, &facts);
}

/* The row for integers on chips without fast rows for doubles. */
static const char *integers_on(int architecture)
{
    return architecture == 75 ? "dgemm_crt_sm75" : "dgemm_crt_sm80";
}

/* The calls are of all routines that become plain products. */
static void a_call_leaves_the_host_for_integers_that_suit(void)
{
    static const int architectures[] = {75, 86, 89, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
            const tb_chip chip = chip_of(architectures[i]);
            const tb_product product = product_of_routine(routine, LARGE, LARGE, LARGE),
                             alike = known(product, true);
            const char *name = tb_routine_rows[routine].name;
            if (!is_of_doubles(routine) || product.in_place != TB_OUT_OF_PLACE)
                continue;
            const tb_plan careful = decide(&product, &chip, H), hopeful = decide(&alike, &chip, H);
            CHECK(careful.route == TB_ROUTE_HOST && careful.reason == TB_REASON_MAGNITUDES,
                  "%s of unknown numbers goes to the %s: %s", name, tb_route_text(careful.route),
                  tb_reason_text(careful.reason));
            CHECK(hopeful.route == TB_ROUTE_STREAMED && hopeful.reason == TB_REASON_FASTER_ON_DEVICE,
                  "%s of numbers alike goes to the %s: %s", name, tb_route_text(hopeful.route),
                  tb_reason_text(hopeful.reason));
            CHECK(strcmp(hopeful.kernel ? hopeful.kernel->name : "none", integers_on(architectures[i])) == 0,
                  "%s", name);
            CHECK(careful.device_seconds > 5 * hopeful.device_seconds && hopeful.seconds_at_risk == 0 &&
                      careful.seconds_at_risk > 0.5 * careful.device_seconds,
                  "%s: %g s, of which %g are at risk, and %g", name, careful.device_seconds,
                  careful.seconds_at_risk, hopeful.device_seconds);
        }
}

/* A host with one core is slower than dgemm_naive. */
static void a_weak_host_need_not_know(void)
{
    const tb_chip chip = chip_of(89);
    const tb_product product = product_of_routine(TB_DGEMM, LARGE, LARGE, LARGE);
    tb_facts facts = facts_on(&chip, H);
    facts.machine.host_cores = 1;
    const tb_plan plan = tb_decide(&product, &facts);
    CHECK(plan.route == TB_ROUTE_STREAMED && plan.reason == TB_REASON_FASTER_ON_DEVICE, "%s",
          tb_reason_text(plan.reason));
    facts.repeated.host_due = true;
    facts.machine.host_ratio = 1.3 * plan.device_seconds / plan.host_seconds;
    const tb_plan compared = tb_decide(&product, &facts);
    CHECK(compared.route == TB_ROUTE_HOST && compared.reason == TB_REASON_COMPARING,
          "numbers are asked for instead of comparing: %s", tb_reason_text(compared.reason));
    facts.repeated = (tb_repeated){0};
    facts.machine.host_ratio = 0;
    facts.machine.host_cores = 1 << 20;
    const tb_plan at_home = tb_decide(&product, &facts);
    CHECK(at_home.route == TB_ROUTE_HOST && at_home.reason == TB_REASON_TOO_SMALL,
          "numbers are asked for that change nothing: %s", tb_reason_text(at_home.reason));
}

static void what_is_at_risk_is_of_all_members(void)
{
    enum { MEMBERS = 7 };
    const tb_chip chip = chip_of(89);
    const tb_product one = product_of_routine(TB_DGEMM, LARGE, LARGE, LARGE);
    tb_product batch = one;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        batch.batch.count = MEMBERS;
        batch.batch.members[role].stride = (int64_t)LARGE * LARGE;
    }
    const tb_plan single = decide(&one, &chip, H), all = decide(&batch, &chip, H);
    CHECK(all.reason == TB_REASON_MAGNITUDES && all.device_seconds == MEMBERS * single.device_seconds &&
              all.seconds_at_risk == MEMBERS * single.seconds_at_risk,
          "%s: %g s and %g at risk, of one %g and %g", tb_reason_text(all.reason), all.device_seconds,
          all.seconds_at_risk, single.device_seconds, single.seconds_at_risk);
}

/* It finds out itself, at hardly any cost. */
static void the_kernel_is_the_same_either_way(void)
{
    static const int architectures[] = {75, 80, 86, 89, 90, 100, 120};
    static const tb_memory memories[] = {D, H};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        for (int n = 512; n <= LARGE; n *= 2)
            for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
                for (int j = 0; j < 2; j++) {
                    const tb_chip chip = chip_of(architectures[i]);
                    const tb_product product = product_of_routine(routine, n, n, n),
                                     alike = known(product, true);
                    tb_facts facts = facts_on(&chip, memories[j]);
                    facts.route_forced = memories[j] == H;
                    facts.forced_route = TB_ROUTE_STREAMED;
                    const tb_kernel *unknown = tb_decide(&product, &facts).kernel;
                    CHECK(unknown && unknown == tb_decide(&alike, &facts).kernel, "%s of %d on %d",
                          tb_routine_rows[routine].name, n, architectures[i]);
                    CHECK(routine != TB_DGEMM || n < 1024 || architectures[i] % 10 == 0 ||
                              strcmp(unknown->name, integers_on(architectures[i])) == 0,
                          "%d on %d by %s", n, architectures[i], unknown->name);
                }
}

static void nothing_else_changes(void)
{
    static const int architectures[] = {80, 90};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        for (int n = 256; n <= LARGE; n *= 2)
            for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
                const tb_chip chip = chip_of(architectures[i]);
                const tb_product product = product_of_routine(routine, n, n, n), alike = known(product, true);
                const tb_plan one = decide(&product, &chip, H), other = decide(&alike, &chip, H);
                CHECK(one.route == other.route && one.reason == other.reason && one.kernel == other.kernel &&
                          one.device_seconds == other.device_seconds && one.seconds_at_risk == 0,
                      "%s of %d on %d: %s and %s, %g and %g s", tb_routine_rows[routine].name, n,
                      architectures[i], tb_reason_text(one.reason), tb_reason_text(other.reason),
                      one.device_seconds, other.device_seconds);
            }
}

/* A row is forced although it does not compute the product at all. */
static void no_forecast_is_none_that_is_at_risk(void)
{
    static const int architectures[] = {75, 89};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        const tb_chip chip = chip_of(architectures[i]);
        const tb_product product = product_of_routine(TB_DGEMM, 3000000, 2048, 2048);
        tb_facts facts = facts_on(&chip, H);
        facts.forced_kernel = tb_find_kernel(integers_on(architectures[i]));
        facts.kernel_forced = true;
        const tb_plan plan = tb_decide(&product, &facts);
        CHECK(plan.seconds_at_risk == 0, "%g s on %d, of which %g are at risk", plan.device_seconds,
              architectures[i], plan.seconds_at_risk);
    }
}

int main(void)
{
    no_forecast_is_none_that_is_at_risk();
    what_is_made_of_a_product_keeps_it();
    a_call_leaves_the_host_for_integers_that_suit();
    a_weak_host_need_not_know();
    what_is_at_risk_is_of_all_members();
    the_kernel_is_the_same_either_way();
    nothing_else_changes();
    return check_result();
}
