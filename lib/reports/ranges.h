/* Ranges: while a profiler listens (Nsight Systems, by way of NVTX), each call that is looked at is a range of the
 * thread that makes it, named by routine, extents and route: "dgemm 4096x4096x4096 streamed". line.c opens them.
 *
 * A profiler is loaded by the first such call, from the path in NVTX_INJECTION64_PATH, which it has set itself. A build
 * without NVTX's headers, which are CUDA's, has no ranges.
 */
#ifndef TB_RANGES_H
#define TB_RANGES_H

#include "dispatch/plan.h"
#include "lib/process/leaving.h"
#include "words/task.h"

#include <stdatomic.h>

typedef enum tb_profiler_state {
    TB_PROFILER_ABSENT,
    TB_PROFILER_UNKNOWN, /* no call has looked for it */
    TB_PROFILER_LOADING, /* some call does */
    TB_PROFILER_LISTENS,
} tb_profiler_state;

extern _Atomic(int) tb_profiler;

typedef struct tb_call_range {
    tb_leaving leaving;
    bool is_open;
} tb_call_range;

/* Once a profiler may be there. Whether a range was opened. */
bool tb_open_range(tb_call_range *range, tb_task task, tb_route route);
void tb_close_range(tb_call_range *range);

static inline void tb_begin_range(tb_call_range *range, tb_task task, tb_route route)
{
    range->is_open = atomic_load_explicit(&tb_profiler, memory_order_relaxed) != TB_PROFILER_ABSENT &&
                     tb_open_range(range, task, route);
}

/* A caller that leaves in the middle ends its range by that. */
static inline void tb_end_range(tb_call_range *range)
{
    if (range->is_open)
        tb_close_range(range);
}

#endif
