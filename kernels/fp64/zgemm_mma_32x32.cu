/* zgemm_mma_32x32: one shape of dgemm_mma for complex numbers. Its row is in kernels/fp64/shapes_complex.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALIGNED(zgemm_mma_32x32, fp64::shape_complex_32x32)
