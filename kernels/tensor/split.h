/* What the launch function of the split-precision kernels passes to them. Shared by C and CUDA.
 *
 * Words: a part is one of the BF16 or FP16 numbers whose sum is an FP32 number; a panel is as many rows of op(A), or
 * columns of op(B), as a tile of C has; a chunk is a panel's parts over one stage of k; an outer index is a row of
 * op(A) or a column of op(B).
 */
#ifndef TB_SPLIT_H
#define TB_SPLIT_H

#include "kernels/mask.h"
#include "kernels/sgemm.h"
#include "kernels/zeros.h"

#define TB_SPLIT_STAGE_K 32

/* Bytes of a row's parts over a stage: three BF16, two FP16, and two FP16 with FP8 for what they miss. */
#define TB_SPLIT_BF16_ROW_BYTES  (TB_SPLIT_STAGE_K * 3 * 2)
#define TB_SPLIT_FP16_ROW_BYTES  (TB_SPLIT_STAGE_K * 2 * 2)
#define TB_SPLIT_MIXED_ROW_BYTES (TB_SPLIT_STAGE_K * (2 * 2 + 3))

/* Stages that are summed in registers before they join what was summed before. */
#define TB_SPLIT_SEGMENT_STAGES 32

/* The kernel's tiles are 128 x TB_SPLIT_WIDE or, where those would leave the last wave of tiles too empty, 128 x
 * TB_SPLIT_NARROW. A block's shared memory is a ring of as many stages as fit into 227 KiB, each a chunk of A, a
 * chunk of B, and two 8-byte barriers; and lists of products, of 4 bytes for every consumer warp and stage of a segment. */
#define TB_SPLIT_TILE_M                         128
#define TB_SPLIT_WIDE                           192
#define TB_SPLIT_NARROW                         128
#define TB_SPLIT_LISTS_BYTES                    (8 * TB_SPLIT_SEGMENT_STAGES * 4)
#define TB_SPLIT_RING_SPACE                     (227 * 1024 - TB_SPLIT_LISTS_BYTES)
#define TB_SPLIT_STAGE_BYTES(row_bytes, tile_n) ((row_bytes) * (TB_SPLIT_TILE_M + (tile_n)))
#define TB_SPLIT_RING_STAGES(row_bytes, tile_n)                                                              \
    (TB_SPLIT_RING_SPACE / (TB_SPLIT_STAGE_BYTES(row_bytes, tile_n) + 2 * 8))
#define TB_SPLIT_RING_BYTES(row_bytes, tile_n)                                                               \
    (TB_SPLIT_RING_STAGES(row_bytes, tile_n) * (TB_SPLIT_STAGE_BYTES(row_bytes, tile_n) + 2 * 8) +           \
     TB_SPLIT_LISTS_BYTES)
#define TB_SPLIT_CLUSTER_BLOCKS 2
#define TB_SPLIT_PLAIN_TILE     128 /* of FP32 multiply-adds, either side */
/* Panels of A, or pairs of them, whose tiles are in flight together. */
#define TB_SPLIT_GROUP     8
#define TB_SPLIT_CONSUMERS 256 /* threads that hold a tile's sums */
/* Quadruples of sums that are written at a time: a thread's of the kernel that adds up shares of k. */
#define TB_SPLIT_WRITE_QUADRUPLES 4
#define TB_SPLIT_THREADS          384

/* Clusters that read the same chunks stay close enough for L2 to have them: one begins so many stages only when all others
 * have begun those before. That is for speed alone, so it waits for so many looks at most, and after that no more. */
#define TB_SPLIT_PACE_STAGES 8
#define TB_SPLIT_PACE_LOOKS  50

/* What a block of the pre-pass splits: so many rows and, one after the other, stages. Panels are whole numbers of its rows. */
#define TB_SPLIT_BLOCK_ROWS        64
#define TB_SPLIT_BLOCK_STAGES_MOST 4
/* Such blocks on a multiprocessor, for enough bytes in flight: 3.8 TB/s on an H200, against 3.5 with 4. */
#define TB_SPLIT_BLOCKS 6

