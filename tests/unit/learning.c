/* What calls took corrects later forecasts of their kind: towards the truth, a step at a time, and of no other kind. */
#include "lib/learning/learning.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <math.h>

enum { N = 700, CALLS = 40 };

static tb_facts facts_of(const tb_product *product, tb_memory memory)
{
    tb_facts facts = {.places = {{.memory = memory}, {.memory = memory}, {.memory = memory}}};
    facts.machine.host_cores = 4;
    tb_recall(product, &facts);
    return facts;
}

/* What devices share: slow sharing says nothing of one device, what is slow for both nothing of sharing, and it fades while one
 * has the calls. */
static void sharing_is_learned_apart(void)
{
    const tb_product product = product_of_routine(TB_CGEMM, N, N, N);
    const tb_plan one = {.device_seconds = 1, .region_count = 1};
    tb_facts facts = facts_of(&product, TB_MEMORY_HOST);
    CHECK(facts.machine.sharing_ratio == 1, "at first: %g", facts.machine.sharing_ratio);
    tb_learn_streamed(&product, &facts, &(tb_plan){.device_seconds = 1, .region_count = 2}, 50);
    facts = facts_of(&product, TB_MEMORY_HOST);
    CHECK(facts.machine.sharing_ratio == 1, "after the first, which waits for memory: %g",
          facts.machine.sharing_ratio);
    double slow = 0;
    for (int call = 0; call < CALLS; call++) { /* forecasts heed what has been learned */
        const tb_plan two = {.device_seconds = facts.machine.streamed_ratio * facts.machine.sharing_ratio,
                             .region_count = 2};
        tb_learn_streamed(&product, &facts, &two, 2);
        facts = facts_of(&product, TB_MEMORY_HOST);
        slow = facts.machine.sharing_ratio;
    }
    CHECK(fabs(slow - 2) < 0.01 && facts.machine.streamed_ratio == 1, "%g, and one device %g", slow,
          facts.machine.streamed_ratio);
    CHECK(facts_of(&product, TB_MEMORY_PINNED).machine.sharing_ratio == 1, "pinned memory, too");
    tb_learn_streamed(&product, &facts, &one, 1);
    facts = facts_of(&product, TB_MEMORY_HOST);
    CHECK(facts.machine.sharing_ratio < slow && facts.machine.sharing_ratio > 1.5, "after one device's: %g",
          facts.machine.sharing_ratio);
    for (int call = 0; call < CALLS; call++) {
        tb_learn_streamed(&product, &facts,
                          &(tb_plan){.device_seconds = facts.machine.streamed_ratio, .region_count = 1}, 2);
        facts = facts_of(&product, TB_MEMORY_HOST);
    }
    CHECK(fabs(facts.machine.streamed_ratio - 2) < 0.01 && fabs(facts.machine.sharing_ratio - 1) < 0.1,
          "both are slow: %g, and sharing %g", facts.machine.streamed_ratio, facts.machine.sharing_ratio);
}

/* Calls that take so many times as long as they would be forecast to if nothing had been learned. */
static void learn_calls(const tb_product *product, tb_memory memory, int regions, double times)
{
    for (int call = 0; call < CALLS; call++) {
        const tb_facts facts = facts_of(product, memory);
        const double sharing = regions > 1 ? facts.machine.sharing_ratio : 1;
        const tb_plan plan = {.device_seconds = facts.machine.streamed_ratio * sharing,
                              .region_count = regions};
        tb_learn_streamed(product, &facts, &plan, times);
    }
}

/* Another size tells of sharing how it compares to one device with that size, and lets it fade, too, while one device or the host
 * has the calls. */
static void other_sizes_tell_of_sharing(void)
{
    static const struct {
        tb_routine routine;
        tb_memory memory;
        double one, several; /* of the large product */
        bool by_host;        /* has the small one's later calls */
    } cases[] = {{TB_ZGEMM, TB_MEMORY_HOST, 2, 2, false},
                 {TB_ZGEMM, TB_MEMORY_PINNED, 2, 6, false},
                 {TB_DGEMM, TB_MEMORY_PINNED, 2, 6, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tb_memory memory = cases[i].memory;
        const tb_product small = product_of_routine(cases[i].routine, N, N, N),
                         large = product_of_routine(cases[i].routine, 8 * N, 8 * N, 8 * N);
        learn_calls(&small, memory, 1, 0.5);
        learn_calls(&large, memory, 1, cases[i].one);
        learn_calls(&large, memory, 2, cases[i].several);
        const double known = cases[i].several / cases[i].one;
        const tb_facts facts = facts_of(&small, memory);
        CHECK(fabs(facts.machine.sharing_ratio / known - 1) < 0.05, "case %zu: %g, the larger one %g", i,
              facts.machine.sharing_ratio, known);
        for (int call = 0; call < CALLS && cases[i].by_host; call++)
            tb_learn_host(&small, &facts, 1);
        if (!cases[i].by_host)
            learn_calls(&small, memory, 1, 0.5);
        const double later = facts_of(&small, memory).machine.sharing_ratio;
        CHECK(known == 1 || (later > 1 && later < 0.9 * facts.machine.sharing_ratio), "case %zu: %g, then %g",
              i, facts.machine.sharing_ratio, later);
    }
}

/* A product is streamed as its slowest operand is: one in pageable memory makes it pageable. */
static void one_pageable_operand_is_enough(void)
{
    const tb_product product = product_of_routine(TB_CGEMM, 8 * N, 8, 8 * N);
    learn_calls(&product, TB_MEMORY_HOST, 1, 3);
    CHECK(facts_of(&product, TB_MEMORY_PINNED).machine.streamed_ratio == 1, "pinned memory, too");
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_facts facts = facts_of(&product, TB_MEMORY_PINNED);
        facts.places[role].memory = TB_MEMORY_HOST;
        tb_recall(&product, &facts);
        CHECK(fabs(facts.machine.streamed_ratio - 3) < 0.1, "operand %d is pageable: %g", (int)role,
              facts.machine.streamed_ratio);
    }
}

