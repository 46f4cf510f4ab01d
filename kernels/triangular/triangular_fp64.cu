/* triangular_fp64: triangular products and solves of double precision, real and complex. */
#include "kernels/triangular/solve.cuh"
#include "kernels/triangular/triangular.cuh"

TB_MULTIPLY_STAMP(dtrmm_block, double, 1)
TB_SOLVE_STAMP(dtrsm_block, double, 1)
TB_MULTIPLY_STAMP(ztrmm_block, double, 2)
TB_SOLVE_STAMP(ztrsm_block, double, 2)
