/* The launch function of the kernels that read operands as they lie. */
#ifndef TB_LAUNCH_STRUCTURED_H
#define TB_LAUNCH_STRUCTURED_H

#include "kernels/kernel.h"

tb_status tb_launch_structured(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace);

#endif
