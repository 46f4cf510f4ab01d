/* triangular_fp32: triangular products and solves of single precision, real and complex. */
#include "kernels/triangular/triangular.cuh"

TB_TRIANGULAR_STAMP(triangular_fp32_multiply, float, 1, false)
TB_TRIANGULAR_STAMP(triangular_fp32_solve, float, 1, true)
TB_TRIANGULAR_STAMP(triangular_fp32_complex_multiply, float, 2, false)
TB_TRIANGULAR_STAMP(triangular_fp32_complex_solve, float, 2, true)
