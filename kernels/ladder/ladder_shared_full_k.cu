/* shared_full_k: the block first copies all that it will read into shared memory: one trip to global memory,
 * one barrier, then arithmetic. The best there is for a tiny k and impossible for a large one: two panels of
 * 32 x 192 fill the 48 KiB that a block may have unasked.
 *
 *            k <= 192               n 32
 *         +------------+          +------+     block  1024 threads, thread (x, y) -> C[m0 + x, n0 + y]
 *   m 32  |     A      |          |      |     load   pieces of 32 x 32 along the operand's memory
 *         +------------+  k <=    |  B   |     k      one element of each panel a step
 *                         192     |      |
 *                                 +------+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 32, tile_n = 32, k_limit = 192;

template <bool transpose_a, bool transpose_b> __device__ void ladder_shared_full_k(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, k_limit> panel_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, k_limit> panel_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, 32>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, 32>(threadIdx.x);
    const int x = threadIdx.x % tile_m, y = threadIdx.x / tile_m;
    const int extent = int(problem.k);

    for (int first = 0; first < extent; first += 32) {
        panel_a(at_a.outer, first + at_a.k) = a.get(tile.m + at_a.outer, first + at_a.k);
        panel_b(at_b.outer, first + at_b.k) = b.get(tile.n + at_b.outer, first + at_b.k);
    }
    __syncthreads();

    float sum = 0;
    for (int k = 0; k < extent; k++)
        sum = fmaf(panel_a(x, k), panel_b(y, k), sum);
    ladder::write(problem, tile.m + x, tile.n + y, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_shared_full_k, ladder_shared_full_k, tile_m *tile_n, 1)
