/* Schedules are made here alone, for every kernel and whoever launches it. */
#ifndef TB_SCHEDULE_H
#define TB_SCHEDULE_H

#include "kernels/kernel.h"

/* How the kernel would compute the product on such a device. */
tb_schedule tb_make_schedule(const tb_kernel *kernel, const tb_product *product, tb_target target);

#endif
