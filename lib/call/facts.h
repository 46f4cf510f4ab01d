/* Facts: the only impure step before a decision. */
#ifndef TB_FACTS_H
#define TB_FACTS_H

#include "dispatch/plan.h"

/* What the machine is, what the options force, what has been learned; the operands have been located
 * (lib/call/residency.h). Waits for nothing. */
void tb_gather_facts(const tb_product *product, tb_facts *facts);

#endif
