/* dgemm_skinny_reduce: the second pass of dgemm_skinny. */
#include "kernels/simt/skinny_reduce.cuh"

TB_SKINNY_STAMP_REDUCE(dgemm_skinny_reduce, double)
