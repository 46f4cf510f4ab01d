/* sgemm_simt_16x128: for C of few rows, where reading B is what takes the time.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_16x128 = simt::shape<16, 128, 32, 4, 8, 4, 3, 3>;

TB_SIMT_STAMP_ALL(sgemm_simt_16x128, shape_16x128)
