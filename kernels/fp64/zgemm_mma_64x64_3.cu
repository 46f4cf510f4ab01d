/* zgemm_mma_64x64_3: one shape of dgemm_mma for complex numbers. Its row is in kernels/fp64/shapes_complex.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALIGNED(zgemm_mma_64x64_3, fp64::shape_complex_64x64_3)
