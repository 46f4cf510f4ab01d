/* What the launch function of the skinny family passes to its kernels, sgemm_skinny and dgemm_skinny, and the sizes that both
 * must agree on. Shared by C and CUDA.
 *
 * Words: the long operand is that of A and B whose outer dimension is the longer side of C, the short operand
 * the other; `length` and `shorts` are those sides. A row of the long operand is what one of `length` means,
 * stored along k or not. An extent is how many of `shorts` a block has, padded to 1, 2, 4, 8 or 16, of doubles 8 at most. A
 * step is the 64 or 128 bytes of each lane that a warp multiplies at a time, a round one step of every warp along k, a
 * chunk what is in shared memory of the short operand, in it a slot what belongs to one k, a piece a block's share of k.
 *
 * A line's shift is how many elements it begins behind an address that is aligned, to 16 bytes or a power of two of them.
 * Positions along a line are counted from there: where k is contiguous, k is the position less the shift, and rounds,
 * chunks and pieces are of positions.
 *
 * `bytes` is an element's size. Most sizes follow from a slot's, in words of 4 bytes: doubles have those of twice as many
 * floats.
 */
#ifndef TB_SKINNY_H
#define TB_SKINNY_H

#include <stdint.h>

#define TB_SKINNY_EXTENTS(bytes)       ((bytes) == 4 ? 5 : 4) /* 1, 2, 4, 8, and of floats 16 */
#define TB_SKINNY_WORDS(bytes, extent) ((extent) * (bytes) / 4)

/* Elements of 16 bytes. */
#define TB_SKINNY_WIDTH(bytes) (16 / (bytes))

/* Warps of a block, and blocks a multiprocessor: 128 registers of sums a lane leave room for 8 warps. */
#define TB_SKINNY_WARPS(bytes, extent) (TB_SKINNY_WORDS(bytes, extent) < 16 ? 8 : 4)
#define TB_SKINNY_BLOCKS               2

/* A lane's part of a step, in elements: lines, which lie the leading dimension apart, of neighbours. It has 4 rows, so that what
 * is read of the short operand is used four times; 8 rows where slots of 64 bytes make that reading dear. One row, and so narrow
 * blocks that need no second pass over moderate products, is for copies of single elements and few columns. */
#define TB_SKINNY_SHARE(bytes, extent) ((TB_SKINNY_WORDS(bytes, extent) < 16 ? 64 : 128) / (bytes))
#define TB_SKINNY_ELEMENTS(bytes, k_contiguous, vector, extent)                                              \
    ((k_contiguous)                                    ? TB_SKINNY_WIDTH(bytes)                              \
     : TB_SKINNY_WORDS(bytes, extent) == 16            ? 8                                                   \
     : (vector) || TB_SKINNY_WORDS(bytes, extent) == 8 ? 4                                                   \
                                                       : 1)
#define TB_SKINNY_LINES(bytes, k_contiguous, vector, extent)                                                 \
    (TB_SKINNY_SHARE(bytes, extent) / TB_SKINNY_ELEMENTS(bytes, k_contiguous, vector, extent))

/* How many products a lane adds to each of its sums in a step. */
#define TB_SKINNY_LANE_K(bytes, k_contiguous, vector, extent)                                                \
    ((k_contiguous) ? TB_SKINNY_ELEMENTS(bytes, k_contiguous, vector, extent)                                \
                    : TB_SKINNY_LINES(bytes, k_contiguous, vector, extent))

/* Lanes of a warp along the dimension in which the long operand is contiguous, the others along its lines. 16-byte copies: 8,
 * for whole 128-byte lines. Rows that are contiguous and begin elsewhere: 32, because a warp's copy of single elements should
 * touch few lines. */
#define TB_SKINNY_NEAR(vector) ((vector) ? 8 : 32)
#define TB_SKINNY_FAR(vector)  (32 / TB_SKINNY_NEAR(vector))

/* What a warp's step covers. */
#define TB_SKINNY_STEP_NEAR(bytes, k_contiguous, vector, extent)                                             \
    (TB_SKINNY_ELEMENTS(bytes, k_contiguous, vector, extent) * TB_SKINNY_NEAR(vector))
#define TB_SKINNY_STEP_FAR(bytes, k_contiguous, vector, extent)                                              \
    (TB_SKINNY_LINES(bytes, k_contiguous, vector, extent) * TB_SKINNY_FAR(vector))
#define TB_SKINNY_ROWS(bytes, k_contiguous, vector, extent)                                                  \
    ((k_contiguous) ? TB_SKINNY_STEP_FAR(bytes, k_contiguous, vector, extent)                                \
                    : TB_SKINNY_STEP_NEAR(bytes, k_contiguous, vector, extent))
