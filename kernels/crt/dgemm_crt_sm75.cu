/* dgemm_crt_sm75: by the mma.sync of Turing. It is compiled for 7.5 alone; later chips that are told to take
 * it run its PTX, and so the same code.
 */
#include "kernels/crt/launches.cuh"
#include "kernels/crt/product_mma.cuh"

TB_CRT_STAMP_MMA(dgemm_crt_sm75, TB_CRT_SM75_STAGES)
