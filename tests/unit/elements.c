/* What depends on the element of a product: which kernels serve it, and how long it is forecast to take where. */
#include "kernels/launch.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "tests/unit/products.h"
#include "words/lowered.h"

#include <math.h>

enum { LARGE = 4096 };

static tb_facts facts_in(tb_memory memory)
{
    const row row = {LARGE, LARGE, LARGE, memory, memory, memory, TB_READY, AUTO, "", "", TB_START_NOT};
    tb_facts facts = facts_of(&row);
    facts.accuracy = TB_ACCURACY_FAST;
    return facts;
}

static void the_host_takes_twice_as_long_for_doubles(void)
{
    const tb_machine machine = {.host_cores = 16};
    const tb_product floats = product_square(LARGE),
                     doubles = product_of_routine(TB_DGEMM, LARGE, LARGE, LARGE);
    const double ratio = tb_host_seconds(&doubles, &machine) / tb_host_seconds(&floats, &machine);
    CHECK(fabs(ratio - 2) < 0.01, "%g times as long", ratio);
}

/* CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions". */
static void devices_do_their_share_of_doubles(void)
{
    static const struct {
        int architecture;
        double fp32, fp64; /* multiply-adds a clock */
    } rows[] = {{75, 64, 2},   {80, 64, 32},   {86, 128, 2}, {89, 128, 2},
                {90, 128, 64}, {100, 128, 64}, {120, 128, 2}};
    const tb_kernel *of_floats = tb_find_kernel("naive"), *of_doubles = tb_find_kernel("dgemm_naive");
    const tb_product floats = product_square(LARGE),
                     doubles = product_of_routine(TB_DGEMM, LARGE, LARGE, LARGE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int architecture = rows[i].architecture;
        const double share = rows[i].fp64 / rows[i].fp32;
        CHECK(tb_share_of_element(TB_FP32, architecture) == 1, "floats on %d", architecture);
        CHECK(tb_share_of_element(TB_FP64, architecture) == share, "doubles on %d", architecture);
        tb_chip chip = h200s[0];
        chip.architecture = architecture;
        /* Both reach 0.02 of their peak on an H200, where doubles' is half as high: so they do where units are few, but no more
         * than these. */
        const double efficiency = 0.02, expected = efficiency / fmin(share, efficiency / 2);
        const double ratio =
            tb_kernel_seconds(of_doubles, &doubles, &chip) / tb_kernel_seconds(of_floats, &floats, &chip);
        CHECK(fabs(ratio / expected - 1) < 0.05, "on %d doubles take %g times as long", architecture, ratio);
        const tb_kernel row = {.element = TB_FP64, .efficiency = 0.5};
        CHECK(tb_share_of_row(&row, architecture) == fmin(share, 0.25), "a faster row has %g of %d",
              tb_share_of_row(&row, architecture), architecture);
    }
}

static void kernels_serve_their_own_element(void)
{
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        const tb_product product = product_of_routine(routine, LARGE, LARGE, LARGE);
        const tb_element element = tb_element_of(&product), real = tb_real_of(element); /* once lowered */
        for (size_t i = 0; i < tb_catalog_size; i++)
            CHECK(tb_catalog[i].element == element ||
                      !tb_kernel_serves(&tb_catalog[i], &product, &h200s[0], true),
                  "%s serves %s", tb_catalog[i].name, tb_routine_rows[routine].name);
        tb_facts facts = facts_in(TB_MEMORY_DEVICE);
        const tb_plan frugal = tb_decide_again(&product, &facts, TB_NO_MEMORY);
        CHECK(frugal.route == TB_ROUTE_RESIDENT && frugal.kernel->element == element &&
                  frugal.schedule.workspace == 0,
              "the frugal one for %s", tb_routine_rows[routine].name);
        for (int forced = 0; forced < 2; forced++) {
            facts.kernel_forced = forced;
            facts.forced_kernel = tb_find_kernel(real == TB_FP64 ? "tiled" : "dgemm_naive");
            const tb_plan plan = tb_decide(&product, &facts);
            CHECK(plan.route == TB_ROUTE_RESIDENT && tb_real_of(plan.kernel->element) == tb_real_of(element),
                  "%s by %s", tb_routine_rows[routine].name, plan.kernel ? plan.kernel->name : "none");
        }
    }
}

/* A device that is fast at floats alone gets little of a product of doubles. */
static void devices_share_by_the_elements_speed(void)
{
    static tb_chip chips[2];
    tb_facts facts = facts_in(TB_MEMORY_HOST);
    chips[0] = chips[1] = h200s[0];
    chips[1].device = 1;
    chips[1].architecture = 89;
    facts.machine.chips = chips;
    facts.machine.chip_count = facts.machine.devices_wanted = 2;
    facts.route_forced = true;
    facts.forced_route = TB_ROUTE_STREAMED;
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        const tb_product product = product_of_routine(routine, LARGE, LARGE, LARGE);
        const tb_plan plan = tb_decide(&product, &facts);
        const double share = tb_real_of(tb_element_of(&product)) == TB_FP64 ? 1.0 / 33 : 1.0 / 2;
        const bool is_expanded = !tb_is_plain(&product) && product.in_place == TB_OUT_OF_PLACE;
        if (product.mask != TB_FULL || is_expanded) {
            CHECK(plan.region_count <= 1, "%d devices share %s", plan.region_count,
                  tb_routine_rows[routine].name);
            continue;
        }
        if (!CHECK(plan.region_count == 2, "%d devices", plan.region_count))
            continue;
        const tb_region *second = &plan.regions[1];
        const double part = (double)(second->rows * second->columns) / ((double)LARGE * LARGE);
        CHECK(fabs(part - share) < 0.02, "%s: the second device has %g of C, not %g",
              tb_routine_rows[routine].name, part, share);
    }
}

int main(void)
{
    the_host_takes_twice_as_long_for_doubles();
    devices_do_their_share_of_doubles();
    kernels_serve_their_own_element();
    devices_share_by_the_elements_speed();
    return check_result();
}
