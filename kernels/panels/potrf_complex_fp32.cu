/* potrf_complex_fp32: POTRF's diagonal blocks of complex numbers in single precision. */
#include "kernels/panels/potrf.cuh"

TB_POTRF_STAMP(cpotrf_panel, panels::complex<float>)
