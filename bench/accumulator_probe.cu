/* accumulator_probe: one wgmma m64n8k16 a block, D = A * B + C, on whatever bits it is given. A is [64][16], B
 * [8][16], both k-contiguous BF16; C and D are [64][8]. For bench/accumulator.c.
 */
#include "bench/accumulator.h"
#include "kernels/tensor/ptx.cuh"
#include "kernels/tensor/wgmma.cuh"

/* 8 rows x 8 steps of k, 128 bytes in one piece. */
constexpr int core = 8, core_bytes = core * core * 2;

/* Core matrices of the same rows lie [k] apart, those of the same k next to each other. */
__device__ inline int core_index(int rows, int row, int k)
{
    return k / core * rows * core + row * core + k % core;
}

extern "C" __global__ void __launch_bounds__(128)
    accumulator_probe(const __grid_constant__ bench_probe_arguments arguments)
{
    __shared__ __align__(128) uint16_t a[BENCH_PROBE_M * BENCH_PROBE_K], b[BENCH_PROBE_N * BENCH_PROBE_K];
    const int64_t block = blockIdx.x;
    const int thread = threadIdx.x;
    for (int i = thread; i < BENCH_PROBE_M * BENCH_PROBE_K; i += 128)
        a[core_index(BENCH_PROBE_M, i / BENCH_PROBE_K, i % BENCH_PROBE_K)] =
            arguments.a[block * BENCH_PROBE_M * BENCH_PROBE_K + i];
    b[core_index(BENCH_PROBE_N, thread / BENCH_PROBE_K, thread % BENCH_PROBE_K)] =
        arguments.b[block * BENCH_PROBE_N * BENCH_PROBE_K + thread];

    float sum[4];
    const int64_t first = block * BENCH_PROBE_M * BENCH_PROBE_N;
    const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    for (int i = 0; i < 4; i++)
        sum[i] = arguments.c[first + (row + i / 2 * 8) * BENCH_PROBE_N + column + i % 2];
    ptx::fence_proxy_async();
    __syncthreads();
    const uint64_t descriptor_a =
        ptx::wgmma_descriptor(ptx::shared_address(a), BENCH_PROBE_M * core * 2, core_bytes);
    const uint64_t descriptor_b =
        ptx::wgmma_descriptor(ptx::shared_address(b), BENCH_PROBE_N * core * 2, core_bytes);
    ptx::wgmma_fence();
    ptx::wgmma<8, __nv_bfloat16>::multiply(sum, descriptor_a, descriptor_b, 1);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    for (int i = 0; i < 4; i++)
        arguments.d[first + (row + i / 2 * 8) * BENCH_PROBE_N + column + i % 2] = sum[i];
}
