/* How a product is dealt to the launches that multiply its parts: what its schedule and its launch function both go by. */
#ifndef TB_SCHEDULE_TENSOR_H
#define TB_SCHEDULE_TENSOR_H

#include "kernels/kernel.h"
#include "kernels/tensor/split.h"

/* What makes a row of the catalog. */
typedef struct tb_split_family {
    int row_bytes, last_order;
    double products;                     /* of BF16 or FP16; one of FP8 counts 0.6 */
    double launches_clocks, split_bytes; /* that the passes before the product read and write, an element */
    bool scales, surveys;
} tb_split_family;

/* The last one's survey chooses between FP16 parts with FP8, and BF16 parts. */
extern const tb_split_family tb_split_bf16x6, tb_split_bf16x9, tb_split_fp16x3, tb_split_mixed;

/* How the work is cut: tiles, and where those are few, shares of k. */
typedef struct tb_split_schedule {
    int tile_n;
    int64_t shares, share_stages;
    double clocks; /* of the product, without the passes before */
} tb_split_schedule;

/* Bytes that a product needs: what is found out by outer index, the parts in use, and the parts, of
 * either operand; the pace; segments of k; shares of k. */
enum {
    TB_SPLIT_FOUND_A,
    TB_SPLIT_USED_A,
    TB_SPLIT_PARTS_A,
    TB_SPLIT_FOUND_B,
    TB_SPLIT_USED_B,
    TB_SPLIT_PARTS_B,
    TB_SPLIT_PACE,
    TB_SPLIT_SEGMENTS,
    TB_SPLIT_SHARES,
    TB_SPLIT_PLACES
};

typedef struct tb_split_layout {
    tb_split_schedule schedule;
    int64_t stages, panels_a, panels_b, blocks;
    size_t bytes[TB_SPLIT_PLACES],
        offset[TB_SPLIT_PLACES]; /* within the workspace; what is A's comes first: it stays for another B */
    size_t workspace;
} tb_split_layout;

/* Clusters take one tile above another one: pairs that touch the mask, and, where there are zeros, in which order they are
 * taken. */
tb_masked_tiles tb_split_pairs_of_tiles(const tb_product *product, int tile_n);
tb_tile_order tb_split_order_of(const tb_product *product, int tile_n, int multiprocessors);

/* Whether the parts of A are B's, too: SYRK's are, where panels of both have as many rows. */
bool tb_is_split_once(const tb_product *product, int tile_n);

/* Bytes for the largest magnitudes of so many outer indices, and for what a survey finds out besides. */
size_t tb_split_found_bytes(const tb_split_family *family, int64_t indices);

/* Parts begin at multiples of this in the workspace: whole lines of L2. */
static inline size_t tb_split_align(size_t bytes)
{
    const size_t line = 128;
    return (bytes + line - 1) / line * line;
}

/* The catalog's callbacks: six products of three BF16 parts, all nine, and three products of two FP16 parts. */
TB_DECLARE_CALLBACKS(bf16x6);
TB_DECLARE_CALLBACKS(bf16x9);
TB_DECLARE_CALLBACKS(fp16x3);
/* The format that a survey chooses: FP16 parts with FP8, or BF16 parts. */
TB_DECLARE_CALLBACKS(split);

#endif
