/* One way to execute a plan per file: run_host.c, run_resident.c, run_streamed.c. Each answers TB_DONE, or
 * TB_DECLINED with C as the caller left it.
 */
#ifndef TB_RUN_H
#define TB_RUN_H

#include "dispatch/plan.h"
#include "lib/call/host.h"

/* *seconds is the time that the work itself took, without waiting for other calls; left alone where that is
 * all of the time. */
typedef tb_outcome tb_runner(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds);

/* The latter two run products. */
tb_runner tb_run_host, tb_run_resident, tb_run_streamed;

#endif
