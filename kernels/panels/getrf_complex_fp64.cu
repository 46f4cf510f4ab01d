/* getrf_complex_fp64: GETRF's panels of complex numbers in double precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(z, _4, panels::complex<double>, 4, false)
