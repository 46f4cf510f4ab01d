/* naive_uncoalesced: naive with m and n exchanged. Neighbouring lanes are now a leading dimension apart in C
 * and in an untransposed B: a warp's load touches 32 lines and uses 4 bytes of each, and memory moves whole
 * 32-byte sectors. The arithmetic is the same, several times slower.
 *
 *              n 256
 *        +---------------+     block  256 threads, thread x -> C[m0, n0 + x]
 *   m 1  |  ---------->  |     warp   32 neighbours in a row of C, ldc floats apart in memory
 *        +---------------+     k      one element of A and one of B a step, from L1 or L2
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 1, tile_n = 256;

template <bool transpose_a, bool transpose_b>
__device__ void ladder_naive_uncoalesced(const tb_sgemm &problem)
{
    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int64_t i = tile.m, j = tile.n + threadIdx.x;
    if (j >= problem.n)
        return;

    float sum = 0;
    for (int64_t k = 0; k < problem.k; k++)
        sum = fmaf(*a.at(i, k), *b.at(j, k), sum);
    ladder::write(problem, i, j, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_naive_uncoalesced, ladder_naive_uncoalesced, tile_m *tile_n, 1)
