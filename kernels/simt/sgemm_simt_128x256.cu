/* sgemm_simt_128x256: the most arithmetic for every shared-memory read, 16 x 8 of C a thread. One block
 * fills a multiprocessor's registers; for products with at least as many tiles as multiprocessors.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x256 = simt::shape<128, 256, 16, 16, 8, 4, 1, 3, 1, simt::words::both_along_k>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x256, shape_128x256)
