/* dgemm_mma_64x64_3: one shape of dgemm_mma. Its row is in kernels/fp64/shapes.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALL(dgemm_mma_64x64_3, fp64::shape_64x64_3)
