/* shared_window: a window of 32 slides along k, so that any k fits in 8 KiB. Past the edges it is filled with
 * zeros, which add nothing and need no test later. Two barriers a step: nobody reads before all have written,
 * nobody overwrites before all have read.
 *
 *             k -->               n 32
 *         +----+----+---        +------+     block  1024 threads, thread (x, y) -> C[m0 + x, n0 + y]
 *   m 32  | 32 |    |           |  32  |     load   one element of each window, along its memory
 *         +----+----+---        +------+     k      32 a step
 *          window -->           |      |  k
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 32, tile_n = 32, tile_k = 32;

template <bool transpose_a, bool transpose_b> __device__ void ladder_shared_window(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k>(threadIdx.x);
    const int x = threadIdx.x % tile_m, y = threadIdx.x / tile_m;

    float sum = 0;
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        window_a(at_a.outer, at_a.k) = a.get(tile.m + at_a.outer, first + at_a.k);
        window_b(at_b.outer, at_b.k) = b.get(tile.n + at_b.outer, first + at_b.k);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < tile_k; k++)
            sum = fmaf(window_a(x, k), window_b(y, k), sum);
        __syncthreads();
    }
    ladder::write(problem, tile.m + x, tile.n + y, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_shared_window, ladder_shared_window, tile_m *tile_n, 1)
