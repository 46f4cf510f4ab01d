/* potrf_fp64: POTRF's diagonal blocks in double precision. */
#include "kernels/panels/potrf.cuh"

TB_POTRF_STAMP(dpotrf_panel, double)
