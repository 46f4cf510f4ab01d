#include "lib/learning/learning.h"

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

static _Atomic(float) *class_of(ratios *ratios, const tb_product *product)
{
    return &ratios->of[thinness_of(product)][size_of(product)];
}

/* The size nearest to this one of which something has been learned. */
static int nearest_size(const _Atomic(float) *row, int size)
{
    for (int distance = 0; distance < SIZES; distance++) {
        if (size + distance < SIZES && TB_LOAD(&row[size + distance]) > 0)
            return size + distance;
        if (size >= distance && TB_LOAD(&row[size - distance]) > 0)
            return size - distance;
    }
    return NO_SIZE;
}

static double recall_size(const ratios *ratios, int thinness, int size)
{
    const _Atomic(float) *row = ratios->of[thinness];
    const int nearest = nearest_size(row, size);
    return nearest == NO_SIZE ? 1 : (double)TB_LOAD(&row[nearest]);
}

static double recall(const ratios *ratios, const tb_product *product)
{
    return recall_size(ratios, thinness_of(product), size_of(product));
}

/* The ratio of what devices share, 0 where nothing has been learned. Another size tells how much longer it takes than one device
 * has that. */
static double recall_shared(const ratios *several, const ratios *one, const tb_product *product)
{
    const int thinness = thinness_of(product), size = nearest_size(several->of[thinness], size_of(product));
    if (size == NO_SIZE)
        return 0;
    return (double)TB_LOAD(&several->of[thinness][size]) / recall_size(one, thinness, size) *
           recall(one, product);
}

static float within(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

static void set(ratios *ratios, const tb_product *product, float ratio)
{
    TB_STORE(class_of(ratios, product), within(ratio, 1 / RATIO_MOST, RATIO_MOST));
}

/* Threads that learn at once may lose a step of one another. */
static void learn(ratios *ratios, const tb_product *product, double before, double sample)
{
    set(ratios, product, within((float)sample, (float)before / STEP_MOST, (float)before * STEP_MOST));
}

/* For what was slower than it would have to be; also where only another size has told of it. */
static void fade(ratios *ratios, const tb_product *product, double before, double ratio)
{
    if (before > ratio)
        set(ratios, product, (float)(before + FADING * (ratio - before)));
}

static bool is_pageable(const tb_facts *facts)
{
    return facts->places[TB_A].memory == TB_MEMORY_HOST || facts->places[TB_B].memory == TB_MEMORY_HOST ||
           facts->places[TB_C].memory == TB_MEMORY_HOST;
}

static ratios *host(const tb_product *product)
{
    return &learned[tb_element_of(product)][TB_LEARNED_HOST];
}

static ratios *streamed(const tb_product *product, const tb_facts *facts)
{
    return &learned[tb_element_of(product)][is_pageable(facts) ? TB_LEARNED_PAGEABLE : TB_LEARNED_PINNED];
}

static ratios *shared(const tb_product *product, const tb_facts *facts)
{
    return &learned[tb_element_of(product)]
                   [is_pageable(facts) ? TB_LEARNED_SHARED_PAGEABLE : TB_LEARNED_SHARED_PINNED];
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
    const ratios *one = streamed(product, facts);
    const double together = recall_shared(shared(product, facts), one, product);
    machine->host_ratio = recall(host(product), product);
    machine->streamed_ratio = recall(one, product);
    machine->sharing_ratio = together > 0 ? together / machine->streamed_ratio : 1;
}

void tb_learn_host(const tb_product *product, const tb_facts *facts, double seconds)
{
    ratios *own = host(product), *one = streamed(product, facts), *several = shared(product, facts);
    learn(own, product, recall(own, product),
          facts->machine.host_ratio * seconds / tb_host_seconds(product, &facts->machine));
    fade(several, product, recall_shared(several, one, product), 1);
    fade(one, product, recall(one, product), 1);
}

void tb_learn_streamed(const tb_product *product, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    const tb_machine *machine = &facts->machine;
    const double sample = machine->streamed_ratio * seconds / plan->device_seconds;
    ratios *one = streamed(product, facts), *several = shared(product, facts);
    if (plan->region_count > 1) {
        if (!atomic_exchange(&has_shared, true))
            return;
        const double together = recall_shared(several, one, product);
        learn(several, product, together > 0 ? together : recall(one, product),
              machine->sharing_ratio * sample);
    } else {
        learn(one, product, recall(one, product), sample);
        fade(several, product, recall_shared(several, one, product), recall(one, product));
    }
}

/* ---- Tasks ------------------------------------------------------------------------------------------------ */

void tb_recall_task(tb_task task, tb_facts *facts)
{
    facts->repeated = (tb_repeated){0};
    if (!tb_is_product(task))
        return;
    tb_recall(task.product, facts);
    tb_recall_product(task.product, facts);
}

void tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    const tb_product *product = task.product;
    if (tb_is_product(task) && product->k == 0)
        return;
    if (plan->reason == TB_REASON_DEVICE_STARTING)
        tb_machine_note_host(seconds);
    if (!tb_is_product(task) || tb_is_batch(product))
        return;
    /* A triangle teaches nothing about the full products of its size: hosts do those better, and pinned memory serves them in
     * another way. */
    const bool is_typical = product->mask == TB_FULL && product->in_place == TB_OUT_OF_PLACE;
    if (is_typical && plan->route == TB_ROUTE_HOST && !plan->needs_device)
        tb_learn_host(product, facts, seconds);
    else if (is_typical && plan->route == TB_ROUTE_STREAMED)
        tb_learn_streamed(product, facts, plan, seconds);
    tb_learn_product(product, facts, plan, seconds);
}
