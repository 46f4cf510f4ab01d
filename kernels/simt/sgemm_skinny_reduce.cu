/* sgemm_skinny_reduce: the second pass of sgemm_skinny. */
#include "kernels/simt/skinny_reduce.cuh"

TB_SKINNY_STAMP_REDUCE(sgemm_skinny_reduce, float)
