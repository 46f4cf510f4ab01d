/* sgemm_simt_128x64_2: two slices of k in a block, for fewer tiles than multiprocessors.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x64_2 = simt::shape<128, 64, 32, 8, 8, 8, 2, 3, 1>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x64_2, shape_128x64_2)
