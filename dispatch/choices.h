/* Choices of rows that are remembered (tb_choices, dispatch/plan.h). Programs call again and again with a few shapes: all rows are
 * asked for their forecasts, which takes longer than launching one of them, only at the first call of each.
 */
#ifndef TB_CHOICES_H
#define TB_CHOICES_H

#include "dispatch/plan.h"
#include "dispatch/schedule.h"

/* The row that was chosen for the question before, by what the facts bring; NULL: nobody knows. A question is the hash of all that
 * the answer depends on. Whether the row can serve is for the caller to see. */
const tb_kernel *tb_recall_choice(const tb_facts *facts, uint64_t question);

/* Adds what was chosen anew to the facts' list, if there is one. */
void tb_tell_choice(const tb_facts *facts, uint64_t question, const tb_kernel *kernel);

/* tb_make_schedule, which remembers the rows of a sequence's steps. */
static inline tb_schedule tb_make_schedule_remembering(const tb_kernel *kernel, const tb_product *product,
                                                       tb_target target, const tb_facts *facts)
{
    return kernel->sequence == TB_NO_SEQUENCE ? tb_prepare(kernel, product, target)
                                              : tb_schedule_sequence(kernel, product, target, facts);
}

#endif
