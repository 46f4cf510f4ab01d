/* Facts: the only impure step before a decision; and the decision, with what is kept around it. */
#ifndef TB_FACTS_H
#define TB_FACTS_H

#include "dispatch/plan.h"
#include "words/task.h"

/* What the machine is, what the options force, what has been learned; its matrices have been located
 * (lib/call/residency.h). Waits for nothing. */
void tb_gather_facts(tb_task task, tb_facts *facts);

/* Decides by the kernels that any thread has chosen before, for the last thousand or so different questions, and keeps what is chosen
 * anew. */
tb_plan tb_decide_remembering(tb_task task, tb_facts *facts);

#endif
