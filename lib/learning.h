/* What calls really took, against what had been forecast, by class of shape. A forecast is multiplied by what has
 * been learned of its class; where nothing has, by what has been learned of the class nearest in size.
 */
#ifndef TB_LEARNING_H
#define TB_LEARNING_H

#include "dispatch/plan.h"

/* Fills facts->machine's ratios for this problem; the operands have been located. */
void tb_recall(const tb_problem *problem, tb_facts *facts);

/* A call that the host answered, or that was streamed, took so many seconds. facts are those of its decision. */
void tb_learn_host(const tb_problem *problem, const tb_facts *facts, double seconds);
void tb_learn_streamed(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds);

#endif
