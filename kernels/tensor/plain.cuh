/* FP32 multiply-adds, inside the kernels that multiply parts: for operands that parts do not hold (findings.cuh). The blocks
 * that are there take the tiles in turn, so that nothing has to be launched for it.
 */
#pragma once

#include "kernels/simt/sgemm_simt.cuh"
#include "kernels/tensor/split.h"

namespace split
{

/* The shape that multiplies operands of any alignment, by the first threads of a block, which has room for totals. */
struct plain_row {
    static constexpr int first_chip = TB_SIMT_FIRST_all, end_chip = TB_SIMT_END_all;
    static constexpr int tile_m = TB_SPLIT_PLAIN_TILE, tile_n = TB_SPLIT_PLAIN_TILE;
    static constexpr int tile_k = 16, slices = 1;
    static constexpr int thread_m = 8, thread_n = 8, lanes_m = 8;
    static constexpr int stages = 3, launch_bound = 1;
    static constexpr simt::words words = simt::words::always;
    static constexpr int words_at_a_time = 3;
};
using plain_shape = simt::shape<plain_row, true>;
/* Where in shared memory the arguments lie, behind the stages and the totals; and the end of all. */
constexpr int plain_arguments_offset = plain_shape::stages * plain_shape::stage_floats * int(sizeof(float)) +
                                       plain_shape::tile_m * plain_shape::tile_n * int(sizeof(float));
constexpr int plain_bytes = plain_arguments_offset + int(sizeof(tb_simt_arguments));
static_assert(plain_arguments_offset % alignof(tb_simt_arguments) == 0, "they are aligned");

__device__ inline tb_simt_arguments plain_arguments(const tb_split_arguments &arguments)
{
    const tb_sgemm &p = arguments.problem;
    tb_simt_arguments plain = {};
    plain.problem = p;
    plain.tile_m = plain_shape::tile_m;
    plain.tile_n = plain_shape::tile_n;
    plain.tile_k = plain_shape::tile_k;
    plain.tiles_m = (p.m + plain.tile_m - 1) / plain.tile_m;
    plain.tiles_n = (p.n + plain.tile_n - 1) / plain.tile_n;
    plain.whole = p.mask == TB_FULL ? plain.tiles_m * plain.tiles_n : arguments.masked_plainly.count;
    plain.steps = (p.k + plain_shape::tile_k - 1) / plain_shape::tile_k;
    plain.jump_a = tb_panel_jump(p.lda, p.transpose_a, plain_shape::tile_k, sizeof(float));
    plain.jump_b = tb_panel_jump(p.ldb, !p.transpose_b, plain_shape::tile_k, sizeof(float));
    plain.cluster = plain.alternating = 1;
    plain.totals = plain_shape::cuts_chains;
    plain.order =
        tb_order_tiles(arguments.order.zeros, plain.tiles_m, plain.tiles_n, TB_SIMT_GROUP, gridDim.x);
    plain.ascending = !plain.order.zeros;
    plain.masked = arguments.masked_plainly;
    return plain;
}

/* A function of its own, so that the loops that multiply parts keep their registers. */
template <bool transpose_a, bool transpose_b>
__device__ __noinline__ void multiply_plainly(const tb_simt_arguments &plain)
{
    for (int64_t tile = blockIdx.x; tile < plain.whole; tile += gridDim.x) {
        simt::compute<plain_shape, transpose_a, transpose_b, false>(plain,
                                                                    simt::whole_tile(plain, int(tile)));
        __syncthreads(); /* before the stages are filled again */
    }
}

/* C by all blocks. Of k there is something. */
__device__ __forceinline__ void sgemm_plainly(const tb_split_arguments &arguments)
{
    extern __shared__ __align__(128) char memory[];
    const tb_sgemm &p = arguments.problem;
    tb_simt_arguments &plain = *reinterpret_cast<tb_simt_arguments *>(memory + plain_arguments_offset);
    if (threadIdx.x >= plain_shape::threads)
        return; /* who has ended is waited for no more */
    if (threadIdx.x == 0)
        plain = plain_arguments(arguments);
    __syncthreads();
    if (p.transpose_a)
        p.transpose_b ? multiply_plainly<true, true>(plain) : multiply_plainly<true, false>(plain);
    else
        p.transpose_b ? multiply_plainly<false, true>(plain) : multiply_plainly<false, false>(plain);
}

} // namespace split
