#include "lib/learning/learning.h"

#include "dispatch/factor_seconds.h"
#include "lib/learning/repeated.h"
#include "lib/machine/machine.h"
#include "lib/process/sums.h"
#include "words/integers.h"

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
#define NO_SIZE        SIZES

_Static_assert(THINNESSES *SIZES == TB_LEARNED_CLASSES, "learning.h tells how many classes there are");

typedef struct ratios {
    _Atomic(float) of[THINNESSES][SIZES]; /* 0: nothing has been learned */
} ratios;

static ratios learned[TB_ELEMENTS][TB_LEARNED_KINDS];

/* A single call can be slow for reasons of its own: no call moves a ratio by more than this factor. */
#define STEP_MOST  1.25f
#define RATIO_MOST 64.0f

/* Calls that are not streamed because streaming has been slow, or not shared because sharing has, let that fade: it is tried
 * again some day. */
#define FADING 0.01

/* The first product that devices share waits for what they need from then on, pinned memory and threads, and teaches nothing. */
static atomic_bool has_shared;

/* A batch has that of a member. */
static int size_of(const tb_product *product)
{
    int size = (ilogb(tb_volume(product) / (double)tb_members_of(product)) - SMALLEST_BITS) / BITS_A_SIZE;
    return size < 0 ? 0 : size < SIZES ? size : SIZES - 1;
}

static int thinness_of(const tb_product *product)
{
    const int64_t least = tb_smaller(tb_smaller(product->m, product->n), product->k);
    return least <= VERY_THIN_MOST ? 0 : least <= THIN_MOST ? 1 : 2;
}

/* Where what is learned of a task is kept: the ratios of tasks like it, by their size. */
typedef struct class
{
    _Atomic(float) *row;
    int size;
} class;

/* The size nearest to this one of which something has been learned. */
static int nearest_size(class class)
{
    for (int distance = 0; distance < SIZES; distance++) {
        if (class.size + distance < SIZES && TB_LOAD(&class.row[class.size + distance]) > 0)
            return class.size + distance;
        if (class.size >= distance && TB_LOAD(&class.row[class.size - distance]) > 0)
            return class.size - distance;
    }
    return NO_SIZE;
}

static double recall(class class)
{
    const int nearest = nearest_size(class);
    return nearest == NO_SIZE ? 1 : (double)TB_LOAD(&class.row[nearest]);
}

/* The ratio of what devices share, 0 where nothing has been learned. Another size tells how much longer it takes than one device
 * has that. */
static double recall_shared(class several, class one)
{
    const class other = {one.row, nearest_size(several)};
    if (other.size == NO_SIZE)
        return 0;
    return (double)TB_LOAD(&several.row[other.size]) / recall(other) * recall(one);
}

