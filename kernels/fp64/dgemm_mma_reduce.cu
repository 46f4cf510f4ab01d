/* dgemm_mma_reduce: the second launch, for tiles whose steps went to several blocks. C = alpha * (sum of the parts) + beta * C.
 *
 *          tile_m * tile_n / 2 pairs of a tile         block  reduce_lanes x groups threads
 *         +------+------+------+-----                  lane   two neighbours of a column of C
 *  parts  |      |      |      |                       group  a share of the parts, added in their order; then
 *         | 256 to 4096 bytes wide                            the groups' sums, in theirs: the same bits in
 *         +------+------+------+-----                         every run
 */
#include "kernels/fp64/output.cuh"
#include "kernels/dependent_launch.cuh"

namespace
{

constexpr int threads = 256;

__device__ inline void add(double2 &sum, const double2 &term)
{
    sum.x += term.x;
    sum.y += term.y;
}

} // namespace

extern "C" __global__ void __launch_bounds__(threads)
    dgemm_mma_reduce(const __grid_constant__ tb_dgemm_arguments arguments)
{
    dependent_launch::wait();
    if (fp64::is_spared(arguments.problem))
        return;
    __shared__ double2 sums[threads];
    const int lanes = arguments.reduce_lanes, groups = threads / lanes;
    const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    const int blocks_a_tile = arguments.tile_m * arguments.tile_n / 2 / lanes;
    const int64_t dealt_tile = blockIdx.x / blocks_a_tile;
    const int element = (blockIdx.x % blocks_a_tile * lanes + lane) * 2;

    int64_t first, parts;
    bool begins = true; /* the first part has the tile's step 0, and so the slot that is such a part's */
    if (arguments.order.zeros) {
        const tb_needed needed = tb_dgemm_needed(&arguments, dealt_tile);
        first = dealt_tile * arguments.tile_pieces;
        parts = (needed.end - needed.first + arguments.piece_steps - 1) / arguments.piece_steps;
        begins = needed.first == 0;
    } else {
        const int64_t first_step = dealt_tile * arguments.steps;
        first = tb_piece_of_step(first_step, arguments.dealt, arguments.pieces);
        parts =
            tb_piece_of_step(first_step + arguments.steps - 1, arguments.dealt, arguments.pieces) - first + 1;
    }
    if (parts == 1)
        return; /* one block had the tile to itself after all */

    double2 sum = make_double2(0, 0);
    const int64_t end = (group + 1) * parts / groups;
#pragma unroll 8
    for (int64_t part = group * parts / groups; part < end; part++) {
        const double *partial = arguments.partial +
                                tb_workspace_slot(first + part, begins && part == 0) *
                                    int64_t(arguments.tile_m * arguments.tile_n) +
                                element;
        add(sum, *reinterpret_cast<const double2 *>(partial));
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0)
        return;
    for (int other = 1; other < groups; other++)
        add(sum, sums[other * lanes + lane]);

    const fp64::output out =
        fp64::output_to_c(arguments, fp64::locate_tile(arguments, arguments.whole + dealt_tile));
    const int m = element % arguments.tile_m, n = element / arguments.tile_m;
    if (n >= out.columns)
        return;
    double *c = out.c + m + n * out.ldc;
    const bool aligned = out.is_aligned();
    const fp64::span rows = fp64::span_of(out, m, n);
    fp64::write_pair(out, c, sum.x, sum.y, fp64::read_pair(out, c, rows, aligned), rows, aligned);
}
