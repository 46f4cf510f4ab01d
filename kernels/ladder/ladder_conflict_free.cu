/* conflict_free: a pass over shared memory serves each of its 32 banks once. Reads: lanes 8 floats apart left
 * half of the banks idle; with a thread's 8 x 8 split in four, half a tile apart, the lanes' float4 are
 * neighbours. Stores: 4 rows of 128 apart was the same bank; 4 floats of padding a row make it 16 banks.
 *
 *            n 128
 *        +------+------+     block    256 threads as 16 (m) x 16 (n)
 *        | []   | []   |     thread   (x, y) -> 4 x 4 of C at [m0 + 4 x + {0, 64}, n0 + 4 y + {0, 64}]
 *  m 128 +------+------+     windows  8 x (128 + 4) floats
 *        | []   | []   |     k        8 a step
 *        +------+------+
 */
#include "kernels/ladder/ladder.cuh"

namespace
{

constexpr int tile_m = 128, tile_n = 128, tile_k = 8;
constexpr int threads = 256, apart = 64, padding = 4;

template <bool transpose_a, bool transpose_b> __device__ void ladder_conflict_free(const tb_sgemm &problem)
{
    __shared__ ladder::outer_tile<tile_m, tile_k, padding> window_a;
    __shared__ ladder::outer_tile<tile_n, tile_k, padding> window_b;

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
            ladder::read_fragment(fragment_a, window_a.at(4 * x, k), apart);
            ladder::read_fragment(fragment_b, window_b.at(4 * y, k), apart);
            ladder::outer_product(sum, fragment_a, fragment_b);
        }
        __syncthreads();
    }
    ladder::write_8x8(problem, tile.m + 4 * x, tile.n + 4 * y, sum, apart);
}

} // namespace

TB_STAMP_TRANSPOSITIONS(ladder_conflict_free, ladder_conflict_free, threads, 2)
