/* One way to execute a plan per file: run_host.c, run_resident.c, run_streamed.c, run_factor.c. Each answers TB_DONE, or
 * TB_DECLINED with C, or the matrix that is factored, as the caller left it.
 */
#ifndef TB_RUN_H
#define TB_RUN_H

#include "dispatch/plan.h"
#include "lib/call/host.h"

/* *seconds is the time that the work itself took, without waiting for other calls; left alone where that is
 * all of the time. */
typedef tb_outcome tb_runner(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds);

/* Those that run products, and those that run factorizations. */
tb_runner tb_run_host, tb_run_resident, tb_run_streamed;
tb_runner tb_run_factor_on_host, tb_run_factor;

/* Whether matrices lie where the host cannot reach them; then it has been said. */
bool tb_is_left_undone(tb_task task, const tb_plan *plan);

#endif
