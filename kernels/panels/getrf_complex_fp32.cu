/* getrf_complex_fp32: GETRF's panels of complex numbers in single precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(c, panels::complex<float>)
