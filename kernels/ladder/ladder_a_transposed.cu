/* a_transposed: a transposed A lies along k, as an untransposed B does; its fragment was a column of the
 * window, eight reads 32 bytes apart, one bank for many lanes. Transposed on its way into shared memory,
 * where the window has a row for each k, it is two float4 like the other operand's.
 *
 *      global, A transposed: k 8         shared: m 128
 *        +---------------+             +-----+-----+-     block   256 threads
 *        | 0  1  2  3    |             |  0  |     |      load    one float4 of each window
 *  m 128 +---------------+   -->   k 8 |  1  |     |      store   four floats down a column, or one float4
 *        |               |             |  2  |     |      thread  computes 8 x 8 of C as before
 *        |               |             |  3  |     |      k       8 a step
 *        +---------------+             +-----+-----+-
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256;

template <bool transpose_a, bool transpose_b> __device__ void ladder_a_transposed(const tb_sgemm &problem)
{
    __shared__ ladder::outer_tile<tile_m, tile_k> window_a;
    __shared__ ladder::outer_tile<tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k, 4>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k, 4>(threadIdx.x);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;

    float sum[8][8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        window_a.template put4<transpose_a>(at_a, a.get4(tile.m + at_a.outer, first + at_a.k));
        window_b.template put4<!transpose_b>(at_b, b.get4(tile.n + at_b.outer, first + at_b.k));
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < tile_k; k++) {
            float fragment_a[8], fragment_b[8];
            ladder::read_fragment(fragment_a, window_a.at(8 * x, k));
            ladder::read_fragment(fragment_b, window_b.at(8 * y, k));
            ladder::outer_product(sum, fragment_a, fragment_b);
        }
        __syncthreads();
    }
    ladder::write_8x8(problem, tile.m + 8 * x, tile.n + 8 * y, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_a_transposed, ladder_a_transposed, threads, 2)
