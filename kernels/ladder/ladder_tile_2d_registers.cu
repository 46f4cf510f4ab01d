/* tile_2d_registers: a step's operands are read from shared memory once, into registers, the only memory as
 * fast as the multipliers. So registers take as much of C as fits: 8 x 8 sums a thread, a quarter of a read
 * for each multiply-add, at 128 registers, where two blocks still share a multiprocessor.
 *
 *             b 8                n 128
 *           +-----+          +----------+     block   256 threads as 16 (m) x 16 (n)
 *        +-++-----+          |   +--+   |     thread  (x, y) -> 8 x 8 of C at [m0 + 8 x, n0 + 8 y]
 *   a 8  | || sum |   m 128  |   |  | 8 |     load    as it computes: its 8 rows of A for k = y, its 8
 *        | ||     |          |   +--+   |             columns of B for k = x
 *        +-++-----+          +----------+     k       8 a step
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256;

template <bool transpose_a, bool transpose_b>
__device__ void ladder_tile_2d_registers(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;

    float sum[8][8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        for (int i = 8 * x; y < tile_k && i < 8 * x + 8; i++)
            window_a(i, y) = a.get(tile.m + i, first + y);
        for (int j = 8 * y; x < tile_k && j < 8 * y + 8; j++)
            window_b(j, x) = b.get(tile.n + j, first + x);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < tile_k; k++) {
            float fragment_a[8], fragment_b[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                fragment_a[i] = window_a(8 * x + i, k);
                fragment_b[i] = window_b(8 * y + i, k);
            }
            ladder::outer_product(sum, fragment_a, fragment_b);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            ladder::write(problem, tile.m + 8 * x + i, tile.n + 8 * y + j, sum[j][i]);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_tile_2d_registers, ladder_tile_2d_registers, threads, TB_BLOCKS_BEFORE_100(2))
