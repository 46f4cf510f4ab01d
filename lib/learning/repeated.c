#include "lib/learning/repeated.h"

#include "dispatch/factor_seconds.h"
#include "dispatch/mix.h"
#include "lib/process/sums.h"

#include <math.h>
#include <stdatomic.h>

/* One entry for each hash: products that share one forget each other. */
#define ENTRIES 1024

/* A product that is called a third time will be called again: both ways are tried; and the one that is not
 * taken again after so many calls, after twice as many, and then every so often,
 * as what was tried may have been slow by chance. */
#define CALLS_ALIKE   2u
#define CALLS_SOON    16u
#define CALLS_BETWEEN 64u

/* One that took several times as long is tried again after so many times as many calls since its last trial,
 * so that the two calls of a trial cost some 3%, and four 6%: it may have been slow once, but not for ever. */
#define CALLS_A_TIME 64.0

/* The first call of a way wakes threads and caches that the next one finds awake: a way has been tried when
 * two calls of the thread have gone it in a row, or so many have at all. */
#define TRIES_MOST 4

/* Later calls move a ratio by so much towards what they took: down faster than up, as calls are slow now and
 * then for reasons of their own. The host goes up least: it counts for what it takes at its best, the device
 * for what it usually takes, as being slower than the program's own BLAS is worse than gaining little: where
 * it saves 30% of a long product, one slow call does not send that home, two in a row do. In a trial it goes
 * up no faster than the host, or one that is slow by chance would be the last. */
#define STEP_DOWN        0.75f
#define STEP_UP          0.125f
#define STEP_STREAMED_UP 0.2f

/* What one way took, divided by what had been forecast. */
typedef struct way {
    _Atomic(float) ratio;
    atomic_int tries;  /* TRIES_MOST: it has been tried */
    atomic_uint tried; /* when it was last: after so many of the product's calls */
    atomic_bool known;
} way;

/* Threads that write at once may lose a sample, or mix up two products for a call: choices suffer, not results. */
typedef struct entry {
    _Atomic(uint64_t) key; /* 0: nobody's */
    atomic_uint calls;
    way host, streamed;
} entry;

static entry entries[ENTRIES];

/* Which way the thread's last product went; those aside that wake nothing, for being small or without k. */
static _Thread_local tb_route last_route = TB_ROUTE_COUNT;

static uint64_t key_of_product(const tb_product *product, const tb_facts *facts)
{
    uint64_t kind = (uint64_t)product->routine;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        kind = kind << 4 | (uint64_t)facts->places[role].memory << 2 |
               (uint64_t)(product->operands[role].structure != TB_GENERAL) << 1 |
               product->operands[role].transposed;
    kind = kind << 1 | !tb_is_zero(product->beta);
    return tb_mix(tb_mix(tb_mix(tb_mix(0, (uint64_t)product->m), (uint64_t)product->n), (uint64_t)product->k),
                  kind);
}

static uint64_t key_of_factor(const tb_factor *factor, const tb_facts *facts)
{
    const uint64_t kind =
        (uint64_t)factor->routine << 8 | (uint64_t)factor->stored << 4 | (uint64_t)facts->places[0].memory;
    return tb_mix(
        tb_mix(tb_mix(tb_mix(0, (uint64_t)factor->m), (uint64_t)factor->n), (uint64_t)factor->b.columns),
        kind);
}

static uint64_t key_of(tb_task task, const tb_facts *facts)
{
    const uint64_t key =
        tb_is_product(task) ? key_of_product(task.product, facts) : key_of_factor(task.factor, facts);
    return key != 0 ? key : 1;
}

static double host_seconds(tb_task task, const tb_machine *machine)
{
    return tb_is_product(task) ? tb_host_seconds(task.product, machine)
                               : tb_factor_host_seconds(task.factor, machine);
}

static bool is_known(way *way)
{
    return TB_LOAD(&way->known);
}

static bool is_due(way *way, unsigned calls)
{
    return calls >= CALLS_ALIKE && TB_LOAD(&way->tries) < TRIES_MOST;
}

/* How many times as long as the way that is taken this one may take, to be tried again. */
static double times_most(way *way, unsigned calls)
{
    const unsigned tried = TB_LOAD(&way->tried);
    return is_known(way) ? (int)(calls - tried) / CALLS_A_TIME : 0;
}

static double ratio_of(way *way)
{
    return (double)TB_LOAD(&way->ratio);
}

