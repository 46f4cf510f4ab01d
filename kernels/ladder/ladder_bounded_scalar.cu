/* bounded_scalar: double_buffer for operands that lie anywhere. Without float4 in global memory a thread's
 * four neighbours are four loads, each behind its own test against the edges, as is each element of C: four
 * times the memory instructions, and their predicates. The price of generality, which pitched avoids.
 *
 *             edge
 *        +---+-|-+---+---+
 *        | a | b | 0 | 0 |     thread  its four neighbours one by one: two loads and two zeros here
 *        +---+-|-+---+---+     the rest as in double_buffer
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256, apart = 64, padding = 4;

using window = ladder::outer_tile<tile_m, tile_k, padding>;

/* What operand.get4 returns, fetched one by one. */
template <bool k_contiguous>
__device__ inline float4 get_each(const ladder::operand<k_contiguous> &operand, int64_t outer, int64_t k)
{
    const int step_outer = k_contiguous ? 0 : 1, step_k = k_contiguous ? 1 : 0;
    return make_float4(operand.get(outer, k), operand.get(outer + step_outer, k + step_k),
                       operand.get(outer + 2 * step_outer, k + 2 * step_k),
                       operand.get(outer + 3 * step_outer, k + 3 * step_k));
}

template <bool transpose_a, bool transpose_b> __device__ void ladder_bounded_scalar(const tb_sgemm &problem)
{
    __shared__ window window_a[2], window_b[2];

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k, 4>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k, 4>(threadIdx.x);
    const ladder::xy at = ladder::z_order(threadIdx.x);

    window_a[0].template put4<transpose_a>(at_a, get_each(a, tile.m + at_a.outer, at_a.k));
    window_b[0].template put4<!transpose_b>(at_b, get_each(b, tile.n + at_b.outer, at_b.k));
    __syncthreads();

    float sum[8][8] = {};
    int current = 0;
    for (int64_t next = tile_k; next < problem.k; next += tile_k) {
        const float4 next_a = get_each(a, tile.m + at_a.outer, next + at_a.k);
        const float4 next_b = get_each(b, tile.n + at_b.outer, next + at_b.k);
        ladder::multiply(sum, window_a[current], window_b[current], at, apart);
        current ^= 1;
        window_a[current].template put4<transpose_a>(at_a, next_a);
        window_b[current].template put4<!transpose_b>(at_b, next_b);
        __syncthreads();
    }
    ladder::multiply(sum, window_a[current], window_b[current], at, apart);

#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            ladder::write(problem, tile.m + 4 * at.x + i / 4 * apart + i % 4,
                          tile.n + 4 * at.y + j / 4 * apart + j % 4, sum[j][i]);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_bounded_scalar, ladder_bounded_scalar, threads, 2)