#define TB_SKINNY_STEP_K(bytes, k_contiguous, vector, extent)                                                \
    ((k_contiguous) ? TB_SKINNY_STEP_NEAR(bytes, k_contiguous, vector, extent)                               \
                    : TB_SKINNY_STEP_FAR(bytes, k_contiguous, vector, extent))

/* Rows of a block, so that its sums fit where its steps were. */
#define TB_SKINNY_ROWS_MAXIMUM(bytes, extent) (TB_SKINNY_WORDS(bytes, extent) < 16 ? 512 : 256)

/* A whole number of rounds: 8 to 20 KB of the short operand, of which there are two buffers. Between two chunks all warps wait
 * for each other, so that longer ones are faster, where two blocks still find room: with slots of 64 bytes from sm_90 on. */
#define TB_SKINNY_CHUNK_K(bytes, extent, architecture)                                                       \
    (TB_SKINNY_WORDS(bytes, extent) < 8                            ? 2048 / TB_SKINNY_WORDS(bytes, extent)   \
     : TB_SKINNY_WORDS(bytes, extent) < 16 || (architecture) >= 90 ? 256                                     \
                                                                   : 128)

/* Elements from one slot to the next: padded so that 8 lanes' 16-byte reads of 8 slots fall into 32 different banks. */
#define TB_SKINNY_PITCH(bytes, extent)                                                                       \
    (TB_SKINNY_WORDS(bytes, extent) < 8 ? (extent) : (extent) + TB_SKINNY_WIDTH(bytes))

/* Steps of the long operand that a warp has in shared memory: one is used while the others are on their way. */
#define TB_SKINNY_DEPTH(architecture) ((architecture) < 80 ? 2 : 3)

/* Where k is contiguous, so many warps beside each other take turns along the rows, and a lane's lines lie 4 rows apart for
 * each of them. Lines so far apart have the same shift, counted from an address that as many elements divide: of doubles, half
 * of those make a line of 128 bytes. With one column there are no turns (docs/lab/simt.md, "One column along k"). */
#define TB_SKINNY_IN_TURN(extent, warps, warps_k) ((extent) > 1 ? (warps) / (warps_k) : 1)
#define TB_SKINNY_APART(extent, warps, warps_k)   (4 * TB_SKINNY_IN_TURN(extent, warps, warps_k))
#define TB_SKINNY_SHIFTS(bytes, extent, warps, warps_k)                                                      \
    (TB_SKINNY_APART(extent, warps, warps_k) < 128 / (bytes) ? TB_SKINNY_APART(extent, warps, warps_k)       \
                                                             : 128 / (bytes))

/* Slots before a chunk, for what lies earlier. */
#define TB_SKINNY_BEFORE(bytes, extent) TB_SKINNY_SHIFTS(bytes, extent, TB_SKINNY_WARPS(bytes, extent), 1)

/* Dynamic shared memory of a block: the steps of its warps, and two chunks of the short operand with what is before them. */
#define TB_SKINNY_SHARED_BYTES(bytes, extent, architecture)                                                  \
    ((bytes) *                                                                                               \
     (32 * TB_SKINNY_WARPS(bytes, extent) * TB_SKINNY_SHARE(bytes, extent) * TB_SKINNY_DEPTH(architecture) + \
      2 * (TB_SKINNY_CHUNK_K(bytes, extent, architecture) + TB_SKINNY_BEFORE(bytes, extent)) *               \
          TB_SKINNY_PITCH(bytes, extent)))

#define TB_SKINNY_REDUCE_THREADS 256

typedef struct tb_skinny_arguments {
    const void *x, *y; /* the long and the short operand */
    void *c;
    int64_t length, shorts, k;
    int64_t x_line;      /* from line to line: rows where k is contiguous, else steps along k */
    int64_t x_lane_line; /* from one of a lane's lines to the next, and from round to round */
    int64_t x_round;
    int64_t y_row, y_k; /* in the short operand, from one of `shorts` to the next, and from k to k */
    int64_t c_row;      /* in C, from row to row and from one of `shorts` to the next: one of them is 1 */
    int64_t c_column;
    int64_t pieces;
    void *partial; /* pieces x C, dense in the order of C; where there are at least two and no clusters */
    int32_t piece_rounds; /* in a piece, the last of all perhaps in part */
    int32_t longer;       /* so many of the first pieces have one more */
    int32_t cluster; /* 1, or the pieces, a power of two, if a cluster's blocks have them and add them up */
    int32_t tiles_short; /* blocks along `shorts`, and along `length` */
    int32_t tiles_long;
    int32_t round_k;
    int32_t shifts;         /* a power of two; lines have smaller shifts. 1: none has any */
    int32_t warps_k;        /* of a block's warps, so many share k and the others the rows: a power of two */
    int32_t reduce_lanes;   /* of the second launch: see skinny_reduce.cuh */
    float alpha, beta;      /* of floats */
    double alpha64, beta64; /* of doubles */
} tb_skinny_arguments;

#endif
