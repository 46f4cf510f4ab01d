/* sgemm_simt_64x64_2: two slices of k in a block; for C around 1000 x 1000.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_64x64_2 = simt::shape<64, 64, 16, 8, 8, 8, 2, 3, 2>;

TB_SIMT_STAMP_ALL(sgemm_simt_64x64_2, shape_64x64_2)
