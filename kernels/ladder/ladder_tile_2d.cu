/* tile_2d: a thread computes 4 x 4 of C. With k outermost each step is an outer product: 4 elements of A and
 * 4 of B make 16 multiply-adds, half a read of shared memory each. What a tile computes grows like its area,
 * what it reads like its edge.
 *
 *            n 64
 *        +----------+     block   256 threads as 16 (m) x 16 (n)
 *        |   +--+   |     thread  (x, y) -> 4 x 4 of C at [m0 + 4 x, n0 + 4 y]
 *  m 64  |   |  | 4 |     load    as it computes: its 4 rows of A for k = y, its 4 columns of B for k = x;
 *        |   +--+   |             where y or x is past the window's 8, nothing
 *        +----------+     k       8 a step
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 64, tile_n = 64, tile_k = 8;
constexpr int threads = 256;

template <bool transpose_a, bool transpose_b> __device__ void ladder_tile_2d(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;

    float sum[4][4] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        for (int i = 4 * x; y < tile_k && i < 4 * x + 4; i++)
            window_a(i, y) = a.get(tile.m + i, first + y);
        for (int j = 4 * y; x < tile_k && j < 4 * y + 4; j++)
            window_b(j, x) = b.get(tile.n + j, first + x);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile_k; k++)
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    sum[j][i] = fmaf(window_a(4 * x + i, k), window_b(4 * y + j, k), sum[j][i]);
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            ladder::write(problem, tile.m + 4 * x + i, tile.n + 4 * y + j, sum[j][i]);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_tile_2d, ladder_tile_2d, threads, TB_BLOCKS_BEFORE_100(3))
