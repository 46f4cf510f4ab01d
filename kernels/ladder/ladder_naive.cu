/* naive: one thread per element of C, neighbouring lanes along m, where C and an untransposed A are
 * contiguous: a warp's load or store is one 128-byte line, and B's single element is broadcast. But every
 * multiply-add needs two loads, and L1 serves a warp's load no faster than one a cycle.
 *
 *         n 1
 *        +---+     block  256 threads, thread x -> C[m0 + x, n0]
 *        | | |     warp   32 neighbours in a column of C
 *  m 256 | | |     k      one element of A and one of B a step, from L1 or L2
 *        | v |
 *        +---+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 256, tile_n = 1;

template <bool transpose_a, bool transpose_b> __device__ void ladder_naive(const tb_sgemm &problem)
{
    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int64_t i = tile.m + threadIdx.x, j = tile.n;
    if (i >= problem.m)
        return;

    float sum = 0;
    for (int64_t k = 0; k < problem.k; k++)
        sum = fmaf(*a.at(i, k), *b.at(j, k), sum);
    ladder::write(problem, i, j, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_naive, ladder_naive, tile_m *tile_n, 1)
