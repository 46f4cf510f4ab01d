/* index_remap: what a thread loads has nothing to do with what it computes. For loading, the block counts its
 * windows along memory, thread t taking elements t, t + 256, ...: a warp's load is a run of neighbours, and
 * no thread idles.
 *
 *      A not transposed: k 8      A transposed: k 8
 *        +---+---+-  -+---+        +-------------+     block   256 threads
 *        | 0 |128|    |128|        | 0 1 2 ... 7 |     load    4 elements of each window, 256 apart
 *  m 128 | 1 |129| .. |129|  m 128 | 8 9 ...     |     thread  computes 8 x 8 of C as before
 *        | : | : |    | : |        | :           |     k       8 a step
 *        +---+---+-  -+---+        +-------------+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256;

template <bool transpose_a, bool transpose_b> __device__ void ladder_index_remap(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;

    float sum[8][8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
#pragma unroll
        for (int number = threadIdx.x; number < tile_m * tile_k; number += threads) {
            const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k>(number);
            const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k>(number);
            window_a(at_a.outer, at_a.k) = a.get(tile.m + at_a.outer, first + at_a.k);
            window_b(at_b.outer, at_b.k) = b.get(tile.n + at_b.outer, first + at_b.k);
        }
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

TB_STAMP_TRANSPOSITIONS(ladder_index_remap, ladder_index_remap, threads, TB_BLOCKS_BEFORE_100(2))
