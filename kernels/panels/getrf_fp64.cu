/* getrf_fp64: GETRF's panels in double precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(d, double)
