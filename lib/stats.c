#include "lib/stats.h"

#include "include/tileblas.h"
#include "lib/log.h"
#include "lib/options.h"
#include "lib/sgemm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Until the options have been read, every call is looked at. */
_Atomic(float) tb_small_volume = 0;

/* No lock: a forked child could find it taken by a thread it does not have. */
typedef struct counters {
    atomic_ullong calls;
    _Atomic(double) flop, seconds;
} counters;

static counters routes[TB_ROUTE_COUNT];

static _Thread_local tb_plan last_plan;
static _Thread_local bool has_last_plan;

void tb_watch_as_asked(void)
{
    bool watched = tb_option_value(TB_OPTION_VERBOSE) || tb_option_value(TB_OPTION_STATS) ||
                   tb_option_value(TB_OPTION_ROUTE) || strcmp(tb_option_text(TB_OPTION_KERNEL), "auto") != 0;
    if (!watched && atomic_load_explicit(&tb_small_volume, memory_order_relaxed) == 0)
        tb_learn_host_memory();
    atomic_store_explicit(&tb_small_volume, watched ? 0 : (float)TB_SMALL_VOLUME, memory_order_relaxed);
}

static const char *memory_text(const tb_place *place)
{
    static const char *const texts[] = {
        [TB_MEMORY_HOST] = "host",
        [TB_MEMORY_PINNED] = "pinned",
        [TB_MEMORY_MANAGED] = "managed",
        [TB_MEMORY_DEVICE] = "device",
    };
    return texts[place->memory];
}

static void print_call(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    char decision[256], time[32] = "handed on";
    tb_print_plan(plan, decision, sizeof decision);
    if (seconds > 0)
        snprintf(time, sizeof time, "%.3f ms", 1e3 * seconds);
    tb_log("sgemm %c%c m=%lld n=%lld k=%lld lda=%lld ldb=%lld ldc=%lld alpha=%g beta=%g A %s B %s C %s -> "
           "%s, %s",
           problem->transpose_a ? 'T' : 'N', problem->transpose_b ? 'T' : 'N', (long long)problem->m,
           (long long)problem->n, (long long)problem->k, (long long)problem->lda, (long long)problem->ldb,
           (long long)problem->ldc, (double)problem->alpha, (double)problem->beta, memory_text(&facts->a),
           memory_text(&facts->b), memory_text(&facts->c), decision, time);
}

/* += on an atomic double would need libatomic. */
static void add(_Atomic(double) *sum, double amount)
{
    double before = atomic_load_explicit(sum, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(sum, &before, before + amount))
        ;
}

void tb_record_call(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    last_plan = *plan;
    has_last_plan = true;

    counters *route = &routes[plan->route];
    route->calls++;
    add(&route->flop, 2.0 * (double)problem->m * (double)problem->n * (double)problem->k);
    add(&route->seconds, seconds);

    if (tb_option_value(TB_OPTION_VERBOSE))
        print_call(problem, facts, plan, seconds);
    tb_watch_as_asked();
}

static tileblas_route_statistics read_route(tb_route route)
{
    return (tileblas_route_statistics){routes[route].calls, routes[route].flop, routes[route].seconds};
}

void tileblas_get_statistics(tileblas_statistics *statistics)
{
    statistics->host = read_route(TB_ROUTE_HOST);
    statistics->resident = read_route(TB_ROUTE_RESIDENT);
    statistics->streamed = read_route(TB_ROUTE_STREAMED);
}

void tileblas_reset_statistics(void)
{
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        routes[route].calls = 0;
        routes[route].flop = 0;
        routes[route].seconds = 0;
    }
}

size_t tileblas_last_plan(char *text, size_t size)
{
    if (has_last_plan)
        return (size_t)tb_print_plan(&last_plan, text, size);
    if (size > 0)
        text[0] = '\0';
    return 0;
}

__attribute__((destructor)) static void print_summary(void)
{
    if (!tb_option_value(TB_OPTION_STATS))
        return;
    tileblas_route_statistics host = read_route(TB_ROUTE_HOST);
    tb_log("host %llu calls, %.3f GFLOP", host.calls, 1e-9 * host.flop);
    for (tb_route route = TB_ROUTE_RESIDENT; route < TB_ROUTE_COUNT; route++) {
        tileblas_route_statistics device = read_route(route);
        tb_log("%s %llu calls, %.3f GFLOP, %.3f s", tb_route_text(route), device.calls, 1e-9 * device.flop,
               device.seconds);
    }
}
