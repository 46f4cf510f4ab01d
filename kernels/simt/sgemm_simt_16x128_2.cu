/* sgemm_simt_16x128_2: for C of few rows, where reading B is what takes the time: two slices of k in a block, and as
 * much of B in flight as shared memory holds.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_16x128_2 = simt::shape<16, 128, 32, 4, 8, 4, 2, 4, 2>;

TB_SIMT_STAMP_ALL(sgemm_simt_16x128_2, shape_16x128_2)
