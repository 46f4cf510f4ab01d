/* sgemm_structured, dgemm_structured, cgemm_structured and zgemm_structured. */
#include "kernels/structured/structured.cuh"

TB_STRUCTURED_STAMP(sgemm_structured, float, 1)
TB_STRUCTURED_STAMP(dgemm_structured, double, 1)
TB_STRUCTURED_STAMP(cgemm_structured, float, 2)
TB_STRUCTURED_STAMP(zgemm_structured, double, 2)