/* However long calls take, or how little, no ratio goes beyond 64 or 1/64: what a program that was stopped for a while has taught
 * is unlearned by a few calls. */
static void ratios_have_limits(void)
{
    enum { MOST = 64, MANY = 100 };
    const tb_product product = product_of_routine(TB_ZGEMM, 8 * N, 8, 8 * N);
    for (int slow = 0; slow < 2; slow++) {
        for (int call = 0; call < MANY; call++) {
            const tb_facts facts = facts_of(&product, TB_MEMORY_HOST);
            tb_learn_host(&product, &facts, (slow ? 1e6 : 1e-6) * tb_host_seconds(&product, &facts.machine));
        }
        const double ratio = facts_of(&product, TB_MEMORY_HOST).machine.host_ratio,
                     limit = slow ? MOST : 1.0 / MOST;
        CHECK(fabs(ratio / limit - 1) < 1e-6, "%g after many calls, not %g", ratio, limit);
    }
}

int main(void)
{
    const tb_product square = product_square(N), larger = product_sized(4 * N, 4 * N, N),
                     thin = product_sized(8 * N, 8, 8 * N);
    tb_facts facts = facts_of(&square, TB_MEMORY_HOST);
    const double first = tb_host_seconds(&square, &facts.machine), truth = 6 * first;
    double before = 1;
    for (int call = 0; call < CALLS; call++) {
        tb_learn_host(&square, &facts, truth);
        facts = facts_of(&square, TB_MEMORY_HOST);
        double ratio = facts.machine.host_ratio;
        CHECK(ratio >= before && ratio <= 1.26 * before, "call %d: from %g to %g", call, before, ratio);
        before = ratio;
    }
    double learned = tb_host_seconds(&square, &facts.machine);
    CHECK(fabs(learned / truth - 1) < 0.01, "forecast %g s, truth %g s", learned, truth);

    /* Nothing has been learned of the other element, and it learns for itself. */
    const tb_product doubles = product_of_routine(TB_DGEMM, N, N, N);
    facts = facts_of(&doubles, TB_MEMORY_HOST);
    CHECK(facts.machine.host_ratio == 1 && facts.machine.streamed_ratio == 1, "doubles: %g and %g",
          facts.machine.host_ratio, facts.machine.streamed_ratio);
    tb_learn_host(&doubles, &facts, 0.1 * tb_host_seconds(&doubles, &facts.machine));
    tb_learn_streamed(&doubles, &facts, &(tb_plan){.device_seconds = 1}, 10);
    facts = facts_of(&doubles, TB_MEMORY_HOST);
    CHECK(facts.machine.host_ratio < 1 && facts.machine.streamed_ratio > 1, "doubles: %g and %g",
          facts.machine.host_ratio, facts.machine.streamed_ratio);
    facts = facts_of(&square, TB_MEMORY_HOST);
    CHECK(facts.machine.host_ratio == before && facts.machine.streamed_ratio == 1,
          "floats after them: %g and %g", facts.machine.host_ratio, facts.machine.streamed_ratio);

    /* The nearest size is the best guess; thin products are another matter. */
    facts = facts_of(&larger, TB_MEMORY_HOST);
    CHECK(fabs(facts.machine.host_ratio - before) < 1e-6, "a larger one: %g", facts.machine.host_ratio);
    facts = facts_of(&thin, TB_MEMORY_HOST);
    CHECK(facts.machine.host_ratio == 1, "a thin one: %g", facts.machine.host_ratio);

    /* Streaming is learned by kind of memory, and what was slow fades while the host answers. */
    tb_plan plan = {.device_seconds = 1};
    facts = facts_of(&square, TB_MEMORY_HOST);
    tb_learn_streamed(&square, &facts, &plan, 10);
    facts = facts_of(&square, TB_MEMORY_PINNED);
    CHECK(facts.machine.streamed_ratio == 1, "pinned: %g", facts.machine.streamed_ratio);
    facts = facts_of(&square, TB_MEMORY_HOST);
    double slow = facts.machine.streamed_ratio;
    CHECK(fabs(slow - 1.25) < 0.01, "pageable: %g", slow);
    tb_learn_host(&square, &facts, truth);
    facts = facts_of(&square, TB_MEMORY_HOST);
    CHECK(facts.machine.streamed_ratio < slow && facts.machine.streamed_ratio > 1,
          "after a call of the host: %g", facts.machine.streamed_ratio);

    sharing_is_learned_apart();
    other_sizes_tell_of_sharing();
    one_pageable_operand_is_enough();
    ratios_have_limits();
    /* A profile's ratio is a beginning, and no more. */
    for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
        tb_suggest_learned(TB_FP32, TB_LEARNED_HOST, class, 3);
    facts = facts_of(&square, TB_MEMORY_HOST);
    CHECK(fabs(facts.machine.host_ratio - before) < 0.05 * before, "suggested over learned: %g",
          facts.machine.host_ratio);
    facts = facts_of(&thin, TB_MEMORY_HOST);
    CHECK(fabs(facts.machine.host_ratio - 3) < 1e-6, "suggested: %g", facts.machine.host_ratio);
    return check_result();
}
