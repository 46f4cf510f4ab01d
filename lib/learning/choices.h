/* Which kernels have been chosen, for the last thousand or so different questions. */
#ifndef TB_CHOICES_H
#define TB_CHOICES_H

#include "dispatch/plan.h"

/* Decides by what any thread has chosen before, and keeps what is chosen anew. */
tb_plan tb_decide_remembering(const tb_product *product, tb_facts *facts);

#endif
