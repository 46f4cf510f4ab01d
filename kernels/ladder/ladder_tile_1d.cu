/* tile_1d: a thread computes 8 elements of a column instead of one. The element of B that it reads serves all
 * of them: 9 reads of shared memory for 8 multiply-adds, not 16, and a window's loads and barriers are shared
 * by 8 times the arithmetic.
 *
 *            n 64
 *        +----------+     block   512 threads as 8 (m) x 64 (n)
 *        |          |     thread  (x, y) -> 8 x 1 of C at [m0 + 8 x, n0 + y]
 *  m 64  |    [] 8  |     load    one element of each window: x along k, y along m or n
 *        |    []    |     k       8 a step
 *        +----------+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 64, tile_n = 64, tile_k = 8;
constexpr int threads = 512;

template <bool transpose_a, bool transpose_b> __device__ void ladder_tile_1d(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int x = threadIdx.x % 8, y = threadIdx.x / 8;

    float sum[8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        window_a(y, x) = a.get(tile.m + y, first + x);
        window_b(y, x) = b.get(tile.n + y, first + x);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < tile_k; k++) {
            const float element_b = window_b(y, k);
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[i] = fmaf(window_a(8 * x + i, k), element_b, sum[i]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        ladder::write(problem, tile.m + 8 * x + i, tile.n + y, sum[i]);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_tile_1d, ladder_tile_1d, threads, 2)
