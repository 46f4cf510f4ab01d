/* zgemm_mma_128x128: one shape of dgemm_mma for complex numbers. Its row is in kernels/fp64/shapes_complex.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALIGNED(zgemm_mma_128x128, fp64::shape_complex_128x128)
