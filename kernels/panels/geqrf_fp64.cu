/* geqrf_fp64: GEQRF's panels in double precision. */
#include "kernels/panels/geqrf.cuh"

TB_GEQRF_STAMP(d, double)
