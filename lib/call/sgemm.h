/* The way into the runtime: compat/ forwards small calls whose operands are seen to be the host's (residency.h), or of which
 * tb_stays_on_host says so (small.h), and calls tb_sgemm with regular problems.
 */
#ifndef TB_SGEMM_H
#define TB_SGEMM_H

#include "lib/call/host.h"
#include "lib/call/small.h"
#include "words/problem.h"

/* Computes the product. The problem's arguments are regular, which compat/arguments.h has checked. */
void tb_sgemm(const tb_problem *problem, const tb_host *host);

#endif
