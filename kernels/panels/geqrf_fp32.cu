/* geqrf_fp32: GEQRF's panels in single precision. */
#include "kernels/panels/geqrf.cuh"

TB_GEQRF_STAMP(s, float)
