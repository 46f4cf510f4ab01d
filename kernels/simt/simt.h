/* What the SIMT family's launch functions pass to its kernels, and how work is dealt to blocks. Shared by C
 * and CUDA.
 *
 * A step is tile_k of k for one tile of C, the unit of work. The first `whole` tiles have a block each. The
 * steps of the others are laid in one line, tile after tile, and dealt evenly to `pieces` further blocks, so
 * that the last wave of blocks ends together. A tile whose steps went to several blocks is put together by a
 * second launch, sgemm_simt_reduce; or by these blocks themselves, where they are a cluster: then every tile has the same
 * number of pieces. Always in the same order.
 *
 * Where all tiles are cut into as many pieces, and step 0 is the first panel along k, these have a tile's steps in turn, and so share what
 * numbers are like along k: else the one that has the large products would have them all, in one long chain.
 *
 * Where steps are left out that multiply zeros alone (zeros.h), every tile has a block of its own.
 */
#ifndef TB_SIMT_H
#define TB_SIMT_H

#include "kernels/batches.h"
#include "kernels/mask.h"
#include "kernels/pieces.h"
#include "kernels/sgemm.h"
#include "kernels/zeros.h"

typedef struct tb_simt_arguments {
    tb_sgemm problem;
    tb_batches batches;       /* of products alike, or of one */
    int64_t tiles_m, tiles_n; /* of one product */
    int64_t whole;            /* tiles with a block of their own */
    int64_t steps;            /* of a tile, at least 1 */
    int64_t dealt;            /* steps of the tiles that are not whole */
    int64_t pieces;           /* blocks to which those are dealt */
    int64_t jump_a, jump_b;   /* bytes from the panel of a block's step to that of its next one */
    float *partial;           /* two tiles for each piece: see tb_workspace_slot; for clusters none */
    int32_t cluster;          /* pieces of a tile that are a cluster of blocks; 1: there are no clusters */
    int32_t alternating;      /* pieces that have a tile's steps in turn; 1: their steps follow each other */
    int32_t ascending;        /* step 0 is the first panel along k: see tb_simt_segment */
    int32_t tile_m, tile_n, tile_k;
    int32_t totals;         /* blocks have shared memory for them: see TB_SIMT_TOTALS_BYTES */
    int32_t reduce_lanes;   /* of sgemm_simt_reduce: see there */
    tb_tile_order order;    /* of one product, where C has no mask */
    tb_masked_tiles masked; /* of one product: where C has a mask, only these are tiles */
} tb_simt_arguments;

/* The chips that run a shape, by the field runs_on of its row: compute capabilities times ten, from FIRST on and before END;
 * 0: there is no end. */
#define TB_SIMT_FIRST_all          75
#define TB_SIMT_END_all            0
#define TB_SIMT_FIRST_sm_80_to_11x 80
#define TB_SIMT_END_sm_80_to_11x   120
#define TB_SIMT_FIRST_sm_90        90
#define TB_SIMT_END_sm_90          100

/* Threads of a block. */
#define TB_SIMT_THREADS(tile_m, tile_n, thread_m, thread_n, slices)                                          \
    ((tile_m) * (tile_n) / ((thread_m) * (thread_n)) * (slices))

/* What a panel of tile_outer x tile_k takes in a stage: the padding is 4 floats for each step of k, or for each 4 of the
 * outer dimension in each slice, as panel.cuh lays it out. */
#define TB_SIMT_PANEL_FLOATS(tile_outer, tile_k, slices)                                                     \
    ((tile_outer) * (tile_k) +                                                                               \
     ((tile_outer) * (slices) > 4 * (tile_k) ? (tile_outer) * (slices) : 4 * (tile_k)))

/* A chain is what one register adds up, one product after the other; its error grows with its length. A chain of more than
 * CHAIN_LEAST steps of k is cut: in the middle, or after CHAIN_MOST; as the chains' sums are a chain, too, after twice as many
 * where CHAIN_MANY are still to come, and twice as many again for each four times as many. At a cut the sums are added to the
 * block's totals in shared memory, and begin again from zero. */
#define TB_SIMT_CHAIN_LEAST 96
#define TB_SIMT_CHAIN_MOST  256
#define TB_SIMT_CHAIN_MANY  8192

