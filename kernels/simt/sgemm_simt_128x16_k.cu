/* sgemm_simt_128x16_k: for C of few columns where A is contiguous along k: 128 bytes of a row at a time, as a slice is
 * 32 steps deep.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x16_k = simt::shape<128, 16, 64, 4, 4, 8, 2, 4, 1>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x16_k, shape_128x16_k)
