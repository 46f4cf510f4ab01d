/* triangular_fp64: triangular products and solves of double precision, real and complex. */
#include "kernels/triangular/triangular.cuh"

TB_TRIANGULAR_STAMP(triangular_fp64_multiply, double, 1, false)
TB_TRIANGULAR_STAMP(triangular_fp64_solve, double, 1, true)
TB_TRIANGULAR_STAMP(triangular_fp64_complex_multiply, double, 2, false)
TB_TRIANGULAR_STAMP(triangular_fp64_complex_solve, double, 2, true)
