/* What the launch function passes to dgemm_mma's kernels. Shared by C and CUDA.
 *
 * Work is dealt to blocks as in the SIMT family (simt.h): a step is tile_k of k for one tile of C. The first `whole` tiles
 * have a block each; the steps of the others lie in one line, tile after tile, and are dealt evenly to `pieces` further
 * blocks. A tile whose steps went to several blocks is put together by a second launch, dgemm_mma_reduce.
 */
#ifndef TB_DGEMM_MMA_H
#define TB_DGEMM_MMA_H

#include "kernels/dgemm.h"
#include "kernels/mask.h"

typedef struct tb_dgemm_arguments {
    tb_dgemm problem;
    int64_t tiles_m, tiles_n;
    int64_t whole;  /* tiles with a block of their own */
    int64_t steps;  /* of a tile, at least 1 */
    int64_t dealt;  /* steps of the tiles that are not whole */
    int64_t pieces; /* blocks to which those are dealt */
    int32_t
        chains; /* into which a block's steps of a tile are cut: chain i has the steps i, i + chains, ... */
    int64_t jump_a; /* bytes from the panel of one step of a chain to that of the next */
    int64_t jump_b;
    double *partial; /* two tiles for each piece: see tb_simt_slot */
    int32_t tile_m, tile_n;
    int32_t reduce_lanes;   /* of dgemm_mma_reduce: see there */
    tb_masked_tiles masked; /* where C has a mask, only these are tiles */
} tb_dgemm_arguments;

#define TB_DGEMM_THREADS(warps_m, warps_n, slices, copying)                                                  \
    (32 * ((warps_m) * (warps_n) * (slices) + (copying)))

/* Whether threads have so few sums that there are registers for totals of chains beside them; else totals are kept in C. */
#define TB_DGEMM_HAS_TOTALS(tile_m, tile_n, warps_m, warps_n)                                                \
    ((tile_m) * (tile_n) <= 1024 * (warps_m) * (warps_n))

/* Chains of k are 16 times its root long for each slice, as slices cut k too; 8 times where a new chain costs little: where some
 * warps only copy, and totals are in registers. */
#define TB_DGEMM_CHAIN_ROOTS(tile_m, tile_n, warps_m, warps_n, slices, copying)                              \
    ((copying) > 0 && TB_DGEMM_HAS_TOTALS(tile_m, tile_n, warps_m, warps_n) ? 8 : 16 * (slices))

/* Doubles by which lines of a panel in shared memory are longer than what they hold: panel.cuh says why. */
#define TB_DGEMM_PAD_OUTER 4 /* lines along m or n */
#define TB_DGEMM_PAD_K_A   2 /* lines along k, of A */
#define TB_DGEMM_PAD_K_B   4 /* lines along k, of B */

#define TB_DGEMM_LARGER(x, y) ((x) > (y) ? (x) : (y))
#define TB_DGEMM_PANEL_DOUBLES(tile_outer, tile_k, pad_k)                                                    \
    TB_DGEMM_LARGER((tile_outer) * ((tile_k) + (pad_k)), (tile_k) * ((tile_outer) + TB_DGEMM_PAD_OUTER))

/* A panel of A and one of B, whichever way they lie, and two barriers where warps copy alone. */
#define TB_DGEMM_BARRIER_BYTES 16
#define TB_DGEMM_STAGE_BYTES(tile_m, tile_n, tile_k)                                                         \
    (TB_DGEMM_BARRIER_BYTES + 8 * (TB_DGEMM_PANEL_DOUBLES(tile_m, tile_k, TB_DGEMM_PAD_K_A) +                \
                                   TB_DGEMM_PANEL_DOUBLES(tile_n, tile_k, TB_DGEMM_PAD_K_B)))

#endif
