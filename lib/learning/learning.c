#include "lib/learning/learning.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Classes: each size has four times the multiply-adds of the one before, and holds thin products apart, whose
 * smallest extent leaves little to reuse. Streamed products differ too by the kind of memory. */
#define SIZES          16
#define SMALLEST_BITS  18
#define BITS_A_SIZE    2
#define THINNESSES     3
#define VERY_THIN_MOST 8
#define THIN_MOST      64

_Static_assert(THINNESSES *SIZES == TB_LEARNED_CLASSES, "learning.h tells how many classes there are");

typedef struct ratios {
    _Atomic(float) of[THINNESSES][SIZES]; /* 0: nothing has been learned */
} ratios;

static ratios learned[TB_LEARNED_KINDS];

/* A single call can be slow for reasons of its own: no call moves a ratio by more than this factor. */
#define STEP_MOST  1.25f
#define RATIO_MOST 64.0f

/* Calls that are not streamed because streaming has been slow let that fade: it is tried again some day. */
#define FADING 0.01f

static int size_of(const tb_problem *problem)
{
    double volume = (double)problem->m * (double)problem->n * (double)problem->k;
    int size = (ilogb(volume) - SMALLEST_BITS) / BITS_A_SIZE;
    return size < 0 ? 0 : size < SIZES ? size : SIZES - 1;
}

static int thinness_of(const tb_problem *problem)
{
    int64_t least = problem->m < problem->n ? problem->m : problem->n;
    least = least < problem->k ? least : problem->k;
    return least <= VERY_THIN_MOST ? 0 : least <= THIN_MOST ? 1 : 2;
}

static _Atomic(float) *class_of(ratios *ratios, const tb_problem *problem)
{
    return &ratios->of[thinness_of(problem)][size_of(problem)];
}

static float load(const _Atomic(float) *ratio)
{
    return atomic_load_explicit(ratio, memory_order_relaxed);
}

static double recall(ratios *ratios, const tb_problem *problem)
{
    const _Atomic(float) *row = ratios->of[thinness_of(problem)];
    int size = size_of(problem);
    for (int distance = 0; distance < SIZES; distance++) {
        float below = size >= distance ? load(&row[size - distance]) : 0;
        float above = size + distance < SIZES ? load(&row[size + distance]) : 0;
        if (below > 0 || above > 0)
            return (double)(above > 0 ? above : below);
    }
    return 1;
}

static float within(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

/* Threads that learn at once may lose a step of one another. */
static void learn(_Atomic(float) *ratio, float before, double sample)
{
    float next = within((float)sample, before / STEP_MOST, before * STEP_MOST);
    atomic_store_explicit(ratio, within(next, 1 / RATIO_MOST, RATIO_MOST), memory_order_relaxed);
}

static bool is_pageable(const tb_facts *facts)
{
    return facts->a.memory == TB_MEMORY_HOST || facts->b.memory == TB_MEMORY_HOST ||
           facts->c.memory == TB_MEMORY_HOST;
}

static ratios *streamed(const tb_facts *facts)
{
    return &learned[is_pageable(facts) ? TB_LEARNED_PAGEABLE : TB_LEARNED_PINNED];
}

float tb_get_learned(tb_learned kind, int class)
{
    return load(&learned[kind].of[class / SIZES][class % SIZES]);
}

void tb_suggest_learned(tb_learned kind, int class, float ratio)
{
    float nothing = 0;
    ratio = within(ratio, 1 / RATIO_MOST, RATIO_MOST);
    atomic_compare_exchange_strong(&learned[kind].of[class / SIZES][class % SIZES], &nothing, ratio);
}

void tb_recall(const tb_problem *problem, tb_facts *facts)
{
    if (problem->k == 0)
        return;
    facts->machine.host_ratio = recall(&learned[TB_LEARNED_HOST], problem);
    facts->machine.streamed_ratio = recall(streamed(facts), problem);
}

void tb_learn_host(const tb_problem *problem, const tb_facts *facts, double seconds)
{
    ratios *host = &learned[TB_LEARNED_HOST];
    learn(class_of(host, problem), (float)recall(host, problem),
          facts->machine.host_ratio * seconds / tb_host_seconds(problem, &facts->machine));
    _Atomic(float) *slow = class_of(streamed(facts), problem);
    if (load(slow) > 1)
        atomic_store_explicit(slow, load(slow) + FADING * (1 - load(slow)), memory_order_relaxed);
}

void tb_learn_streamed(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    learn(class_of(streamed(facts), problem), (float)recall(streamed(facts), problem),
          facts->machine.streamed_ratio * seconds / plan->device_seconds);
}
