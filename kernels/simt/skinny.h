/* What the launch function of sgemm_skinny passes to its kernels, and the sizes that both must agree on. Shared
 * by C and CUDA.
 *
 * Words: the long operand is that of A and B whose outer dimension is the longer side of C, the short operand
 * the other; `length` and `shorts` are those sides. A row of the long operand is what one of `length` means,
 * stored along k or not. An extent is how many of `shorts` a block has, padded to 1, 2, 4, 8 or 16. A step is
 * the 16 elements of each lane that a warp multiplies at a time, a round one step of every warp along k, a
 * chunk what is in shared memory of the short operand, a piece a block's share of k.
 */
#ifndef TB_SKINNY_H
#define TB_SKINNY_H

#include <stdint.h>

#define TB_SKINNY_EXTENTS 5 /* 1, 2, 4, 8, 16 */

/* Warps of a block, and blocks a multiprocessor: 64 sums a lane leave room for 12 warps, fewer for 16. */
#define TB_SKINNY_WARPS(extent)  ((extent) < 16 ? 8 : 4)
#define TB_SKINNY_BLOCKS(extent) ((extent) < 16 ? 2 : 3)

/* A lane's part of a step is 16 elements: lines, which lie the leading dimension apart, of neighbours. With 4 x 4
 * it has 4 rows, so that what is read of the short operand is used four times. One row, and so narrow blocks
 * that need no second pass over moderate products, is for 4-byte loads along the rows where few columns make
 * that reading cheap. */
#define TB_SKINNY_ELEMENTS(k_contiguous, vector, extent) ((k_contiguous) || (vector) || (extent) > 4 ? 4 : 1)
#define TB_SKINNY_LINES(k_contiguous, vector, extent)    (16 / TB_SKINNY_ELEMENTS(k_contiguous, vector, extent))

/* Lanes of a warp along the dimension in which the long operand is contiguous; the others along its lines.
 * Aligned operands: 8, for whole 128-byte lines by 16-byte loads. Others: more, because a warp's 4-byte load
 * should touch few lines. */
#define TB_SKINNY_NEAR(k_contiguous, vector) ((vector) ? 8 : (k_contiguous) ? 16 : 32)

/* What a warp's step covers. */
#define TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent)                                                    \
    (TB_SKINNY_ELEMENTS(k_contiguous, vector, extent) * TB_SKINNY_NEAR(k_contiguous, vector))
#define TB_SKINNY_STEP_FAR(k_contiguous, vector, extent)                                                     \
    (TB_SKINNY_LINES(k_contiguous, vector, extent) * (32 / TB_SKINNY_NEAR(k_contiguous, vector)))
#define TB_SKINNY_ROWS(k_contiguous, vector, extent)                                                         \
    ((k_contiguous) ? TB_SKINNY_STEP_FAR(k_contiguous, vector, extent)                                       \
                    : TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent))
#define TB_SKINNY_STEP_K(k_contiguous, vector, extent)                                                       \
    ((k_contiguous) ? TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent)                                      \
                    : TB_SKINNY_STEP_FAR(k_contiguous, vector, extent))

/* Of a block, so that its sums fit where the short operand was. */
#define TB_SKINNY_ROWS_MAXIMUM(extent) ((extent) < 16 ? 512 : 256)

/* A whole number of rounds: 8 to 12 KB of the short operand, of which there are two buffers. */
#define TB_SKINNY_CHUNK_K(extent) ((extent) < 8 ? 2048 / (extent) : (extent) < 16 ? 256 : 128)

/* Steps of the long operand that a warp has in registers or on their way: what registers allow. */
#define TB_SKINNY_DEPTH(extent) ((extent) == 8 ? 2 : 3)

#define TB_SKINNY_REDUCE_THREADS 256

typedef struct tb_skinny_arguments {
    const float *x, *y; /* the long and the short operand */
    float *c;
    int64_t length, shorts, k;
    int64_t x_line;      /* from line to line: rows where k is contiguous, else steps along k */
    int64_t x_lane_line; /* from one of a lane's lines to the next, and from round to round */
    int64_t x_round;
    int64_t y_row, y_k; /* in the short operand, from one of `shorts` to the next, and from k to k */
    int64_t c_row,
        c_column;   /* in C, from row to row and from one of `shorts` to the next: one of them is 1 */
    int64_t rounds; /* all of k, the last one perhaps in part */
    int64_t pieces;
    float *partial;  /* pieces x C, dense in the order of C; where there are at least two and no clusters */
    int32_t cluster; /* 1, or the pieces, if the blocks of a cluster have them and add them up */
    int32_t tiles_short; /* blocks along `shorts`, and along `length` */
    int32_t tiles_long;
    int32_t round_k; /* of a round, and rounds in a chunk */
    int32_t rounds_a_chunk;
    int32_t warps_k;      /* of a block's warps, so many share k and the others the rows: a power of two */
    int32_t reduce_lanes; /* of sgemm_skinny_reduce: see there */
    float alpha, beta;
} tb_skinny_arguments;

#endif
