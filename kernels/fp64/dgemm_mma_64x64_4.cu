/* dgemm_mma_64x64_4: one shape of dgemm_mma. Its row is in kernels/fp64/shapes.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALIGNED(dgemm_mma_64x64_4, fp64::shape_64x64_4)
