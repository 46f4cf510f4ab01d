#include "lib/repeated.h"

#include "dispatch/mix.h"

#include <stdatomic.h>

/* One place for each hash: products that share one forget each other. */
#define PLACES 1024

/* The first call of a way may bring up what later ones find ready: the lesser of two counts. */
#define SAMPLES_KNOWN 2

/* Later calls move a ratio by so much towards what they took: down faster than up, as calls are slow now and then for
 * reasons of their own, but none is fast by chance. */
#define STEP_DOWN 0.75f
#define STEP_UP   0.125f

#define CALLS_MOST (1 << 20)

/* What one way took, divided by what had been forecast. */
typedef struct way {
    _Atomic(float) ratio;
    atomic_int samples;
} way;

/* Threads that write at once may lose a sample, or mix up two products for a call: choices suffer, not results. */
typedef struct place {
    _Atomic(uint64_t) key; /* 0: nobody's */
    atomic_int calls;
    way host, streamed;
} place;

static place places[PLACES];

static uint64_t key_of(const tb_problem *problem, const tb_facts *facts)
{
    const unsigned kind = (unsigned)facts->a.memory | (unsigned)facts->b.memory << 2 |
                          (unsigned)facts->c.memory << 4 | (unsigned)(problem->transpose_a != 0) << 6 |
                          (unsigned)(problem->transpose_b != 0) << 7 | (unsigned)(problem->beta != 0) << 8;
    uint64_t key = tb_mix(
        tb_mix(tb_mix(tb_mix(0, (uint64_t)problem->m), (uint64_t)problem->n), (uint64_t)problem->k), kind);
    return key != 0 ? key : 1;
}

static bool is_known(way *way)
{
    return atomic_load_explicit(&way->samples, memory_order_relaxed) >= SAMPLES_KNOWN;
}

static double ratio_of(way *way)
{
    return (double)atomic_load_explicit(&way->ratio, memory_order_relaxed);
}

void tb_recall_product(const tb_problem *problem, tb_facts *facts)
{
    const uint64_t key = key_of(problem, facts);
    place *place = &places[key % PLACES];
    facts->repeated = (tb_repeated){0};
    if (atomic_load_explicit(&place->key, memory_order_relaxed) != key)
        return;
    facts->repeated = (tb_repeated){.calls = atomic_load_explicit(&place->calls, memory_order_relaxed),
                                    .host_known = is_known(&place->host),
                                    .streamed_known = is_known(&place->streamed)};
    /* A measured time beside a forecast that is off by as much as the other was would compare unlike things. */
    if (facts->repeated.host_known && facts->repeated.streamed_known) {
        facts->machine.host_ratio = ratio_of(&place->host);
        facts->machine.streamed_ratio = ratio_of(&place->streamed);
    }
}

static void learn(way *way, float sample)
{
    const int samples = atomic_load_explicit(&way->samples, memory_order_relaxed);
    float ratio = atomic_load_explicit(&way->ratio, memory_order_relaxed);
    if (samples == 0)
        ratio = sample;
    else if (samples < SAMPLES_KNOWN)
        ratio = sample < ratio ? sample : ratio;
    else
        ratio += (sample < ratio ? STEP_DOWN : STEP_UP) * ((sample < 2 * ratio ? sample : 2 * ratio) - ratio);
    atomic_store_explicit(&way->ratio, ratio, memory_order_relaxed);
    if (samples < SAMPLES_KNOWN)
        atomic_store_explicit(&way->samples, samples + 1, memory_order_relaxed);
}

static void forget(way *way)
{
    atomic_store_explicit(&way->samples, 0, memory_order_relaxed);
}

void tb_learn_product(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    if (facts->route_forced || facts->kernel_forced || plan->needs_device || plan->route == TB_ROUTE_RESIDENT)
        return;
    const uint64_t key = key_of(problem, facts);
    place *place = &places[key % PLACES];
    if (atomic_load_explicit(&place->key, memory_order_relaxed) != key) {
        forget(&place->host);
        forget(&place->streamed);
        atomic_store_explicit(&place->calls, 0, memory_order_relaxed);
        atomic_store_explicit(&place->key, key, memory_order_relaxed);
    }
    if (plan->route == TB_ROUTE_HOST)
        learn(&place->host,
              (float)(facts->machine.host_ratio * seconds / tb_host_seconds(problem, &facts->machine)));
    else
        learn(&place->streamed, (float)(facts->machine.streamed_ratio * seconds / plan->device_seconds));
    const int calls = atomic_load_explicit(&place->calls, memory_order_relaxed);
    atomic_store_explicit(&place->calls, calls < CALLS_MOST ? calls + 1 : CALLS_MOST / 2,
                          memory_order_relaxed);
}
