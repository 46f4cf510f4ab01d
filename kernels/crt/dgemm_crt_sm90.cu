/* dgemm_crt_sm90: on Hopper's tensor cores. */
#include "kernels/crt/launches.cuh"
#include "kernels/crt/product_sm90.cuh"

TB_CRT_STAMP(dgemm_crt_sm90, TB_CRT_SM90_TILE_N)

extern "C" __global__ void __cluster_dims__(TB_CRT_SM90_CLUSTER, 1, 1)
    __launch_bounds__(TB_CRT_SM90_THREADS, 1)
        dgemm_crt_sm90_multiply(const __grid_constant__ tb_crt_arguments arguments)
{
    dependent_launch::launch_dependents_and_wait();
    crt_sm90::multiply<1>(arguments);
}

extern "C" __global__ void __cluster_dims__(TB_CRT_SM90_CLUSTER, 1, 1)
    __launch_bounds__(TB_CRT_SM90_THREADS, 1)
        dgemm_crt_sm90_multiply_pairs(const __grid_constant__ tb_crt_arguments arguments)
{
    dependent_launch::launch_dependents_and_wait();
    crt_sm90::multiply<TB_CRT_SETS>(arguments);
}
