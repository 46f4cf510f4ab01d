/* sgemm_simt_32x32_4: the smallest tile, four slices of k in a block, each of a single warp: for products that take
 * little longer than their launch.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_32x32_4 = simt::shape<32, 32, 64, 4, 8, 8, 4, 3, 3>;

TB_SIMT_STAMP_ALL(sgemm_simt_32x32_4, shape_32x32_4)
