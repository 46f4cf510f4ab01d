/* FP32 multiply-adds, inside the kernels that multiply parts: for operands that parts do not hold (findings.cuh). The blocks
 * that are there take the tiles in turn, so that nothing has to be launched for it.
 */
#pragma once

#include "kernels/simt/sgemm_simt.cuh"
#include "kernels/tensor/split.h"

namespace split
{

/* Of any alignment, by the first threads of a block, which has room for totals. */
struct plain_row {
    static constexpr int first_chip = TB_SIMT_FIRST_all, end_chip = TB_SIMT_END_all;
    static constexpr int tile_m = 128, tile_n = 128, tile_k = 16, slices = 1;
    static constexpr int thread_m = 8, thread_n = 8, lanes_m = 8;
    static constexpr int stages = 3, launch_bound = 1;
    static constexpr simt::words words = simt::words::always;
    static constexpr int words_at_a_time = 3;
};
using plain_shape = simt::shape<plain_row, true>;
constexpr int plain_bytes = plain_shape::stages * plain_shape::stage_floats * int(sizeof(float)) +
                            plain_shape::tile_m * plain_shape::tile_n * int(sizeof(float));

/* A function of its own, so that the loops that multiply parts keep their registers. */
template <bool transpose_a, bool transpose_b>
__device__ __noinline__ void multiply_plainly(const tb_split_arguments &arguments)
{
    const tb_sgemm &p = arguments.problem;
    tb_simt_arguments plain = {};
    plain.problem = p;
    plain.tile_m = plain_shape::tile_m;
    plain.tile_n = plain_shape::tile_n;
    plain.tiles_m = (p.m + plain.tile_m - 1) / plain.tile_m;
    plain.tiles_n = (p.n + plain.tile_n - 1) / plain.tile_n;
    plain.steps = (p.k + plain_shape::tile_k - 1) / plain_shape::tile_k;
    plain.cluster = 1;
    plain.totals = plain_shape::cuts_chains;
    const int64_t tiles = plain.tiles_m * plain.tiles_n; /* outside of a mask, too */
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const simt::tile at = simt::locate_tile(plain, tile, plain_shape::tile_m, plain_shape::tile_n);
        if (!tb_mask_touches(p.mask, p.diagonal, at.m, at.n, plain_shape::tile_m, plain_shape::tile_n))
            continue;
        simt::compute<plain_shape, transpose_a, transpose_b, false>(plain, {tile, 0, plain.steps}, 0);
        __syncthreads(); /* before the stages are filled again */
    }
}

/* C by all blocks. Of k there is something. */
__device__ __forceinline__ void sgemm_plainly(const tb_split_arguments &arguments)
{
    const tb_sgemm &p = arguments.problem;
    if (threadIdx.x >= plain_shape::threads)
        return; /* who has ended is waited for no more */
    if (p.transpose_a)
        p.transpose_b ? multiply_plainly<true, true>(arguments) : multiply_plainly<true, false>(arguments);
    else
        p.transpose_b ? multiply_plainly<false, true>(arguments) : multiply_plainly<false, false>(arguments);
}

} // namespace split
