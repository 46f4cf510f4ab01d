/* sgemm_simt_reduce: the second pass over tiles whose steps went to several blocks. C = alpha * (sum of the
 * parts) + beta * C.
 *
 *          tile_m * tile_n / 4 pieces of a tile        block  reduce_lanes x groups threads
 *         +------+------+------+-----                  lane   four neighbours of a column of C
 *  parts  |      |      |      |                       group  a share of the parts, added in their order; then
 *         | 64 to 1024 bytes wide                             the groups' sums, in theirs: the same bits in
 *         +------+------+------+-----                         every run
 */
#include "kernels/simt/simt.h"
#include "kernels/simt/output.cuh"
#include "kernels/dependent_launch.cuh"

namespace
{

constexpr int threads = 256;

} // namespace

extern "C" __global__ void __launch_bounds__(threads)
    sgemm_simt_reduce(const __grid_constant__ tb_simt_arguments arguments)
{
    dependent_launch::wait();
    __shared__ float4 sums[threads];
    const int lanes = arguments.reduce_lanes, groups = threads / lanes;
    const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    const int pieces = arguments.tile_m * arguments.tile_n / 4, blocks_a_tile = pieces / lanes;
    const int64_t dealt_tile = blockIdx.x / blocks_a_tile;
    const int element = (blockIdx.x % blocks_a_tile * lanes + lane) * 4;

    const int64_t first_step = dealt_tile * arguments.steps;
    const int64_t first = tb_piece_of_step(first_step, arguments.dealt, arguments.pieces);
    const int64_t parts =
        tb_piece_of_step(first_step + arguments.steps - 1, arguments.dealt, arguments.pieces) - first + 1;
    if (parts == 1)
        return; /* one block had the tile to itself after all */

    float4 sum = make_float4(0, 0, 0, 0);
    const int64_t end = (group + 1) * parts / groups;
#pragma unroll 8
    for (int64_t part = group * parts / groups; part < end; part++) {
        const int64_t piece = first + part;
        const float *partial =
            arguments.partial +
            tb_workspace_slot(piece, part == 0) * int64_t(arguments.tile_m * arguments.tile_n) + element;
        simt::add(sum, *reinterpret_cast<const float4 *>(partial));
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0)
        return;
    for (int other = 1; other < groups; other++)
        simt::add(sum, sums[other * lanes + lane]);

    const simt::tile tile =
        simt::locate_tile(arguments, arguments.whole + dealt_tile, arguments.tile_m, arguments.tile_n);
    const simt::output out = simt::output_to_c(arguments, tile);
    const int m = element % arguments.tile_m, n = element / arguments.tile_m;
    if (n >= out.columns)
        return;
    float *c = out.c + m + n * out.ldc;
    const bool aligned = simt::is_aligned(out);
    const simt::span rows = simt::span_of(out, m, n);
    simt::write_piece(out, c, sum, simt::read_piece(out, c, rows, aligned), rows, aligned);
}
