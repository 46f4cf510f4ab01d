/* Facts: the only impure step before a decision. */
#ifndef TB_FACTS_H
#define TB_FACTS_H

#include "dispatch/plan.h"

/* Where the operands lie, what the machine is, what the options force. Waits for nothing. */
void tb_gather_facts(const tb_problem *problem, tb_facts *facts);

#endif
