/* Products and factorizations that a program computes again and again: what each way took of this very one, for the last
 * thousand or so different ones. That is a better forecast than any model of the machine.
 */
#ifndef TB_REPEATED_H
#define TB_REPEATED_H

#include "dispatch/plan.h"
#include "words/task.h"

/* Fills facts->repeated, and the machine's ratios where both have been learned from this task; its matrices
 * have been located, and the ratios filled from its class. */
void tb_recall_repeated(tb_task task, tb_facts *facts);

/* The call took so many seconds. facts are those of its decision; calls whose way was forced teach nothing. */
void tb_learn_repeated(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds);

#endif