/* Shared memory for the totals of all slices' sums: of the smallest tile, for which cuBLAS splits even a short k. With larger ones
 * chains are short enough beside cuBLAS's, or cutting them takes more than 2%, as measured on an H100. 0 also where totals would
 * leave room for fewer blocks on a multiprocessor of 228 KiB, as 9.0 has, of which every block takes 1 KiB besides. */
#define TB_SIMT_TOTALS_BYTES(tile_m, tile_n, slices, stages_bytes, blocks)                                   \
    ((tile_m) * (tile_n) <= 32 * 32 &&                                                                       \
             (blocks) * ((stages_bytes) + 4 * (tile_m) * (tile_n) * (slices) + 1024) <= 228 * 1024           \
         ? 4 * (tile_m) * (tile_n) * (slices)                                                                \
         : 0)

/* Lines of tiles in a group of their order. */
#define TB_SIMT_GROUP 8

/* What a block does without interruption: of a tile the steps from `first` on, `alternating` apart. Step 0 is a panel that may be a
 * short one: coming first, it needs no guard in the main loop. It is the first panel along k, so that products are added up as k grows:
 * where numbers grow along k, the largest that come first would have each small one behind them rounded to their last bits. Where the
 * panels behind it would not keep the alignment of 16-byte copies along k, and where zeros are left out, which is done by panels as they
 * lie from the beginning of k on, it is the last panel, and step 1 the panel behind those that are left out. */
typedef struct tb_simt_segment {
    int32_t tile; /* among those of all products */
    int32_t first, count;
    int32_t left_out; /* none, unless step 0 is the first one */
    int32_t behind;   /* steps that the block has of the tiles behind this one */
} tb_simt_segment;

/* The first architecture on which panels are left out. */
#define TB_SIMT_ZEROS_FIRST 90

/* Where there are zeros: all steps that a tile needs. */
TB_HOST_DEVICE_INLINE tb_simt_segment tb_simt_needed(const tb_simt_arguments *arguments, int32_t number)
{
    const tb_tile_order *order = &arguments->order;
    const tb_needed panels = tb_needed_steps(
        order->zeros, tb_locate_tile(order, (uint32_t)number % (order->lines * order->length)),
        arguments->tile_m, arguments->tile_n, arguments->tile_k, (int32_t)arguments->steps);
    const bool has_last = panels.end == arguments->steps;
    tb_simt_segment segment = {number, !has_last, 0, 0, 0};
    segment.count = panels.end - panels.first;
    segment.left_out = has_last ? panels.first : 0;
    return segment;
}

/* The first segment of a piece. */
TB_HOST_DEVICE_INLINE tb_simt_segment tb_simt_begin(const tb_simt_arguments *arguments, int64_t piece)
{
    const int64_t steps = arguments->steps;
    tb_simt_segment segment = {0, 0, 0, 0, 0};
    if (arguments->alternating > 1) {
        const uint32_t pieces = (uint32_t)arguments->alternating, number = (uint32_t)piece;
        segment.tile = (int32_t)(number / pieces);
        segment.first = (int32_t)(number % pieces);
        segment.count = (int32_t)(((uint32_t)steps - 1 - (uint32_t)segment.first) / pieces) + 1;
    } else {
        const int64_t begin = tb_first_step_of_piece(piece, arguments->dealt, arguments->pieces);
        const int64_t end = tb_first_step_of_piece(piece + 1, arguments->dealt, arguments->pieces);
        const int64_t tile = begin / steps, of_tile = (tile + 1) * steps - begin, all = end - begin;
        segment.tile = (int32_t)(arguments->whole + tile);
        segment.first = (int32_t)(steps - of_tile);
        segment.count = (int32_t)(all < of_tile ? all : of_tile);
        segment.behind = (int32_t)all - segment.count;
    }
    return segment;
}

/* The segment after one behind which the block has steps. */
TB_HOST_DEVICE_INLINE tb_simt_segment tb_simt_continue(const tb_simt_arguments *arguments,
                                                       const tb_simt_segment *before)
{
    const int32_t steps = (int32_t)arguments->steps;
    tb_simt_segment segment = {before->tile + 1, 0, before->behind, 0, 0};
    if (segment.count > steps)
        segment.count = steps;
    segment.behind = before->behind - segment.count;
    return segment;
}

#endif
