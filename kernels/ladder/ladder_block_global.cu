/* block_global: a block covers a square of C, not a strip. Every element of A and of B that it touches serves
 * 32 of its threads, so that L1 catches what L2 had to deliver. Still there are two loads a multiply-add, and
 * it is L1 that limits them: blocking without staging gains little.
 *
 *           n 32
 *        +--------+     block  1024 threads, thread (x, y) -> C[m0 + x, n0 + y]
 *   m    |  |  |  |     warp   32 neighbours in a column of C
 *   32   |  v  v  |     k      one element of A and one of B a step, from L1
 *        +--------+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 32, tile_n = 32;

template <bool transpose_a, bool transpose_b> __device__ void ladder_block_global(const tb_sgemm &problem)
{
    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int64_t i = tile.m + threadIdx.x % tile_m, j = tile.n + threadIdx.x / tile_m;
    if (i >= problem.m || j >= problem.n)
        return;

    float sum = 0;
    for (int64_t k = 0; k < problem.k; k++)
        sum = fmaf(*a.at(i, k), *b.at(j, k), sum);
    ladder::write(problem, i, j, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_block_global, ladder_block_global, tile_m *tile_n, 1)
