/* How a row of the catalog would compute a product: the schedule, whichever row it is. */
#ifndef TB_SCHEDULE_H
#define TB_SCHEDULE_H

#include "kernels/kernel.h"

#include <stddef.h>

/* Of a sequence (sequences/sequence.h): how finely it is cut, and the rows that compute its products. Those of facts are remembered
 * (dispatch/choices.h); NULL: none are. */
struct tb_facts;
tb_schedule tb_schedule_sequence(const tb_kernel *kernel, const tb_product *product, tb_target target,
                                 const struct tb_facts *facts);

/* Nothing is left to be chosen when it is launched. */
static inline tb_schedule tb_make_schedule(const tb_kernel *kernel, const tb_product *product,
                                           tb_target target)
{
    return kernel->sequence == TB_NO_SEQUENCE ? tb_prepare(kernel, product, target)
                                              : tb_schedule_sequence(kernel, product, target, NULL);
}

#endif
