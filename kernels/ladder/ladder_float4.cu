/* float4: one instruction moves 16 bytes. A thread's four elements of a window are one load and one store,
 * runs of a fragment one read, and C is written by fours: a quarter of the instructions that are not
 * multiply-adds. The price: A, B and their leading dimensions must be multiples of four floats.
 *
 *      A not transposed: k 8      A transposed: k 8
 *        +------+------+-          +-------+-------+     block   256 threads
 *        | t 0  | t 32 |           |  t 0  |  t 1  |     load    one float4 of each window
 *  m 128 +------+------+     m 128 +-------+-------+     read    float4 along m or n, one by one along k
 *        | t 1  | t 33 |           |  t 2  |  t 3  |     thread  computes 8 x 8 of C as before
 *        +------+------+-          +-------+-------+     k       8 a step
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256;

/* Eight elements of a window along its outer dimension: a row of its memory, or a column. */
template <bool k_contiguous, int outers>
__device__ inline void
read_window(float (&fragment)[8], ladder::stored_tile<k_contiguous, outers, tile_k> &window, int outer, int k)
{
    if constexpr (k_contiguous)
#pragma unroll
        for (int i = 0; i < 8; i++)
            fragment[i] = window(outer + i, k);
    else
        ladder::read_fragment(fragment, &window(outer, k));
}

template <bool transpose_a, bool transpose_b> __device__ void ladder_float4(const tb_sgemm &problem)
{
    __shared__ ladder::stored_tile<transpose_a, tile_m, tile_k> window_a;
    __shared__ ladder::stored_tile<!transpose_b, tile_n, tile_k> window_b;

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k, 4>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k, 4>(threadIdx.x);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;

    float sum[8][8] = {};
    for (int64_t first = 0; first < problem.k; first += tile_k) {
        *reinterpret_cast<float4 *>(&window_a(at_a.outer, at_a.k)) =
            a.get4(tile.m + at_a.outer, first + at_a.k);
        *reinterpret_cast<float4 *>(&window_b(at_b.outer, at_b.k)) =
            b.get4(tile.n + at_b.outer, first + at_b.k);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < tile_k; k++) {
            float fragment_a[8], fragment_b[8];
            read_window(fragment_a, window_a, 8 * x, k);
            read_window(fragment_b, window_b, 8 * y, k);
            ladder::outer_product(sum, fragment_a, fragment_b);
        }
        __syncthreads();
    }
    ladder::write_8x8(problem, tile.m + 8 * x, tile.n + 8 * y, sum);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_float4, ladder_float4, threads, TB_BLOCKS_BEFORE_100(2))
