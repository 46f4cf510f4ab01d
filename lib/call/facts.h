/* Facts: the only impure step before a decision. */
#ifndef TB_FACTS_H
#define TB_FACTS_H

#include "dispatch/plan.h"
#include "words/task.h"

/* What the machine is, what the options force, what has been learned; its matrices have been located
 * (lib/call/residency.h). Waits for nothing. */
void tb_gather_facts(tb_task task, tb_facts *facts);

#endif
