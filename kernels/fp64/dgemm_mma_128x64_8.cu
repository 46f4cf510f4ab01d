/* dgemm_mma_128x64_8: one shape of dgemm_mma. Its row is in kernels/fp64/shapes.def. */
#include "kernels/fp64/dgemm_mma.cuh"

TB_DGEMM_STAMP_ALL(dgemm_mma_128x64_8, fp64::shape_128x64_8)