/* Threads of a block that clears what the passes find out. */
#define TB_SPLIT_BEGIN_THREADS 256

/* Blocks that look whether A has to be split in another format than the launch before had; a few a multiprocessor. */
#define TB_SPLIT_BLOCKS_AGAIN 512

/* FP16 parts: every outer index is scaled by a power of two that brings its largest magnitude to [2^14, 2^15). */
#define TB_SPLIT_SCALED_EXPONENT 14

/* FP8 beside FP16 parts: third parts are multiplied by two to this power, first parts divided. */
#define TB_SPLIT_SMALL_SHIFT 8

/* Significant bits of the first part, where FP8 has what two parts miss. Eight would be enough for 24, too, but with each bit
 * less products of order 2, of which FP8 knows three bits, become four times as large; with each bit more the tensor cores cut
 * more off beside larger products (docs/precision.md). */
#define TB_SPLIT_SHORT_BITS 9

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
    uint32_t largest, smallest_below_256, parts;
    uint32_t lacking[2]; /* without parts of FP8, and with them */
    /* What a survey finds: the most that an outer index has of each. Zeros are elements without a logarithm, subnormal ones among
     * them; where all are zeros there are none. The deficit is how far the logarithms of the others, to base 2, lie below the
     * largest one's, all added up, in units of 2. */
    uint32_t zeros, deficit;
    uint32_t fine;   /* of a survey: not 0 where an element has more bits than BF16 */
    uint32_t format; /* of A's parts that are there already: a tb_split_format; of B nothing */
    uint32_t made;   /* of A's parts, where the format is chosen: by the last launch */
} tb_split_range;

typedef enum tb_split_format { TB_SPLIT_NOTHING, TB_SPLIT_MIXED, TB_SPLIT_BF16 } tb_split_format;

/* Logarithms to base 2 in a survey: the upper bits of the number, which count 128 to a power of two, up to 0.0861 below
 * the logarithm. So an upper bound is so many more. */
#define TB_SPLIT_LOGARITHM_SHIFT 16
#define TB_SPLIT_LOGARITHM_UNITS 128
#define TB_SPLIT_LOGARITHM_ERROR 13
#define TB_SPLIT_DEFICIT_SHIFT   8 /* of sums of these, rounded up */

/* What is known of an outer index: the sum of logarithms below, how many they are above. */
#define TB_SPLIT_COUNT_SHIFT 40
#define TB_SPLIT_SURVEY_MOST (INT64_C(1) << (64 - TB_SPLIT_COUNT_SHIFT)) /* elements are fewer */
/* With fewer, sums of one sign by FP32 multiply-adds err less than bits that tensor cores cut off may (docs/precision.md). */
#define TB_SPLIT_SURVEY_LEAST 512

/* What mixed parts miss, beyond bits that are small beside each number's own, is at most 2^-38 of k times the largest magnitudes
 * of the row and the column: u / 64 of the sum of the products' magnitudes, where that is 2^-8 of the product at least. That
 * limit is not for it, but for what the tensor cores cut off, which is more where magnitudes differ (docs/precision.md). */
#define TB_SPLIT_DEFICIT_MOST 8

/* Where more than one piece in so many lacks a part, products with empty parts are left out. */
#define TB_SPLIT_LACKING_SHARE 16

/* Lies in device memory, and is set to zero before the pre-pass, but for a where A's parts are there already. */
typedef struct tb_split_findings {
    tb_split_range a, b;
} tb_split_findings;

