/* Launching sgemm_bf16x6_sm80. */
#ifndef TB_LAUNCH_SPLIT_SM80_H
#define TB_LAUNCH_SPLIT_SM80_H

#include "kernels/tensor/launch_tensor.h"
#include "kernels/tensor/split_sm80.h"

/* Position in the entries of its row, behind the passes before the product. */
enum { TB_SPLIT_SM80_MULTIPLY = TB_SPLIT_SPLIT + 1 };

/* The catalog's callbacks. */
TB_DECLARE_CALLBACKS(split_sm80);

#endif
