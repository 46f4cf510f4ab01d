/* geqrf_complex_fp32: GEQRF's panels of complex numbers in single precision. */
#include "kernels/panels/geqrf.cuh"

TB_GEQRF_STAMP(c, panels::complex<float>)