void tb_recall_repeated(tb_task task, tb_facts *facts)
{
    const uint64_t key = key_of(task, facts);
    entry *entry = &entries[key % ENTRIES];
    facts->repeated = (tb_repeated){0};
    if (TB_LOAD(&entry->key) != key)
        return;
    const unsigned calls = TB_LOAD(&entry->calls);
    facts->repeated =
        (tb_repeated){.host_known = is_known(&entry->host),
                      .streamed_known = is_known(&entry->streamed),
                      .host_due = is_due(&entry->host, calls),
                      .streamed_due = is_due(&entry->streamed, calls),
                      .host_times_most = times_most(&entry->host, calls),
                      .streamed_times_most = times_most(&entry->streamed, calls),
                      .host_ratio = is_known(&entry->host) ? ratio_of(&entry->host) : 0,
                      .host_ratio_of_class = calls < 2 * CALLS_SOON ? facts->machine.host_ratio : 0};
    /* A measured time beside a forecast that is off by as much as the other was would compare unlike things. */
    if (facts->repeated.host_known && facts->repeated.streamed_known) {
        facts->machine.host_ratio = ratio_of(&entry->host);
        facts->machine.streamed_ratio = ratio_of(&entry->streamed);
    }
}

/* After so many tries before; is_awake: the thread's call before went the same way. */
static float next_ratio(way *way, bool on_host, float sample, int tries, bool is_awake)
{
    const float ratio = TB_LOAD(&way->ratio);
    if (!is_known(way))
        return tries > 0 ? fminf(sample, ratio) : sample;
    if (sample < ratio)
        return ratio + STEP_DOWN * (sample - ratio);
    if (tries < TRIES_MOST - 1 && !is_awake)
        return ratio; /* it may have been slow for waking what the next one finds awake */
    const float step = on_host || tries < TRIES_MOST ? STEP_UP : STEP_STREAMED_UP;
    return ratio + step * (fminf(sample, 2 * ratio) - ratio);
}

static void end_trial(way *way, unsigned calls)
{
    TB_STORE(&way->tried, calls);
    TB_STORE(&way->tries, TRIES_MOST);
}

static void learn(way *way, bool on_host, float sample, bool is_awake, unsigned calls)
{
    const int tries = TB_LOAD(&way->tries);
    TB_STORE(&way->ratio, next_ratio(way, on_host, sample, tries, is_awake));
    if (tries == TRIES_MOST)
        return;
    TB_STORE(&way->tries, tries + 1);
    if (tries + 1 < TRIES_MOST && !(tries > 0 && is_awake))
        return;
    end_trial(way, calls);
    TB_STORE(&way->known, true);
}

static void forget(way *way)
{
    TB_STORE(&way->known, false);
    TB_STORE(&way->tries, 0);
}

/* other is the way that the call did not go. */
static void count_call(entry *entry, way *other)
{
    const unsigned calls = TB_LOAD(&entry->calls) + 1;
    TB_STORE(&entry->calls, calls);
    if (calls % CALLS_BETWEEN == 0 || calls == CALLS_SOON || calls == 2 * CALLS_SOON)
        TB_STORE(&other->tries, 0);
}

void tb_learn_repeated(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    const bool is_awake = plan->route == last_route;
    last_route = plan->route;
    if (facts->route_forced || facts->kernel_forced || plan->needs_device || plan->route == TB_ROUTE_RESIDENT)
        return;
    const uint64_t key = key_of(task, facts);
    entry *entry = &entries[key % ENTRIES];
    if (TB_LOAD(&entry->key) != key) {
        forget(&entry->host);
        forget(&entry->streamed);
        TB_STORE(&entry->calls, 0);
        TB_STORE(&entry->key, key);
    }
    const unsigned calls = TB_LOAD(&entry->calls);
    if (plan->reason == TB_REASON_DEVICE_FAILED) /* one failed trial is enough */
        end_trial(&entry->streamed, calls);
    const bool on_host = plan->route == TB_ROUTE_HOST;
    const double ratio = on_host ? facts->machine.host_ratio * seconds / host_seconds(task, &facts->machine)
                                 : facts->machine.streamed_ratio * seconds / plan->device_seconds;
    learn(on_host ? &entry->host : &entry->streamed, on_host, (float)ratio, is_awake, calls);
    count_call(entry, on_host ? &entry->streamed : &entry->host);
}
