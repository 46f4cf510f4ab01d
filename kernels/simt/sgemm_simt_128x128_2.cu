/* sgemm_simt_128x128_2: two slices of k in a block of 512 threads: what two blocks of sgemm_simt_128x128 do with two
 * tiles, this one does with one. For products of few tiles, whose steps are dealt to fewer blocks so.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x128_2 = simt::shape<128, 128, 32, 8, 8, 8, 2, 3, 1, simt::words::both_along_k, 3>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x128_2, shape_128x128_2)
