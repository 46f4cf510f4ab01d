/* getrf_fp32: GETRF's panels in single precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(s, float)
