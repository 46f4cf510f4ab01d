/* sgemm_simt_128x16_2: for C of few columns, where reading A is what takes the time: two slices of k in a block, and
 * as much of A in flight as shared memory holds.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x16_2 = simt::shape<128, 16, 32, 8, 4, 8, 2, 4, 2>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x16_2, shape_128x16_2)
