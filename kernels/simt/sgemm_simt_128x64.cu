/* sgemm_simt_128x64: for narrow C, and where larger tiles would cover much that C does not have.
 */
#include "kernels/simt/sgemm_simt.cuh"

using shape_128x64 = simt::shape<128, 64, 16, 8, 8, 8, 1, 4, 3, simt::words::always>;

TB_SIMT_STAMP_ALL(sgemm_simt_128x64, shape_128x64)
