/* dgemm_mma: FP64 products from the FP64 tensor cores of sm_80 and sm_90, operands through a ring of shared-memory stages.
 * shapes.def has a row for each shape of tile.
 *
 *              tile_n                block  a grid of warps over the tile; of such grids, `slices`
 *         +----+----+----+----+      warp   16 x 16 to 64 x 32 of C: bands of 16 rows, each times all
 *  tile_m | w0 | w1 | w2 | w3 |             columns, by mma.sync; 8 to 64 sums a thread
 *         +----+----+----+----+      stage  a panel of A and one of B, tile_k steps; filled by cp.async, the
 *         | w4 | w5 | w6 | w7 |             ring's other stages ahead: by all warps (dgemm_together.cuh), or by
 *         +----+----+----+----+             four more (dgemm_copying.cuh)
 *                                    k      in chains, of which the first has the steps 0, c, 2 c ..., the next
 *                                           one the steps 1, c + 1 ...: each is summed by itself, and then added
 *                                           to a total in registers or, where those are full, in C (unless
 *                                           beta C is to be added: then k is one chain). A slice has its share of
 *                                           every stage; the slices' sums meet in shared memory
 *
 * A warp's mma.sync of 16 x 8 x 8 keeps its quarter of a multiprocessor's tensor cores busy for 32 clocks; what has to be
 * seen to is that the next one's operands are there. All fragments of 8 steps are kept twice: those of the next 8 are read while
 * these are multiplied. A read into registers that a multiplication still reads would wait for that, and the warp with it.
 *
 * What comes before the first multiplication and after the last one takes a small product a quarter of its time, or more: it is
 * kept short, in what is executed and in what has to be fetched to be executed.
 */
#pragma once

#include "kernels/fp64/dgemm_copying.cuh"
#include "kernels/fp64/dgemm_together.cuh"

namespace fp64
{

template <class shape, bool transpose_a, bool transpose_b, bool vector>
__device__ inline void dgemm(const tb_dgemm_arguments &arguments)
{
    if constexpr (shape::copying > 0)
        dgemm_copying<shape, transpose_a, transpose_b, vector>(arguments);
    else
        dgemm_together<shape, transpose_a, transpose_b, vector>(arguments);
}

} // namespace fp64

#define TB_DGEMM_STAMP(symbol, shape, transpose_a, transpose_b, vector)                                      \
    extern "C" __global__ void __launch_bounds__(shape::threads, shape::blocks)                              \
        symbol(const __grid_constant__ tb_dgemm_arguments arguments)                                         \
    {                                                                                                        \
        if constexpr (fp64::runs<shape>)                                                                     \
            fp64::dgemm<shape, transpose_a, transpose_b, vector>(arguments);                                 \
    }

/* The kernels of one shape: four transpositions, for operands of any alignment and for such as can be copied 16 bytes at a
 * time. */
#define TB_DGEMM_STAMP_ALL(name, shape)                                                                      \
    TB_DGEMM_STAMP_WIDTH(name, , shape, false)                                                               \
    TB_DGEMM_STAMP_WIDTH(name, _vector, shape, true)

/* The same of a shape that copies 16 bytes at a time alone, as all complex ones do. */
#define TB_DGEMM_STAMP_ALIGNED(name, shape) TB_DGEMM_STAMP_WIDTH(name, , shape, true)

#define TB_DGEMM_STAMP_WIDTH(name, suffix, shape, vector)                                                    \
    TB_DGEMM_STAMP(name##_nn##suffix, shape, false, false, vector)                                           \
    TB_DGEMM_STAMP(name##_nt##suffix, shape, false, true, vector)                                            \
    TB_DGEMM_STAMP(name##_tn##suffix, shape, true, false, vector)                                            \
    TB_DGEMM_STAMP(name##_tt##suffix, shape, true, true, vector)
