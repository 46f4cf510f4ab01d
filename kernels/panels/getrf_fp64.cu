/* getrf_fp64: GETRF's panels in double precision. */
#include "kernels/panels/getrf.cuh"

TB_GETRF_STAMP(d, _4, double, 4, false)
TB_GETRF_STAMP(d, _8, double, 8, false)
TB_GETRF_STAMP(d, _deep, double, TB_GETRF_ROWS_FP64, true)
