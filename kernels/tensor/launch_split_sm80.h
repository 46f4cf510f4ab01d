/* Launching sgemm_bf16x6_sm80. */
#ifndef TB_LAUNCH_SPLIT_SM80_H
#define TB_LAUNCH_SPLIT_SM80_H

#include "kernels/tensor/launch_tensor.h"
#include "kernels/tensor/split_sm80.h"

/* Position in the entries of its row, behind the passes before the product. */
enum { TB_SPLIT_SM80_MULTIPLY = TB_SPLIT_SPLIT + 1 };

/* The catalog's callbacks. */
void tb_split_sm80_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                           tb_schedule *schedule);
tb_status tb_launch_split_sm80(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace);

#endif
