/* Which kernels have been chosen, for the last thousand or so different questions. Programs call again and again with a few shapes,
 * and asking all rows for their forecasts takes longer than launching one of them.
 */
#ifndef TB_CHOICES_H
#define TB_CHOICES_H

#include "dispatch/plan.h"

/* Fills facts->suggested; the facts are complete otherwise. Two questions with the same 56 bits of hash get the same answer. */
void tb_recall_choice(const tb_product *product, tb_facts *facts);

/* The plan was decided upon with these facts. */
void tb_keep_choice(const tb_product *product, const tb_facts *facts, const tb_plan *plan);

#endif
