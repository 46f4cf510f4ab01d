/* Linked into tests in front of tb_run_streamed, tb_open_side and tb_close_side: a side that opens waits until
 * the other one has opened, or closed without that. So an exchange does not depend on how fast threads start.
 * Only where the test says that it is so.
 */
#include "tests/sim/side_by_side.h"

#include "lib/call/run.h"
#include "lib/streaming/exchange.h"

#include <stdatomic.h>
#include <unistd.h>

tb_outcome __real_tb_run_streamed(tb_task, const tb_plan *, const tb_host *, double *);
tb_outcome __wrap_tb_run_streamed(tb_task, const tb_plan *, const tb_host *, double *);
void __real_tb_open_side(tb_side *side);
void __wrap_tb_open_side(tb_side *side);
void __real_tb_close_side(tb_side *side);
void __wrap_tb_close_side(tb_side *side);

bool sides_wait;
static atomic_int here; /* a bit for each side */

tb_outcome __wrap_tb_run_streamed(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    atomic_store(&here, 0);
    return __real_tb_run_streamed(task, plan, host, seconds);
}

void __wrap_tb_open_side(tb_side *side)
{
    __real_tb_open_side(side);
    if (!side || !sides_wait)
        return;
    atomic_fetch_or(&here, 1 << side->number);
    while (atomic_load(&here) != 3)
        usleep(20);
}

void __wrap_tb_close_side(tb_side *side)
{
    if (side && sides_wait)
        atomic_fetch_or(&here, 1 << side->number);
    __real_tb_close_side(side);
}
