/* sgemm_simt_64x64: two warps a block, many blocks a multiprocessor; for small products and, with k split,
 * for small C with long k.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_64x64 = simt::shape<64, 64, 16, 8, 8, 4, 3, 8>;

TB_SIMT_STAMP_ALL(sgemm_simt_64x64, shape_64x64)
