/* sgemm_simt_128x16: for C of few columns, where reading A is what takes the time.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x16 = simt::shape<128, 16, 32, 8, 4, 8, 3, 3>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x16, shape_128x16)
