/* Where the operands of a problem lie. */
#ifndef TB_RESIDENCY_H
#define TB_RESIDENCY_H

#include "dispatch/plan.h"

/* Fills facts->a, b and c. Asks the driver only when something in this process has loaded it: otherwise
 * there is no device memory. Operands that will not be read (k = 0) count as lying in host memory. */
void tb_locate_operands(const tb_problem *problem, tb_facts *facts);

#endif
