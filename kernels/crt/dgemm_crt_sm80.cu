/* dgemm_crt_sm80: by mma.sync, which all chips from 8.0 on have. */
#include "kernels/crt/launches.cuh"
#include "kernels/crt/product_mma.cuh"

TB_CRT_STAMP_MMA(dgemm_crt_sm80, TB_CRT_SM80_STAGES)
