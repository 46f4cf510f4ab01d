/* triangular_fp64: triangular products and solves of double precision, real and complex. */
#include "kernels/triangular/triangular.cuh"

TB_TRIANGULAR_STAMP(dtrmm_block, double, 1, false)
TB_TRIANGULAR_STAMP(dtrsm_block, double, 1, true)
TB_TRIANGULAR_STAMP(ztrmm_block, double, 2, false)
TB_TRIANGULAR_STAMP(ztrsm_block, double, 2, true)
