/* geqrf_complex_fp64: GEQRF's panels of complex numbers in double precision. */
#include "kernels/panels/geqrf.cuh"

TB_GEQRF_STAMP(z, panels::complex<double>)
