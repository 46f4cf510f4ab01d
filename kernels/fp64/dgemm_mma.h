/* What the launch function passes to dgemm_mma's kernels. Shared by C and CUDA.
 *
 * Work is dealt to blocks as in the SIMT family (simt.h): a step is tile_k of k for one tile of C. The first `whole` tiles
 * have a block each; the steps of the others lie in one line, tile after tile, and are dealt evenly to `pieces` further
 * blocks. A tile whose steps went to several blocks is put together by a second launch, dgemm_mma_reduce; or by these blocks
 * themselves, where they are a cluster: then every tile has the same number of pieces.
 *
 * The steps that a block has of one tile are a run. A run is cut into chains, each of which is summed by itself. Where all tiles
 * are cut into as many pieces, these have a tile's steps in turn: so they share what the numbers are like along k.
 *
 * A product may be of two terms with one C, as rank-2k updates are: then the first half of the steps of a tile has operands of
 * the first term, the other half those of the second one. Every tile is whole, and a run one chain.
 *
 * Where steps are left out that multiply zeros alone (zeros.h), tiles need different numbers of them. Then every tile is cut into
 * pieces of `piece_steps`, the last of which may be shorter, and has `tile_pieces` blocks for them, some of which may have
 * nothing to do. Where the diagonal comes first along k, the `alone` steps that have it are a chain each: a triangle's largest
 * numbers are often there, and what is added to a large sum is rounded as it is.
 */
#ifndef TB_DGEMM_MMA_H
#define TB_DGEMM_MMA_H

#include "kernels/batches.h"
#include "kernels/dgemm.h"
#include "kernels/mask.h"
#include "kernels/pieces.h"
#include "kernels/zeros.h"

typedef struct tb_dgemm_arguments {
    tb_dgemm problem;
    tb_batches batches; /* of products alike, or of one */
    int64_t whole;      /* tiles with a block of their own */
    int64_t steps;      /* of a tile, at least 1 */
    int64_t dealt;      /* steps of the tiles that are not whole */
    int64_t pieces;     /* blocks to which those are dealt */
    int32_t chains;     /* into which a run is cut, unless it has fewer steps */
    int32_t
        alternating; /* pieces of a tile that have its steps in turn; 1: a run's steps follow each other */
    int32_t apart;   /* from a step of a chain to the next one: chains * alternating */
    int32_t tile_k;
    int64_t jump_a; /* the same in bytes, from panel to panel */
    int64_t jump_b;
    double *partial; /* two tiles for each piece: see tb_workspace_slot; for clusters none */
    int32_t cluster; /* pieces of a tile that are a cluster of blocks; 1: there are no clusters */
    int32_t tile_m, tile_n;
    int32_t reduce_lanes;             /* of dgemm_mma_reduce: see there */
    int32_t tile_pieces, piece_steps; /* where there are zeros */
    int32_t alone; /* where they are before a tile: of its steps the first ones, which are a chain each */
    /* Steps of the second term, and bytes from where the first one's panels would go on to where the second one's begin. 0 where
     * there is one term. */
    int32_t second_steps;
    int64_t to_second_a, to_second_b;
    tb_tile_order order;    /* of one product's tiles, where C has no mask */
    tb_masked_tiles masked; /* of one product: where C has a mask, only these are tiles */
} tb_dgemm_arguments;

#define TB_DGEMM_THREADS(warps_m, warps_n, slices, copying)                                                  \
    (32 * ((warps_m) * (warps_n) * (slices) + (copying)))

/* What a block does without interruption: chain number `chain` of a run. Of the run's steps it has number chain, chain + chains,
 * .... */
typedef struct tb_dgemm_segment {
    int64_t tile;
    int64_t piece;                /* that the block has; negative where it has a whole tile */
    int32_t run_first, run_count; /* the run: its first step, and how many it has */
    int32_t chain, chains;
    int32_t first; /* step of the chain; the others are `apart` from each other */
    int32_t count; /* of the chain's steps; 0 where the block has done all that it has to do */
} tb_dgemm_segment;

/* Lines of tiles in a group of their order. */
#define TB_DGEMM_GROUP 8

/* Where there are zeros: the steps that a tile needs. */
TB_HOST_DEVICE_INLINE tb_needed tb_dgemm_needed(const tb_dgemm_arguments *arguments, int64_t tile)
{
    return tb_needed_steps(arguments->order.zeros, tb_locate_tile(&arguments->order, (uint32_t)tile),
                           arguments->tile_m, arguments->tile_n, arguments->tile_k,
                           (int32_t)arguments->steps);
}

/* What a block does after so many of its steps: the chains of a run one after the other, and the runs in the order of their
 * tiles. The first few chains of a run may be a step longer than the others. */
