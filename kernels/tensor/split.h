/* What the launch function of the split-precision kernels passes to them. Shared by C and CUDA.
 *
 * Words: a part is one of the BF16 or FP16 numbers whose sum is an FP32 number; a panel is as many rows of op(A), or
 * columns of op(B), as a tile of C has; a chunk is a panel's parts over one stage of k; an outer index is a row of
 * op(A) or a column of op(B).
 */
#ifndef TB_SPLIT_H
#define TB_SPLIT_H

#include "lib/problem.h"

#define TB_SPLIT_BF16_PARTS 3
#define TB_SPLIT_FP16_PARTS 2
#define TB_SPLIT_STAGE_K    32

/* Bytes of a chunk: parts of 2 bytes. */
#define TB_SPLIT_CHUNK_BYTES(parts, rows) ((parts)*TB_SPLIT_STAGE_K * 2 * (rows))

/* Stages that are summed in registers before they join what was summed before. */
#define TB_SPLIT_SEGMENT_STAGES 32

/* The kernel's tiles are 128 x TB_SPLIT_WIDE or, where those would leave the last wave of tiles too empty, 128 x
 * TB_SPLIT_NARROW. A block's shared memory is a ring of as many stages as fit into 227 KiB, each a chunk of A, a
 * chunk of B, and two 8-byte barriers; and lists of products, of 4 bytes for every consumer warp and stage of a segment. */
#define TB_SPLIT_TILE_M      128
#define TB_SPLIT_WIDE        192
#define TB_SPLIT_NARROW      128
#define TB_SPLIT_LISTS_BYTES (8 * TB_SPLIT_SEGMENT_STAGES * 4)
#define TB_SPLIT_RING_SPACE  (227 * 1024 - TB_SPLIT_LISTS_BYTES)
#define TB_SPLIT_STAGE_BYTES(parts, tile_n)                                                                  \
    (TB_SPLIT_CHUNK_BYTES(parts, TB_SPLIT_TILE_M) + TB_SPLIT_CHUNK_BYTES(parts, tile_n))
#define TB_SPLIT_RING_STAGES(parts, tile_n)                                                                  \
    (TB_SPLIT_RING_SPACE / (TB_SPLIT_STAGE_BYTES(parts, tile_n) + 2 * 8))
#define TB_SPLIT_RING_BYTES(parts, tile_n)                                                                   \
    (TB_SPLIT_RING_STAGES(parts, tile_n) * (TB_SPLIT_STAGE_BYTES(parts, tile_n) + 2 * 8) +                   \
     TB_SPLIT_LISTS_BYTES)
#define TB_SPLIT_CLUSTER_BLOCKS 2
#define TB_SPLIT_CONSUMERS      256 /* threads that hold a tile's sums */
/* Quadruples of sums that are written at a time: a thread's of the kernel that adds up shares of k. */
#define TB_SPLIT_WRITE_QUADRUPLES 4
#define TB_SPLIT_THREADS          384

/* What a block of the pre-pass splits. Panels are whole numbers of its rows. */
#define TB_SPLIT_BLOCK_ROWS   64
#define TB_SPLIT_BLOCK_STAGES 4

/* Threads of a block that clears what the passes find out. */
#define TB_SPLIT_BEGIN_THREADS 256

/* FP16 parts: every outer index is scaled by a power of two that brings its largest magnitude to [2^14, 2^15). */
#define TB_SPLIT_SCALED_EXPONENT 14

/* Exponents, unbiased, that the split product takes; what has others is left to FP32 arithmetic. BF16 parts mind all
 * of them, FP16 parts the last.
 * SMALLEST: below it the third part is no longer exact, as BF16 ends at 2^-133.
 * SMALLEST_PRODUCT: below it the tensor cores' last bit, 2^-149, lost twelve times a stage, shows.
 * LARGEST: above it rounding to BF16 may overflow.
 * LARGEST_SUM: no partial sum of the products' magnitudes may exceed this power of two. */
#define TB_SPLIT_SMALLEST         (-110)
#define TB_SPLIT_SMALLEST_PRODUCT (-116)
#define TB_SPLIT_LARGEST          126
#define TB_SPLIT_LARGEST_SUM      127

/* What the pre-pass finds out about an operand: the largest of its biased exponents, and of 256 minus those
 * of its nonzero elements, zero where it has no such element; how many parts hold anything but zeros; and how many
 * pieces lack a part, of TB_SPLIT_BLOCK_ROWS rows and a stage each. */
typedef struct tb_split_range {
    uint32_t largest, smallest_below_256, parts, lacking;
} tb_split_range;

/* Where more than one piece in so many lacks a part, products with empty parts are left out. */
#define TB_SPLIT_LACKING_SHARE 16

/* In device memory, set to zero before the pre-pass, but for a where A's parts are there already. */
typedef struct tb_split_findings {
    tb_split_range a, b;
    uint32_t declined; /* 1 once the tensor kernel has left C to the SIMT kernel that follows */
} tb_split_findings;

typedef struct tb_split_arguments {
    tb_problem problem;
    void *parts_a, *parts_b; /* [panel][stage][part][k / 8][row][k % 8], zeros where there is no element */
    uint32_t *largest_a,
        *largest_b; /* FP16 parts: by outer index, the bits of its largest magnitude; else NULL */
    uint8_t *used_a,
        *used_b; /* [outer / TB_SPLIT_BLOCK_ROWS][stage]: the piece's parts that hold anything; or NULL */
    tb_split_findings *findings;
    float *segments; /* a tile for every block of the grid; not used where there is one segment of k alone */
    float *
        shares; /* [share][panel of A][panel of B]: a tile of sums of each share of k; not used where there is one */
    int64_t stages;             /* of k */
    int64_t share_stages;       /* of a share of k; the last may have fewer */
    int32_t shares_of_k;        /* tiles of each are computed apart, then added up */
    int32_t last_order;         /* products of part i and part j are computed where i + j is at most this */
    int64_t split_blocks_a;     /* of the pre-pass, those of A; B's follow */
    int64_t first_split_block;  /* that runs: 0, or B's first one where A's parts are there already */
    int32_t panel_a, panel_b;   /* their rows */
    int32_t panels_a, panels_b; /* of A a multiple of the blocks of a cluster */
} tb_split_arguments;

#endif
