/* How a product is dealt to dgemm_crt's launches: what its schedule and its launch function both go by.
 *
 * Residues take a byte for every modulus and element of A, B and C. Where that is more than a family allows, C is computed a
 * rectangle at a time; the survey is of all of A and B.
 */
#ifndef TB_SCHEDULE_CRT_H
#define TB_SCHEDULE_CRT_H

#include "kernels/crt/crt.h"
#include "kernels/kernel.h"
#include "words/integers.h"

/* What the rows differ in. */
typedef struct tb_crt_family {
    int32_t tile_n;
    /* Tiles one above the other that blocks take together, one after the other; 1: a block for each tile and modulus. */
    int32_t cluster;
    int threads, shared_bytes;
    double (*stage_clocks)(tb_target target); /* of a tile, and one modulus */
    double round_clocks;                      /* to begin a tile, and to store its residues */
    size_t workspace_most;                    /* bytes of residues */
} tb_crt_family;

extern const tb_crt_family tb_crt_sm90, tb_crt_sm80, tb_crt_sm75;

/* What is decided before anything is known of the operands. */
typedef struct tb_crt_deal {
    uint32_t native; /* the row of the catalog that multiplies them as they are */
    int32_t moduli_most;
    int32_t survey_k;
    int64_t rows, columns; /* of C that are computed at a time */
} tb_crt_deal;

/* What random numbers need, of most distributions: forecasts count with as many moduli. */
#define TB_CRT_USUAL_MODULI 16

/* The launch function cuts its workspace into so many pieces, which begin at multiples of so many bytes. */
#define TB_CRT_TAKEN     9
#define TB_CRT_ALIGNMENT 256
/* A multiple of the sides of all tiles, and of pairs of them. */
#define TB_CRT_SIDE 256

/* ---- Of a product ----------------------------------------------------------------------------------------- */

/* Where numbers are complex three products of theirs make one, rather than the four that the real product has for them. */
static inline bool tb_crt_has_pairs(const tb_product *product)
{
    return product->expanded[TB_A].embedded && !product->a.transposed && !product->b.transposed;
}
static inline int64_t tb_crt_parts_of(const tb_product *product)
{
    return tb_crt_has_pairs(product) ? 2 : 1;
}
static inline int64_t tb_crt_sets_of(const tb_product *product)
{
    return tb_crt_has_pairs(product) ? TB_CRT_SETS : 1;
}

/* Outer indices of A, and steps of k, in numbers. */
static inline int64_t tb_crt_numbers_m(const tb_product *product)
{
    return product->m / tb_crt_parts_of(product);
}
static inline int64_t tb_crt_numbers_k(const tb_product *product)
{
    return product->k / tb_crt_parts_of(product);
}

static inline int64_t tb_crt_stages_of(const tb_product *product)
{
    return tb_ceil_div(tb_crt_numbers_k(product), TB_CRT_STAGE_K);
}

/* ---- Of its deal ------------------------------------------------------------------------------------------ */

static inline const tb_kernel *tb_crt_native(const tb_kernel *kernel, const tb_crt_deal *deal)
{
    return &kernel->others[deal->native];
}

static inline bool tb_crt_is_whole(const tb_crt_deal *deal, const tb_product *product)
{
    return deal->rows >= product->m && deal->columns >= product->n;
}

/* Bytes of an operand's plane; of C's, with whole tiles. */
static inline size_t tb_crt_plane_bytes(int64_t rows, int64_t stages)
{
    return (size_t)tb_round_up(rows, TB_CRT_SIDE) * (size_t)stages * TB_CRT_STAGE_K;
}
static inline size_t tb_crt_plane_bytes_of_c(int64_t rows, int64_t columns)
{
    return (size_t)tb_round_up(rows, TB_CRT_SIDE) * (size_t)tb_round_up(columns, TB_CRT_SIDE);
}

size_t tb_crt_census_bytes(const tb_crt_deal *deal, const tb_product *product);

/* Whether what counts blocks and rows in 32 bits does. */
bool tb_crt_is_in_range(const tb_product *product);

/* Rows of C, of tiles that are taken together; these tiles. */
int32_t tb_crt_rows_of_tiles(const tb_crt_family *family, const tb_product *product);
tb_masked_tiles tb_crt_tiles_of(const tb_crt_family *family, const tb_product *product);

/* Tiles, or pairs of them, that are multiplied at a time: one at least. */
int64_t tb_crt_at_a_time(const tb_crt_family *family, tb_target target);

#endif
