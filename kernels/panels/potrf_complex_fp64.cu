/* potrf_complex_fp64: POTRF's diagonal blocks of complex numbers in double precision. */
#include "kernels/panels/potrf.cuh"

TB_POTRF_STAMP(zpotrf_panel, panels::complex<double>)
