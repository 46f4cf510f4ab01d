/* dgemm_naive: naive in double precision, one thread per element of C, for operands that lie anywhere.
 *
 *        n 8
 *      +-----+     block 256 threads as 32 x 8, thread (x, y) -> C[m0 + x, n0 + y]
 *   m  |     |     k     one fused multiply-add a step, operands straight from L1/L2
 *  32  |     |     in chains, each summed by itself: a sum of 512 products is added to the total
 *      +-----+
 *
 * Blocks take tiles down the columns of C, so that those in flight share panels of B, and of A where C is short.
 */
#include "kernels/dgemm.h"
#include "kernels/mask.h"

namespace
{

constexpr int tile_m = 32, tile_n = 8, threads = tile_m * tile_n, chain = 512;

template <bool transpose_a, bool transpose_b> __device__ void multiply(const tb_dgemm &problem)
{
    const unsigned tiles_m = unsigned((problem.m + tile_m - 1) / tile_m);
    const int64_t i = int64_t(blockIdx.x % tiles_m) * tile_m + threadIdx.x % tile_m;
    const int64_t j = int64_t(blockIdx.x / tiles_m) * tile_n + threadIdx.x / tile_m;
    if (i >= problem.m || j >= problem.n || (problem.unless && *problem.unless != 0) ||
        !tb_mask_has(problem.mask, problem.mask_step, problem.diagonal, i, j))
        return;
    const double *a = problem.a + (transpose_a ? i * problem.lda : i);
    const double *b = problem.b + (transpose_b ? j : j * problem.ldb);
    const int64_t step_a = transpose_a ? 1 : problem.lda, step_b = transpose_b ? problem.ldb : 1;
    double total = 0;
    for (int64_t left = problem.k; left > 0; left -= chain) {
        double sum = 0;
#pragma unroll 4
        for (int l = int(min(left, int64_t(chain))); l > 0; l--, a += step_a, b += step_b)
            sum = fma(*a, *b, sum);
        total += sum;
    }
    double *c = problem.c + i + j * problem.ldc;
    const double product = problem.alpha * total;
    *c = problem.beta == 0 ? product : fma(problem.beta, *c, product); /* beta = 0: C is not read */
}

} // namespace

#define STAMP(symbol, transpose_a, transpose_b)                                                              \
    extern "C" __global__ void __launch_bounds__(threads) symbol(const __grid_constant__ tb_dgemm problem)   \
    {                                                                                                        \
        multiply<transpose_a, transpose_b>(problem);                                                         \
    }

STAMP(dgemm_naive_nn, false, false)
STAMP(dgemm_naive_nt, false, true)
STAMP(dgemm_naive_tn, true, false)
STAMP(dgemm_naive_tt, true, true)