TB_HOST_DEVICE_INLINE tb_dgemm_segment tb_dgemm_segment_after(const tb_dgemm_arguments *arguments,
                                                              int64_t block, int32_t done)
{
    const int32_t steps = (int32_t)arguments->steps;
    tb_dgemm_segment part = {block, block - arguments->whole, 0, steps, 0, 0, 0, 0};
    bool begins_tile = false; /* where some steps of that are alone */
    if (arguments->order.zeros) {
        const int32_t number = (int32_t)block, pieces = arguments->tile_pieces, own = number % pieces;
        part.tile = number / pieces;
        const tb_needed needed = tb_dgemm_needed(arguments, part.tile);
        part.piece = needed.end - needed.first > arguments->piece_steps ? number : -1;
        part.run_first = needed.first + own * arguments->piece_steps;
        part.run_count = needed.end - part.run_first;
        if (part.run_count > arguments->piece_steps)
            part.run_count = arguments->piece_steps;
        begins_tile = own == 0;
    } else if (arguments->alternating > 1) {
        const int32_t number = (int32_t)block, pieces = arguments->alternating;
        part.tile = number / pieces;
        part.run_first = number % pieces;
        part.run_count = (steps - part.run_first + pieces - 1) / pieces;
    } else if (part.piece >= 0) {
        const int64_t begin = tb_first_step_of_piece(part.piece, arguments->dealt, arguments->pieces);
        const int64_t end = tb_first_step_of_piece(part.piece + 1, arguments->dealt, arguments->pieces);
        const int64_t tile = (begin + done) / steps, zero = tile * steps;
        part.tile = arguments->whole + tile;
        part.run_first = begin > zero ? (int32_t)(begin - zero) : 0;
        part.run_count = (end - zero < steps ? (int32_t)(end - zero) : steps) - part.run_first;
        done = (int32_t)(begin + done - zero) - part.run_first;
    }
    const int32_t length = part.run_count;
    if (done >= length)
        return part;
    const int32_t alone = !begins_tile                ? 0
                          : arguments->alone < length ? arguments->alone
                                                      : length,
                  rest = length - alone, chains = arguments->chains < rest ? arguments->chains : rest;
    part.chains = alone + chains;
    part.chain = done;
    part.count = 1;
    if (done >= alone) {
        const int32_t shorter = rest / chains, longer = rest % chains, of_longer = longer * (shorter + 1);
        done -= alone;
        const int32_t chain = done < of_longer ? done / (shorter + 1) : longer + (done - of_longer) / shorter;
        part.chain = alone + chain;
        part.count = shorter + (chain < longer);
    }
    part.first = part.run_first + part.chain * arguments->alternating;
    return part;
}

/* Whether the run is all of its tile: then its sums go to C, else to a slot of the workspace. */
TB_HOST_DEVICE_INLINE bool tb_dgemm_has_tile(const tb_dgemm_arguments *arguments,
                                             const tb_dgemm_segment *part)
{
    return arguments->order.zeros ? part->piece < 0
                                  : part->run_first == 0 && part->run_count == arguments->steps;
}

/* What launch bounds make the assembler take for each thread, and what it has to take where warps hand registers over. */
#define TB_DGEMM_REGISTERS_AT_LAUNCH(threads, blocks) (65536 / ((threads) * (blocks)) / 8 * 8)

/* Whether a tile's sums have room where the stages were, so that blocks of a cluster can add up theirs. Warps that copy are ahead
 * of the others, and do not know when the stages are free. */
#define TB_DGEMM_SHARES_TILES(tile_m, tile_n, copying, ring_bytes)                                           \
    ((copying) == 0 && 8 * (tile_m) * (tile_n) <= (ring_bytes))

/* Chains of k are 16 times its root long for each slice, as slices cut k too; 8 times where a new chain costs little: where some
 * warps only copy, and totals are in registers. */
#define TB_DGEMM_CHAIN_ROOTS(slices, copying, totals) ((copying) > 0 && (totals) ? 8 : 16 * (slices))

#define TB_DGEMM_LARGER(x, y) ((x) > (y) ? (x) : (y))

/* Where warps copy alone, doubles by which lines of a panel in shared memory are longer than what they hold: panel.cuh says
 * why. */
#define TB_DGEMM_PAD_OUTER 4 /* lines along m or n */
#define TB_DGEMM_PAD_K_A   2 /* lines along k, of A */
#define TB_DGEMM_PAD_K_B   4 /* lines along k, of B */

/* A panel, whichever way it lies. */
#define TB_DGEMM_PANEL_BYTES(tile_outer, tile_k, pad_k, copying)                                             \
    (8 * ((copying) > 0 ? TB_DGEMM_LARGER((tile_outer) * ((tile_k) + (pad_k)),                               \
                                          (tile_k) * ((tile_outer) + TB_DGEMM_PAD_OUTER))                    \
                        : (tile_outer) * (tile_k)))
#define TB_DGEMM_PANEL_A_BYTES(tile_m, tile_k, copying)                                                      \
    TB_DGEMM_PANEL_BYTES(tile_m, tile_k, TB_DGEMM_PAD_K_A, copying)
#define TB_DGEMM_PANEL_B_BYTES(tile_n, tile_k, copying)                                                      \
    TB_DGEMM_PANEL_BYTES(tile_n, tile_k, TB_DGEMM_PAD_K_B, copying)

/* What a block notes of its work behind the ring, unless warps copy alone. */
#define TB_DGEMM_WORK_BYTES            64
#define TB_DGEMM_BYTES_BEHIND(copying) ((copying) > 0 ? 0 : TB_DGEMM_WORK_BYTES)

/* A panel of A and one of B, and two barriers where warps copy alone. */
#define TB_DGEMM_STAGE_BYTES(tile_m, tile_n, tile_k, copying)                                                \
    (TB_DGEMM_PANEL_A_BYTES(tile_m, tile_k, copying) + TB_DGEMM_PANEL_B_BYTES(tile_n, tile_k, copying) +     \
     ((copying) > 0 ? 16 : 0))

/* A panel of an A of complex numbers has half as many, each of which stands for a block of four reals. */
#define TB_ZGEMM_STAGE_BYTES(tile_m, tile_n, tile_k) TB_DGEMM_STAGE_BYTES((tile_m) / 2, tile_n, tile_k, 0)

#endif
