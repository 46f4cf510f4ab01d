/* sgemm_skinny: the skinny family for floats. */
#include "kernels/simt/skinny.cuh"

TB_SKINNY_STAMP_ALL(sgemm_skinny, float, 1)
TB_SKINNY_STAMP_ALL(sgemm_skinny, float, 2)
TB_SKINNY_STAMP_ALL(sgemm_skinny, float, 4)
TB_SKINNY_STAMP_ALL(sgemm_skinny, float, 8)
TB_SKINNY_STAMP_ALL(sgemm_skinny, float, 16)
