/* sgemm_simt_128x64: for products whose larger tiles would leave multiprocessors idle.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x64 = simt::shape<128, 64, 16, 8, 8, 4, 3, 4>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x64, shape_128x64)
