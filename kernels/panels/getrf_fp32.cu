/* getrf_fp32: GETRF's panels in single precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(s, _4, float, 4, false)
TB_GETRF_STAMP(s, _8, float, 8, false)
TB_GETRF_STAMP(s, _deep, float, TB_GETRF_ROWS_FP32, true)
