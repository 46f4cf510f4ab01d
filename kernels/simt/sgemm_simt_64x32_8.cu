/* sgemm_simt_64x32_8: eight slices of k in a block, each of a single warp; for C around 500 x 500.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_64x32_8 = simt::shape<64, 32, 64, 8, 8, 8, 8, 3, 1>;

TB_SIMT_STAMP_ALL(sgemm_simt_64x32_8, shape_64x32_8)
