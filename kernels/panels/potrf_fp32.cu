/* potrf_fp32: POTRF's diagonal blocks in single precision. */
#include "kernels/panels/potrf.cuh"

TB_POTRF_STAMP(spotrf_panel, float)
