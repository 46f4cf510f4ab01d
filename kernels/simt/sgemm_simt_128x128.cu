/* sgemm_simt_128x128: the middle of the family, two blocks on a multiprocessor, so that one computes while
 * the other starts or ends.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x128 = simt::shape<128, 128, 16, 8, 8, 8, 1, 3, 2, simt::words::both_along_k, 3>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x128, shape_128x128)
