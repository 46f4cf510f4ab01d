/* sgemm_simt_128x64_4: four slices of k in a block of 512 threads, which fills a multiprocessor with a single small tile:
 * for C of about as many such tiles as there are multiprocessors.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x64_4 = simt::shape<128, 64, 64, 8, 8, 8, 4, 3, 1, simt::words::a_along_k>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x64_4, shape_128x64_4)
