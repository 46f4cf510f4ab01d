/* getrf_fp32: GETRF's panels in single precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(s, _4, float, 4, false)
TB_GETRF_STAMP(s, _8, float, 8, false)
#if __CUDA_ARCH__ >= 1200
TB_GETRF_STAMP(s, _deep, float, TB_GETRF_ROWS_FP32_SM120, true)
#else
TB_GETRF_STAMP(s, _deep, float, TB_GETRF_ROWS_FP32, true)
#endif
