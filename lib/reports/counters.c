#include "lib/reports/counters.h"

#include "lib/device/copies.h"
#include "lib/process/sums.h"

#include <pthread.h>
#include <stdatomic.h>

/* More threads than this share shards, which then cost what a contended counter costs, and stay right. */
#define SHARD_COUNT 64

/* Two lines: x86 fetches them in pairs. */
#define SHARD_ALIGNMENT 128

typedef struct cell {
    atomic_ullong calls;
    _Atomic(double) flop, seconds, link_bytes, won_seconds;
} cell;

typedef struct shard {
    _Alignas(SHARD_ALIGNMENT) cell cells[TB_ROUTINES][TB_ROUTE_COUNT][TB_SHAPE_COUNT];
    cell served;
    atomic_ullong host_reasons[TB_REASON_COUNT];
} shard;

static shard shards[SHARD_COUNT];
static atomic_uint threads_seen;
static _Thread_local shard *own_shard;

/* Largest tasks of a class, in multiply-adds; the least extent that is not skinny. */
#define MEDIUM_VOLUME (1024.0 * 1024 * 1024)
#define LARGE_VOLUME  (8192.0 * 8192 * 8192)
#define SKINNY_LEAST  128

tb_shape tb_shape_of(tb_task task)
{
    const double volume = tb_task_flops(task) / (2 * (double)tb_task_members(task));
    if (volume <= TB_SMALL_VOLUME)
        return TB_SHAPE_SMALL;
    const tb_extents extents = tb_task_extents(task);
    for (int i = 0; i < extents.count; i++)
        if (extents.of[i] < SKINNY_LEAST)
            return TB_SHAPE_SKINNY;
    return volume <= MEDIUM_VOLUME  ? TB_SHAPE_MEDIUM
           : volume <= LARGE_VOLUME ? TB_SHAPE_LARGE
                                    : TB_SHAPE_HUGE;
}

const char *tb_shape_text(tb_shape shape)
{
    static const char *const texts[TB_SHAPE_COUNT] = {
        [TB_SHAPE_SMALL] = "small", [TB_SHAPE_SKINNY] = "skinny", [TB_SHAPE_MEDIUM] = "medium",
        [TB_SHAPE_LARGE] = "large", [TB_SHAPE_HUGE] = "huge",
    };
    return texts[shape];
}

/* A forked child has made no calls yet; the parent's are the parent's to report. */
static void start_anew_in_child(void)
{
    tb_reset_counts();
    tb_take_link_bytes();
}

static shard *find_shard(void)
{
    if (!own_shard) {
        unsigned thread = TB_ADD(&threads_seen, 1);
        if (thread == 0)
            pthread_atfork(NULL, NULL, start_anew_in_child);
        own_shard = &shards[thread % SHARD_COUNT];
    }
    return own_shard;
}

static void add_to_cell(cell *cell, const tb_tally *call)
{
    TB_ADD(&cell->calls, call->calls);
    tb_add_to_sum(&cell->flop, call->flop);
    tb_add_to_sum(&cell->seconds, call->seconds);
    tb_add_to_sum(&cell->link_bytes, call->link_bytes);
    tb_add_to_sum(&cell->won_seconds, call->won_seconds);
}

void tb_count_call(tb_routine routine, tb_route route, tb_shape shape, tb_reason reason, const tb_tally *call)
{
    shard *shard = find_shard();
    add_to_cell(&shard->cells[routine][route][shape], call);
    if (route == TB_ROUTE_HOST)
        TB_ADD(&shard->host_reasons[reason], call->calls);
}

void tb_count_served(const tb_tally *call)
{
    add_to_cell(&find_shard()->served, call);
}

void tb_add_tally(tb_tally *sum, const tb_tally *amount)
{
    sum->calls += amount->calls;
    sum->flop += amount->flop;
    sum->seconds += amount->seconds;
    sum->link_bytes += amount->link_bytes;
    sum->won_seconds += amount->won_seconds;
}

static tb_tally read_cell(const cell *cell)
{
    return (tb_tally){TB_LOAD(&cell->calls), TB_LOAD(&cell->flop), TB_LOAD(&cell->seconds),
                      TB_LOAD(&cell->link_bytes), TB_LOAD(&cell->won_seconds)};
}

static void read_routine(const shard *shard, tb_routine routine, tb_counts *counts)
{
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++) {
            const tb_tally tally = read_cell(&shard->cells[routine][route][shape]);
            tb_add_tally(&counts->tallies[route][shape], &tally);
            tb_add_tally(&counts->routines[routine][route], &tally);
        }
}

void tb_read_counts(tb_counts *counts)
{
    *counts = (tb_counts){0};
    for (int i = 0; i < SHARD_COUNT; i++) {
        for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
            read_routine(&shards[i], routine, counts);
        const tb_tally served = read_cell(&shards[i].served);
        tb_add_tally(&counts->served, &served);
        for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
            counts->host_reasons[reason] += TB_LOAD(&shards[i].host_reasons[reason]);
    }
}

static void reset_cell(cell *cell)
{
    TB_STORE(&cell->calls, 0);
    TB_STORE(&cell->flop, 0);
    TB_STORE(&cell->seconds, 0);
    TB_STORE(&cell->link_bytes, 0);
    TB_STORE(&cell->won_seconds, 0);
}

void tb_reset_counts(void)
{
    for (int i = 0; i < SHARD_COUNT; i++) {
        for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
            for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
                for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
                    reset_cell(&shards[i].cells[routine][route][shape]);
        reset_cell(&shards[i].served);
        for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
            TB_STORE(&shards[i].host_reasons[reason], 0);
    }
}

tb_tally tb_route_tally(const tb_counts *counts, tb_route route)
{
    tb_tally sum = {0};
    for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
        tb_add_tally(&sum, &counts->tallies[route][shape]);
    return sum;
}