static float within(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

static void set(class class, float ratio)
{
    TB_STORE(&class.row[class.size], within(ratio, 1 / RATIO_MOST, RATIO_MOST));
}

/* Threads that learn at once may lose a step of one another. */
static void learn(class class, double before, double sample)
{
    set(class, within((float)sample, (float)before / STEP_MOST, (float)before * STEP_MOST));
}

/* For what was slower than it would have to be; also where only another size has told of it. */
static void fade(class class, double before, double ratio)
{
    if (before > ratio)
        set(class, (float)(before + FADING * (ratio - before)));
}

static bool is_pageable(const tb_facts *facts, int matrices)
{
    for (int i = 0; i < matrices; i++)
        if (facts->places[i].memory == TB_MEMORY_HOST)
            return true;
    return false;
}

static class class_of(const tb_product *product, tb_learned kind)
{
    return (class){learned[tb_element_of(product)][kind].of[thinness_of(product)], size_of(product)};
}

static class host(const tb_product *product)
{
    return class_of(product, TB_LEARNED_HOST);
}

static class streamed(const tb_product *product, const tb_facts *facts)
{
    return class_of(product, is_pageable(facts, TB_ROLES) ? TB_LEARNED_PAGEABLE : TB_LEARNED_PINNED);
}

static class shared(const tb_product *product, const tb_facts *facts)
{
    return class_of(product,
                    is_pageable(facts, TB_ROLES) ? TB_LEARNED_SHARED_PAGEABLE : TB_LEARNED_SHARED_PINNED);
}

float tb_get_learned(tb_element element, tb_learned kind, int class)
{
    return TB_LOAD(&learned[element][kind].of[class / SIZES][class % SIZES]);
}

void tb_suggest_learned(tb_element element, tb_learned kind, int class, float ratio)
{
    float nothing = 0;
    ratio = within(ratio, 1 / RATIO_MOST, RATIO_MOST);
    atomic_compare_exchange_strong(&learned[element][kind].of[class / SIZES][class % SIZES], &nothing, ratio);
}

void tb_recall(const tb_product *product, tb_facts *facts)
{
    tb_machine *machine = &facts->machine;
    if (product->k == 0)
        return;
    const class one = streamed(product, facts);
    const double together = recall_shared(shared(product, facts), one);
    machine->host_ratio = recall(host(product));
    machine->streamed_ratio = recall(one);
    machine->sharing_ratio = together > 0 ? together / machine->streamed_ratio : 1;
}

void tb_learn_host(const tb_product *product, const tb_facts *facts, double seconds)
{
    const class own = host(product), one = streamed(product, facts), several = shared(product, facts);
    learn(own, recall(own), facts->machine.host_ratio * seconds / tb_host_seconds(product, &facts->machine));
    fade(several, recall_shared(several, one), 1);
    fade(one, recall(one), 1);
}

void tb_learn_streamed(const tb_product *product, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    const tb_machine *machine = &facts->machine;
    const double sample = machine->streamed_ratio * seconds / plan->device_seconds;
    const class one = streamed(product, facts), several = shared(product, facts);
    if (plan->region_count > 1) {
        if (!atomic_exchange(&has_shared, true))
            return;
        const double together = recall_shared(several, one);
        learn(several, together > 0 ? together : recall(one), machine->sharing_ratio * sample);
    } else {
        learn(one, recall(one), sample);
        fade(several, recall_shared(several, one), recall(one));
    }
}

/* ---- Factorizations --------------------------------------------------------------------------------------- */

/* A size has twice the order of the one before. */
typedef struct factor_ratios {
    _Atomic(float) host[SIZES], pageable[SIZES], pinned[SIZES];
} factor_ratios;

static factor_ratios learned_of_factors[TB_CLASSES][TB_ELEMENTS];

static factor_ratios *ratios_of(const tb_factor *factor)
{
    return &learned_of_factors[tb_routine_rows[factor->routine].class][factor->a.element];
}

static int size_of_factor(const tb_factor *factor)
{
    const int size = ilogb((double)tb_factor_order(factor) / TB_FACTOR_ORDER_LEAST);
    return size < 0 ? 0 : size < SIZES ? size : SIZES - 1;
}

static class factor_on_host(const tb_factor *factor)
{
    return (class){ratios_of(factor)->host, size_of_factor(factor)};
}

static class factor_streamed(const tb_factor *factor, const tb_facts *facts)
{
    factor_ratios *ratios = ratios_of(factor);
    return (class){is_pageable(facts, tb_solves(factor) ? 2 : 1) ? ratios->pageable : ratios->pinned,
                   size_of_factor(factor)};
}

static void recall_factor(const tb_factor *factor, tb_facts *facts)
{
    facts->machine.host_ratio = recall(factor_on_host(factor));
    facts->machine.streamed_ratio = recall(factor_streamed(factor, facts));
}

static void learn_factor(const tb_factor *factor, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    const tb_machine *machine = &facts->machine;
    const class own = factor_on_host(factor), one = factor_streamed(factor, facts);
    if (plan->route == TB_ROUTE_HOST) {
        learn(own, recall(own), machine->host_ratio * seconds / tb_factor_host_seconds(factor, machine));
        fade(one, recall(one), 1);
    } else {
        learn(one, recall(one), machine->streamed_ratio * seconds / plan->device_seconds);
    }
}

/* Small ones are not forecast; one that ends at a pivot has done less than it would have; and where the matrix lies on a device there is
 * no choice. */
static bool factor_teaches(const tb_factor *factor, const tb_plan *plan)
{
    return tb_factor_order(factor) >= TB_FACTOR_ORDER_LEAST && *factor->info == 0 && !plan->needs_device;
}

/* ---- Tasks ------------------------------------------------------------------------------------------------ */

void tb_recall_task(tb_task task, tb_facts *facts)
{
    if (tb_is_product(task))
        tb_recall(task.product, facts);
    else
        recall_factor(task.factor, facts);
    tb_recall_repeated(task, facts);
}

static void learn_product(const tb_product *product, const tb_facts *facts, const tb_plan *plan,
                          double seconds)
{
    /* A triangle teaches nothing about the full products of its size: hosts do those better, and pinned memory serves them in
     * another way. */
    const bool is_typical = product->mask == TB_FULL && product->in_place == TB_OUT_OF_PLACE;
    if (is_typical && plan->route == TB_ROUTE_HOST && !plan->needs_device)
        tb_learn_host(product, facts, seconds);
    else if (is_typical && plan->route == TB_ROUTE_STREAMED)
        tb_learn_streamed(product, facts, plan, seconds);
}

void tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    if (tb_is_product(task) && task.product->k == 0)
        return;
    if (plan->reason == TB_REASON_DEVICE_STARTING)
        tb_machine_note_host(seconds);
    if (tb_is_product(task) ? tb_is_batch(task.product) : !factor_teaches(task.factor, plan))
        return;
    if (tb_is_product(task))
        learn_product(task.product, facts, plan, seconds);
    else
        learn_factor(task.factor, facts, plan, seconds);
    tb_learn_repeated(task, facts, plan, seconds);
}
