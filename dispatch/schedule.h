/* How a row of the catalog would compute a product: the schedule, whichever row it is. */
#ifndef TB_SCHEDULE_H
#define TB_SCHEDULE_H

#include "kernels/kernel.h"

/* A kernel's own (tb_prepare); of a sequence (sequences/sequence.h) how finely it is cut, and the rows that compute its products.
 * Nothing is left to be chosen when it is launched. */
tb_schedule tb_make_schedule(const tb_kernel *kernel, const tb_product *product, tb_target target);

#endif
