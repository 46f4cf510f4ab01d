/* triangular_fp32: triangular products and solves of single precision, real and complex. */
#include "kernels/triangular/solve.cuh"
#include "kernels/triangular/triangular.cuh"

TB_MULTIPLY_STAMP(strmm_block, float, 1)
TB_SOLVE_STAMP(strsm_block, float, 1)
TB_MULTIPLY_STAMP(ctrmm_block, float, 2)
TB_SOLVE_STAMP(ctrsm_block, float, 2)
