/* trmm_mend: what a triangular product leaves to be mended, of every element. */
#include "kernels/triangular/mend.cuh"

TB_MEND_STAMP(strmm_mend, float, 1)
TB_MEND_STAMP(dtrmm_mend, double, 1)
TB_MEND_STAMP(ctrmm_mend, float, 2)
TB_MEND_STAMP(ztrmm_mend, double, 2)
