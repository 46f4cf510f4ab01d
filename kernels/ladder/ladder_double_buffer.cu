/* double_buffer: while one window is multiplied the next is on its way, loaded into registers before the 512
 * multiply-adds and stored after them to the other of two buffers, which nobody reads: one barrier a step,
 * and global memory's latency is hidden. The first load and the last product are peeled off the loop.
 *
 *   step              0                  1                 2
 *   load         next = 1           next = 2          next = 3          block, warp, thread as before
 *   multiply     buffer 0           buffer 1          buffer 0          k 8 a step
 *   store        next -> buffer 1   next -> buffer 0  next -> buffer 1
 *   barrier              |                  |                 |
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256, apart = 64, padding = 4;

using window = ladder::outer_tile<tile_m, tile_k, padding>;

template <bool transpose_a, bool transpose_b> __device__ void ladder_double_buffer(const tb_sgemm &problem)
{
    __shared__ window window_a[2], window_b[2];

    const auto a = ladder::operand_a<transpose_a>(problem);
    const auto b = ladder::operand_b<transpose_b>(problem);
    const tb::tile tile = tb::tile_of_block<tile_m, tile_n>(problem);
    const ladder::place at_a = ladder::along_memory<transpose_a, tile_m, tile_k, 4>(threadIdx.x);
    const ladder::place at_b = ladder::along_memory<!transpose_b, tile_n, tile_k, 4>(threadIdx.x);
    const ladder::xy at = ladder::z_order(threadIdx.x);

    window_a[0].template put4<transpose_a>(at_a, a.get4(tile.m + at_a.outer, at_a.k));
    window_b[0].template put4<!transpose_b>(at_b, b.get4(tile.n + at_b.outer, at_b.k));
    __syncthreads();

    float sum[8][8] = {};
    int current = 0;
    for (int64_t next = tile_k; next < problem.k; next += tile_k) {
        const float4 next_a = a.get4(tile.m + at_a.outer, next + at_a.k);
        const float4 next_b = b.get4(tile.n + at_b.outer, next + at_b.k);
        ladder::multiply(sum, window_a[current], window_b[current], at, apart);
        current ^= 1;
        window_a[current].template put4<transpose_a>(at_a, next_a);
        window_b[current].template put4<!transpose_b>(at_b, next_b);
        __syncthreads();
    }
    ladder::multiply(sum, window_a[current], window_b[current], at, apart);
    ladder::write_8x8(problem, tile.m + 4 * at.x, tile.n + 4 * at.y, sum, apart);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_double_buffer, ladder_double_buffer, threads, 2)
