/* How a product whose operands stream through a device is cut.
 *
 * A product is a sequence of steps: something is brought, and then multiplied. What cuts it are a first block of columns, and
 * those after it; slabs, which are runs of k; pieces of A; bands of rows; and swaths, runs of columns of which each travels
 * back while the next are computed (docs/streaming.md).
 */
#ifndef TB_TILING_H
#define TB_TILING_H

#include "kernels/catalog.h"
#include "words/integers.h"
#include "words/product.h"

#include <stdbool.h>

/* Slabs in a ring that is smaller than k: a pipeline has an event for each. Swaths in a block. */
#define TB_RING_MAXIMUM   64
#define TB_SWATHS_MAXIMUM 32

/* Each way: while one slot is copied by the link and one by the host's threads, the others let either side
 * run ahead. */
#define TB_SLOTS 4

typedef struct tb_tiling {
    bool whole; /* all operands are on the device at a time; then rings mean nothing */
    int64_t block_m, block_n;
    int64_t band_m;  /* rows of C that are computed and returned before others are; without whole, block_m */
    int64_t next_n;  /* columns of the blocks after the first; without whole, block_n */
    int64_t swath_n; /* in the first block, and in the bands after the first */
    int64_t next_swath_n; /* in the blocks after it */
    int64_t slab_k;
    int64_t slabs;   /* of k; with whole, in the first block: the others have one */
    int64_t piece_m; /* with whole: rows of A that are loaded at a time in the first block */
    /* With whole: a triangle that grows by next_n rows of A and columns of B, each of which complete rows of a lower one, or
     * columns of an upper one; then nothing else cuts it but swaths. */
    bool grows;
    bool b_by_slabs; /* with whole: the first block's part of B comes with A's slabs, not before them */
    bool apart; /* with whole: bands of C, and of A where it is not transposed, have places of their own */
    int64_t ring_a; /* slabs of A on the device at a time; all of them are kept for the blocks to the right */
    int64_t ring_b;
    int64_t ring_c; /* blocks of C on the device at a time */
} tb_tiling;

typedef struct tb_step {
    tb_range rows, columns, k; /* of the product; where k begins at 0, beta is the program's, else 1 */
    tb_range grown;  /* rows of A and columns of B that are brought; a count of 0: those of the product */
    bool brings_a;   /* those rows and steps of k */
    tb_range b_k;    /* steps of k of B's columns that are brought; none: count is 0 */
    bool brings_c;   /* where beta is not 0 */
    int64_t swath_n; /* columns that are multiplied at a time */
    bool completes;  /* all rows of the band, swath by swath */
} tb_step;

/* Operands in the order in which a step brings them, and whether it brings one: what rows, columns and steps of k of the
 * product need of it. */
extern const tb_role tb_bringing_order[TB_ROLES];
bool tb_step_brings(const tb_step *step, const tb_product *product, tb_role role, tb_range *rows,
                    tb_range *columns, tb_range *k);

/* So many columns of what a step multiplies, wherever that lies; of a triangle that grows, without what lies beyond the mask
 * and has not come yet. */
static inline tb_product tb_swath_of(const tb_product *part, const tb_tiling *tiling, int64_t column,
                                     int64_t swath_n)
{
    const tb_product swath = tb_columns_of(part, (tb_range){column, tb_smaller(swath_n, part->n - column)});
    return tiling->grows ? tb_trimmed(&swath) : swath;
}

int64_t tb_step_count(const tb_product *product, const tb_tiling *tiling);
tb_step tb_step_at(const tb_product *product, const tb_tiling *tiling, int64_t index);

/* Rows of C that are computed as a product of their own, from this one on, and how those are cut. */
tb_product tb_rows_of_tiling(const tb_product *product, const tb_tiling *tiling, int64_t row, tb_tiling *own);

/* Whether A and B are one matrix that has one place on the device, from which both are read. */
bool tb_shares_operand(const tb_product *product, const tb_tiling *tiling);

/* Whether the operand's bands of rows have places of their own on the device. */
bool tb_is_in_bands(const tb_product *product, const tb_tiling *tiling, tb_role role);

/* Bytes of an operand's place on the device, or of its places in a ring. */
double tb_bytes_there(const tb_product *product, const tb_tiling *tiling, tb_role role);

/* Where all of an operand has its place on the device, or, of C, at least two blocks: the distance between columns, in
 * elements. */
int64_t tb_ld_there(const tb_product *product, const tb_tiling *tiling, tb_role role);

/* Lets a rectangle of the operand describe where it lies on the device, in a place that begins there: one of its own for a
 * slab, or else the operand's, where row and column, counted from the place's first, are the rectangle's. */
void tb_place_there(const tb_product *product, const tb_tiling *tiling, tb_role role, void *there,
                    int64_t row, int64_t column, tb_matrix *rectangle);

/* Device memory in bytes that the tiling takes, without the kernel's workspace. */
double tb_tiling_bytes(const tb_product *product, const tb_tiling *tiling);

/* Bytes of A and B that cross the link, without whole. */
double tb_tiling_traffic(const tb_product *product, const tb_tiling *tiling);

/* How an operand comes to the device, and C back from there. */
typedef enum tb_passage {
    TB_NO_PASSAGE, /* it lies there */
    TB_BY_SLOTS,   /* the host's threads copy it into pinned slots, or out of them */
    TB_STRAIGHT,   /* the link reads or writes it where it is */
} tb_passage;

/* What a tiling has to fit into, and what it is chosen for. A slot takes whole columns of what is loaded or
 * returned at a time. Rates are the machine's as far as they are the same from one process to the next: how a
 * product is cut changes bits of its result. */
typedef struct tb_budget {
    const tb_kernel *kernel;
    const struct tb_chip *chip;
    double bytes; /* of device memory, the kernel's workspace included */
    int64_t slot_bytes;
    double copy_rate; /* bytes a second that the host's threads copy through slots, both ways together */
    tb_passage passages[TB_ROLES];
    bool stays[TB_B + 1]; /* an operand is multiplied where the program has it */
} tb_budget;

/* Elements of the product that a slot takes. */
static inline int64_t tb_in_slot(const tb_budget *budget, const tb_product *product)
{
    return budget->slot_bytes / (int64_t)tb_bytes_of(tb_element_of(product));
}

/* The tiling that fits and is forecast to take least time, or of least traffic where not everything fits; false when
 * none does. */
bool tb_choose_tiling(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

/* Device memory in bytes that the tiling takes, with the kernel's workspace. */
double tb_tiling_needs(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling);

/* Distance between the columns of a matrix of so many rows in device buffers, in elements. */
int64_t tb_pitched(int64_t rows, tb_element element);

/* A part of the product for which forecasts are asked: its operands lie nowhere, with the longest of their columns' pitch. */
tb_product tb_nominal_subproduct(const tb_product *product, int64_t m, int64_t n, int64_t k);

/* Forecasts of the kernel for products of some sizes, as they come up; zeroed before anything is in it, and
 * of one kernel and device. */
#define TB_SIZES_KNOWN 64
typedef struct tb_known_size {
    int64_t m, n, k;
    double seconds, seconds_of_a; /* which are spared where A is that of the product before */
} tb_known_size;

/* With whole: seconds that the product takes, forecast by going through its steps. */
double tb_steps_seconds(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget,
                        tb_known_size known[TB_SIZES_KNOWN]);

/* Room in bytes for a slab of an operand, outer being m or n, whichever way it is stored. */
int64_t tb_slab_bytes(int64_t outer, int64_t k, tb_element element);

#endif
