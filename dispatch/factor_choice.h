/* Which way a factorization goes. */
#ifndef TB_FACTOR_CHOICE_H
#define TB_FACTOR_CHOICE_H

#include "dispatch/plan.h"
#include "words/factor.h"

/* As tb_decide, of a factorization, whose matrix is the first of the facts' places. The plan's block is how many
 * columns are finished at a time. */
tb_plan tb_decide_factor(const tb_factor *factor, const tb_facts *facts);

#endif
