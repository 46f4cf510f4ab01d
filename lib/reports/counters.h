/* Counters of calls that many threads add to and nobody waits for. Each thread adds to a shard of its own, on
 * cache lines of its own; reading sums the shards. No lock, which a forked child could find taken, and no
 * memory to be had: shards are static, so a thread that ends leaves its counts behind. stats.c is the caller.
 *
 * A shape is a class of tasks of about the same fate.
 */
#ifndef TB_COUNTERS_H
#define TB_COUNTERS_H

#include "dispatch/plan.h"
#include "include/tileblas.h"
#include "words/task.h"

typedef enum tb_shape {
    TB_SHAPE_SMALL,  /* at most 80^3 multiply-adds: never worth a device */
    TB_SHAPE_SKINNY, /* larger, but an extent is under 128: little arithmetic for each byte moved */
    TB_SHAPE_MEDIUM, /* up to 1024^3 */
    TB_SHAPE_LARGE,  /* up to 8192^3 */
    TB_SHAPE_HUGE,
    TB_SHAPE_COUNT,
} tb_shape;

/* A batch has that of a member. */
tb_shape tb_shape_of(tb_task task);
const char *tb_shape_text(tb_shape shape);

/* What is added up; also one call's contribution. */
typedef tileblas_route_statistics tb_tally;

typedef struct tb_counts {
    tb_tally tallies[TB_ROUTE_COUNT][TB_SHAPE_COUNT];
    tb_tally routines[TB_ROUTINES][TB_ROUTE_COUNT]; /* the same calls */
    tb_tally served; /* those of them that another process's devices computed */
    unsigned long long host_reasons[TB_REASON_COUNT]; /* why calls went to the host */
} tb_counts;

void tb_count_call(tb_routine routine, tb_route route, tb_shape shape, tb_reason reason,
                   const tb_tally *call);

/* Of a call that has been counted: that another process's devices computed it. */
void tb_count_served(const tb_tally *call);

/* Sums over all threads that ever counted. Calls counted meanwhile may be in it in part. */
void tb_read_counts(tb_counts *counts);
void tb_reset_counts(void);

/* The sum over a route's shapes. */
tb_tally tb_route_tally(const tb_counts *counts, tb_route route);

void tb_add_tally(tb_tally *sum, const tb_tally *amount);

#endif
