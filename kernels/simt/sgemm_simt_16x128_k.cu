/* sgemm_simt_16x128_k: for C of few rows where B is contiguous along k: 128 bytes of a column at a time, as a slice is
 * 32 steps deep.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_16x128_k = simt::shape<16, 128, 64, 4, 4, 4, 2, 4, 1>;

TB_SIMT_STAMP_ALL(sgemm_simt_16x128_k, shape_16x128_k)
