/* dgemm_skinny: the skinny family for doubles. */
#include "kernels/simt/skinny.cuh"

TB_SKINNY_STAMP_ALL(dgemm_skinny, double, 1)
TB_SKINNY_STAMP_ALL(dgemm_skinny, double, 2)
TB_SKINNY_STAMP_ALL(dgemm_skinny, double, 4)
TB_SKINNY_STAMP_ALL(dgemm_skinny, double, 8)
