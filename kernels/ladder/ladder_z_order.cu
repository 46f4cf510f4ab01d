/* z_order: a warp is nearly square. As 16 x 2 threads it read 16 different float4 of A and 2 of B for each
 * half of its fragments, as 8 x 4 it reads 8 and 4. Along a Z-shaped curve every four lanes are 2 x 2, so
 * that each float4 is wanted by two close lanes, and one pass over the banks serves more of the warp.
 *
 *               n 4
 *         0  2 |  8 10     block   8 warps as 2 (m) x 4 (n)
 *         1  3 |  9 11     warp    8 x 4 threads in Z-order: lane bits 0, 2, 4 count m, bits 1, 3 count n
 *   m 8   4  6 | 12 14     thread  4 x 4 of C four times, as before
 *         5  7 | 13 15     k       8 a step
 *        ------+------
 *        16 18 | 24 26
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256, apart = 64, padding = 4;

template <bool transpose_a, bool transpose_b> __device__ void ladder_z_order(const tb_sgemm &problem)
{
    __shared__ ladder::outer_tile<tile_m, tile_k, padding> window_a;
    __shared__ ladder::outer_tile<tile_n, tile_k, padding> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k, 4>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k, 4>(threadIdx.x);
    const ladder::xy at = ladder::z_order(threadIdx.x);

    float sum[8][8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        window_a.template put4<transpose_a>(at_a, a.get4(tile.m + at_a.outer, first + at_a.k));
        window_b.template put4<!transpose_b>(at_b, b.get4(tile.n + at_b.outer, first + at_b.k));
        __syncthreads();
        ladder::multiply(sum, window_a, window_b, at, apart);
        __syncthreads();
    }
    ladder::write_8x8(problem, tile.m + 4 * at.x, tile.n + 4 * at.y, sum, apart);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_z_order, ladder_z_order, threads, 2)
