/* getrf_complex_fp32: GETRF's panels of complex numbers in single precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(c, _4, panels::complex<float>, 4, false)
TB_GETRF_STAMP(c, _8, panels::complex<float>, 8, false)
TB_GETRF_STAMP(c, _deep, panels::complex<float>, TB_GETRF_ROWS_COMPLEX_FP32, true)
