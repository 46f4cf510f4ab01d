/* Which kernels have been chosen, for the last thousand or so different questions. Asking all rows for their
 * forecasts takes longer than launching one of them.
 */
#ifndef TB_CHOICES_H
#define TB_CHOICES_H

#include "dispatch/plan.h"

/* One memory for all threads. Two questions with the same 56 bits of hash get the same answer. */
extern const tb_choice_memory tb_choices;

#endif
