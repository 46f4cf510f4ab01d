/* naive: one thread per element of C, neighbouring threads along m, where C and an untransposed A are
 * contiguous. No staging and no demand on alignment: for products too small to fill a tile.
 *
 *        n 8
 *      +-----+     block 256 threads as 32 x 8, thread (x, y) -> C[m0 + x, n0 + y]
 *   m  |     |     k     one fused multiply-add a step, operands straight from L1/L2
 *  32  |     |
 *      +-----+
 */
#include "kernels/gemm.cuh"
#include "kernels/mask.h"

namespace
{

constexpr int tile_m = 32, tile_n = 8;

template <bool transpose_a, bool transpose_b> __device__ void naive(const tb_sgemm &problem)
{
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int64_t i = tile.m + threadIdx.x % tile_m, j = tile.n + threadIdx.x / tile_m;
    if (i >= problem.m || j >= problem.n ||
        !tb_mask_has(problem.mask, problem.mask_step, problem.diagonal, i, j))
        return;
    const float *a = problem.a + (transpose_a ? i * problem.lda : i);
    const float *b = problem.b + (transpose_b ? j : j * problem.ldb);
    const int64_t step_a = transpose_a ? 1 : problem.lda, step_b = transpose_b ? problem.ldb : 1;
    float sum = 0;
#pragma unroll 4
    for (int64_t l = 0; l < problem.k; l++, a += step_a, b += step_b)
        sum = fmaf(*a, *b, sum);
    float *c = problem.c + i + j * problem.ldc;
    *c = tb::combine(problem, sum, c);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(naive, naive, tile_m *tile_n, 1)
