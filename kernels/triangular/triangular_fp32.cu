/* triangular_fp32: triangular products and solves of single precision, real and complex. */
#include "kernels/triangular/triangular.cuh"

TB_TRIANGULAR_STAMP(strmm_block, float, 1, false)
TB_TRIANGULAR_STAMP(strsm_block, float, 1, true)
TB_TRIANGULAR_STAMP(ctrmm_block, float, 2, false)
TB_TRIANGULAR_STAMP(ctrsm_block, float, 2, true)
