/* sgemm_simt_64x64_4: four slices of k in a block; for C around 640 x 640, and with k dealt to blocks for small C
 * with long k.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_64x64_4 = simt::shape<64, 64, 64, 8, 8, 8, 4, 3, 1>;

TB_SIMT_STAMP_ALL(sgemm_simt_64x64_4, shape_64x64_4)
