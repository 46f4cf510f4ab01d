/* dgemm_crt_sm80: by mma.sync, which all chips from 8.0 on have. */
#include "kernels/crt/launches.cuh"
#include "kernels/crt/product_sm80.cuh"

TB_CRT_STAMP(dgemm_crt_sm80, TB_CRT_SM80_TILE_N)

extern "C" __global__ void __launch_bounds__(TB_CRT_CONSUMERS, 2)
    dgemm_crt_sm80_multiply(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    crt_sm80::multiply<1>(arguments);
}

extern "C" __global__ void __launch_bounds__(TB_CRT_CONSUMERS, 2)
    dgemm_crt_sm80_multiply_pairs(const __grid_constant__ tb_crt_arguments arguments)
{
    turn::take_together();
    crt_sm80::multiply<TB_CRT_SETS>(arguments);
}