typedef struct tb_split_arguments {
    tb_sgemm problem;
    void *parts_a, *parts_b; /* [panel][stage][part][k / 8][row][k % 8], zeros where there is no element */
    uint32_t *largest_a,
        *largest_b;            /* FP16 parts: by outer index, the bits of its largest magnitude; else NULL */
    uint64_t *sums_a, *sums_b; /* of a survey, by outer index; or NULL */
    uint32_t *surveyed_a, *surveyed_b; /* blocks of a survey that are done, by piece of TB_SPLIT_BLOCK_ROWS */
    uint32_t *
        pace; /* of each wave of tiles, and of its every TB_SPLIT_PACE_STAGES: clusters that have begun them */
    int64_t pace_words;                   /* 0: clusters do not mind each other */
    int64_t found_words_a, found_words_b; /* what is found out by outer index, from largest on */
    uint8_t *used_a,
        *used_b; /* [outer / TB_SPLIT_BLOCK_ROWS][stage]: the piece's parts that hold anything; or NULL */
    tb_split_findings *findings;
    float *segments; /* a tile for every block of the grid; not used where there is one segment of k alone */
    float *shares;   /* [share][tile]: a tile of sums of each share of k; not used where there is one */
    int64_t stages;  /* of k */
    int64_t share_stages;      /* of a share of k; the last may have fewer */
    int32_t shares_of_k;       /* tiles of each are computed apart, then added up */
    int32_t last_order;        /* products of part i and part j are computed where i + j is at most this */
    int64_t split_blocks_a;    /* of the pre-pass, those of A; B's follow */
    int64_t first_split_block; /* that runs: 0, or B's first one where A's parts are there already */
    int64_t turns_a;       /* where the format is chosen: blocks that split A, in turns if they are fewer */
    int64_t survey_stages; /* of a block of a survey */
    int32_t block_stages;  /* of a block of the pre-pass */
    int32_t
        b_is_a; /* B is A's transpose and has panels like A's: its parts, and all that is found out, are A's */
    int32_t panel_a, panel_b;   /* their rows */
    int32_t panels_a, panels_b; /* of A a multiple of the blocks of a cluster */
    int32_t tiles;              /* that touch the mask; with clusters, pairs of tiles */
    tb_tile_order order; /* of them, where there are zeros; then nobody waits for pace, and nobody surveys */
    tb_masked_tiles masked;         /* these, where C has a mask */
    tb_masked_tiles masked_plainly; /* the tiles of plain.cuh that touch it */
} tb_split_arguments;

/* Where there are zeros: a tile's share of k, in stages; of a cluster, the tiles of all its blocks. A share may be empty. */
typedef struct tb_split_work {
    tb_tile_place place; /* in tiles of a cluster */
    int32_t number, share;
    int32_t first, end;
} tb_split_work;

/* Tiles have different numbers of stages, which their shares divide evenly; those of one tile come before those of the next.
 * Clusters take works in turn, there and back, so that each gets long ones and short ones; so that they go forth where the last
 * works are fewer than clusters, as who comes first then had the shorter one before. */
TB_HOST_DEVICE_INLINE tb_split_work tb_split_work_with_zeros(const tb_split_arguments *arguments,
                                                             int32_t clusters, int32_t index)
{
    const int32_t shares = arguments->shares_of_k, wave = index / clusters,
                  whole_waves = arguments->tiles * shares / clusters;
    tb_split_work work;
    if ((whole_waves - wave) % 2 != 0)
        index = (2 * wave + 1) * clusters - 1 - index;
    work.number = index / shares;
    work.share = index - work.number * shares;
    work.place = tb_locate_tile(&arguments->order, (uint32_t)work.number);
    const tb_needed needed =
        tb_needed_steps(arguments->order.zeros, work.place, TB_SPLIT_CLUSTER_BLOCKS * arguments->panel_a,
                        arguments->panel_b, TB_SPLIT_STAGE_K, (int32_t)arguments->stages);
    const int32_t stages = needed.end - needed.first;
    work.first = needed.first + work.share * stages / shares;
    work.end = needed.first + (work.share + 1) * stages / shares;
    return work;
}

#endif
