/* What the launch function of sgemm_skinny passes to its kernels, and the sizes that both must agree on. Shared
 * by C and CUDA.
 *
 * Words: the long operand is that of A and B whose outer dimension is the longer side of C, the short operand
 * the other; `length` and `shorts` are those sides. A row of the long operand is what one of `length` means,
 * stored along k or not. An extent is how many of `shorts` a block has, padded to 1, 2, 4, 8 or 16. A step is
 * the 16 or 32 elements of each lane that a warp multiplies at a time, a round one step of every warp along k, a
 * chunk what is in shared memory of the short operand, a piece a block's share of k.
 *
 * A line's shift is how many elements it begins behind an address that is aligned, to 16 bytes or a power of two of them.
 * Positions along a line are counted from there: where k is contiguous, k is the position less the shift, and rounds,
 * chunks and pieces are of positions.
 */
#ifndef TB_SKINNY_H
#define TB_SKINNY_H

#include <stdint.h>

#define TB_SKINNY_EXTENTS 5 /* 1, 2, 4, 8, 16 */

/* Warps of a block, and blocks a multiprocessor: 128 sums a lane leave room for 8 warps. */
#define TB_SKINNY_WARPS(extent) ((extent) < 16 ? 8 : 4)
#define TB_SKINNY_BLOCKS        2

/* A lane's part of a step: lines, which lie the leading dimension apart, of neighbours. With 4 x 4 it has 4 rows, so that what
 * is read of the short operand is used four times; 8 rows where 16 columns make that reading dear. One row, and so narrow
 * blocks that need no second pass over moderate products, is for 4-byte copies of few columns. */
#define TB_SKINNY_SHARE(extent) ((extent) < 16 ? 16 : 32)
#define TB_SKINNY_ELEMENTS(k_contiguous, vector, extent)                                                     \
    ((k_contiguous) ? 4 : (extent) == 16 ? 8 : (vector) || (extent) == 8 ? 4 : 1)
#define TB_SKINNY_LINES(k_contiguous, vector, extent)                                                        \
    (TB_SKINNY_SHARE(extent) / TB_SKINNY_ELEMENTS(k_contiguous, vector, extent))

/* Lanes of a warp along the dimension in which the long operand is contiguous, the others along its lines. 16-byte copies: 8,
 * for whole 128-byte lines. Rows that are contiguous and begin elsewhere: 32, because a warp's 4-byte copy should touch few
 * lines. */
#define TB_SKINNY_NEAR(vector) ((vector) ? 8 : 32)
#define TB_SKINNY_FAR(vector)  (32 / TB_SKINNY_NEAR(vector))

/* What a warp's step covers. */
#define TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent)                                                    \
    (TB_SKINNY_ELEMENTS(k_contiguous, vector, extent) * TB_SKINNY_NEAR(vector))
#define TB_SKINNY_STEP_FAR(k_contiguous, vector, extent)                                                     \
    (TB_SKINNY_LINES(k_contiguous, vector, extent) * TB_SKINNY_FAR(vector))
#define TB_SKINNY_ROWS(k_contiguous, vector, extent)                                                         \
    ((k_contiguous) ? TB_SKINNY_STEP_FAR(k_contiguous, vector, extent)                                       \
                    : TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent))
#define TB_SKINNY_STEP_K(k_contiguous, vector, extent)                                                       \
    ((k_contiguous) ? TB_SKINNY_STEP_NEAR(k_contiguous, vector, extent)                                      \
                    : TB_SKINNY_STEP_FAR(k_contiguous, vector, extent))

/* Of a block, so that its sums fit where its steps were. */
#define TB_SKINNY_ROWS_MAXIMUM(extent) ((extent) < 16 ? 512 : 256)

/* A whole number of rounds: 8 to 20 KB of the short operand, of which there are two buffers. Between two chunks all warps wait
 * for each other, so that longer ones are faster, where two blocks still find room: with 16 columns from sm_90 on. */
#define TB_SKINNY_CHUNK_K(extent, architecture)                                                              \
    ((extent) < 8 ? 2048 / (extent) : (extent) < 16 || (architecture) >= 90 ? 256 : 128)

/* Floats from one k of the short operand to the next: padded so that 8 lanes' 16-byte reads of 8 slots fall into 32 different
 * banks. */
#define TB_SKINNY_PITCH(extent) ((extent) < 8 ? (extent) : (extent) + 4)

/* Steps of the long operand that a warp has in shared memory: one is used while the others are on their way. */
#define TB_SKINNY_DEPTH(architecture) ((architecture) < 80 ? 2 : 3)

/* Where k is contiguous, so many warps beside each other take turns along the rows, and a lane's lines lie 4 rows apart for
 * each of them. Lines so far apart have the same shift, counted from an address that 16 bytes for each of those warps divide.
 * With one column there are no turns (docs/lab/simt.md, "Open"). */
#define TB_SKINNY_IN_TURN(extent, warps, warps_k) ((extent) > 1 ? (warps) / (warps_k) : 1)
#define TB_SKINNY_SHIFTS(extent, warps, warps_k)  (4 * TB_SKINNY_IN_TURN(extent, warps, warps_k))

/* Slots before a chunk, for what lies earlier. */
#define TB_SKINNY_BEFORE(extent) TB_SKINNY_SHIFTS(extent, TB_SKINNY_WARPS(extent), 1)

/* Dynamic shared memory of a block: the steps of its warps, and two chunks of the short operand with what is before them. */
#define TB_SKINNY_SHARED_BYTES(extent, architecture)                                                         \
    (4 *                                                                                                     \
     (32 * TB_SKINNY_WARPS(extent) * TB_SKINNY_SHARE(extent) * TB_SKINNY_DEPTH(architecture) +               \
      2 * (TB_SKINNY_CHUNK_K(extent, architecture) + TB_SKINNY_BEFORE(extent)) * TB_SKINNY_PITCH(extent)))

#define TB_SKINNY_REDUCE_THREADS 256

typedef struct tb_skinny_arguments {
    const float *x, *y; /* the long and the short operand */
    float *c;
    int64_t length, shorts, k;
    int64_t x_line;      /* from line to line: rows where k is contiguous, else steps along k */
    int64_t x_lane_line; /* from one of a lane's lines to the next, and from round to round */
    int64_t x_round;
    int64_t y_row, y_k; /* in the short operand, from one of `shorts` to the next, and from k to k */
    int64_t c_row;      /* in C, from row to row and from one of `shorts` to the next: one of them is 1 */
    int64_t c_column;
    int64_t pieces;
    float *partial; /* pieces x C, dense in the order of C; where there are at least two and no clusters */
    int32_t piece_rounds; /* in a piece, the last of all perhaps in part */
    int32_t longer;       /* so many of the first pieces have one more */
    int32_t cluster; /* 1, or the pieces, a power of two, if a cluster's blocks have them and add them up */
    int32_t tiles_short; /* blocks along `shorts`, and along `length` */
    int32_t tiles_long;
    int32_t round_k;
    int32_t shifts;       /* a power of two; lines have smaller shifts. 1: none has any */
    int32_t warps_k;      /* of a block's warps, so many share k and the others the rows: a power of two */
    int32_t reduce_lanes; /* of sgemm_skinny_reduce: see there */
    float alpha, beta;
} tb_skinny_arguments;

#endif
