/* How a product or solve in C's place is cut: columns of C where the triangle stands on the left, rows where it stands on the
 * right. What has come back is complete, and what has not is as the program left it, so that the host can go on from there.
 * The triangle comes with the first of them, all of it.
 */
#include "dispatch/cost_model.h"
#include "dispatch/cut_room.h"
#include "words/integers.h"

#include <math.h>

/* Columns, or rows, are counted in so many: blocks of a solve have that many each. */
#define EXTENT_MULTIPLE 32
/* Parts of C that are tried. */
static const int parts_tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/* A band of rows comes back as a whole or not at all, so that all of it has to be in slots at a time; with half of them the
 * next band can be on its way meanwhile. */
static int64_t band_most(const tb_product *product, const tb_budget *budget)
{
    const int64_t in_slot = tb_in_slot(budget, product);
    for (int slots = TB_SLOTS / 2; slots <= TB_SLOTS; slots++) {
        const int64_t rows = in_slot / tb_ceil_div(product->n, slots);
        if (rows >= EXTENT_MULTIPLE || (slots == TB_SLOTS && rows > 0))
            return rows >= EXTENT_MULTIPLE ? rows / EXTENT_MULTIPLE * EXTENT_MULTIPLE : rows;
    }
    return 0;
}

static tb_tiling cut_columns(const tb_product *product, int64_t columns)
{
    const int64_t m = product->m, k = tb_larger(product->k, 1);
    return (tb_tiling){.whole = true,
                       .block_m = m,
                       .band_m = m,
                       .piece_m = m,
                       .block_n = columns,
                       .next_n = columns,
                       .swath_n = columns,
                       .next_swath_n = columns,
                       .slab_k = k,
                       .slabs = 1,
                       .ring_a = 2,
                       .ring_b = 2,
                       .ring_c = 2};
}

/* Bands have places of their own where they go back to the host one by one. A C that stays is written where it lies as a whole. */
static void set_band(tb_tiling *tiling, const tb_budget *budget, int64_t rows)
{
    tiling->band_m = tiling->piece_m = rows;
    tiling->apart = rows < tiling->block_m && budget->passages[TB_C] != TB_NO_PASSAGE;
}

static tb_tiling cut_rows(const tb_product *product, const tb_budget *budget, int64_t rows)
{
    tb_tiling tiling = cut_columns(product, product->n);
    set_band(&tiling, budget, rows);
    return tiling;
}

/* The triangle's way, and then part after part: its way in, the device, its way back, each of which takes one at a time. */
static double seconds_of(const tb_product *product, const tb_budget *budget, int64_t columns, int64_t rows)
{
    const tb_chip *chip = budget->chip;
    const bool by_columns = tb_goes_by_columns(product), stays = budget->passages[TB_C] == TB_NO_PASSAGE;
    const tb_product part = by_columns ? tb_columns_of(product, (tb_range){0, columns})
                                       : tb_rows_of(product, (tb_range){0, rows});
    const double parts =
        by_columns ? (double)product->n / (double)columns : (double)product->m / (double)rows;
    const double bytes = stays ? 0 : (double)tb_matrix_bytes(&part.c.matrix);
    const tb_terms each = {.in = tb_link_seconds(bytes, chip->link_in, false),
                           .out = tb_link_seconds(bytes, chip->link_out, false),
                           .copies = 2 * bytes / budget->copy_rate,
                           .kernel = tb_kernel_seconds(budget->kernel, &part, chip)};
    return tb_link_seconds(tb_stored_bytes(tb_triangle_of(product)), chip->link_in, false) + each.in +
           each.kernel + each.out + (parts - 1) * tb_longest_term(&each);
}

static tb_tiling cut(const tb_product *product, const tb_budget *budget, int parts)
{
    const bool by_columns = tb_goes_by_columns(product);
    const int64_t extent = by_columns ? product->n : product->m,
                  each = tb_smaller(tb_round_up(tb_ceil_div(extent, parts), EXTENT_MULTIPLE), extent);
    const int64_t most =
        by_columns || budget->passages[TB_C] == TB_NO_PASSAGE ? extent : band_most(product, budget);
    return by_columns ? cut_columns(product, each) : cut_rows(product, budget, tb_smaller(each, most));
}

/* Where not all of C has room on the device. */
static bool shrink(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    while (!tb_tiling_fits(budget, product, tiling)) {
        if (tb_goes_by_columns(product)) {
            if (tiling->block_n == 1)
                return false;
            tiling->whole = false;
            tiling->block_n = tiling->next_n = tiling->swath_n = tiling->next_swath_n =
                tb_ceil_div(tiling->block_n, 2);
        } else {
            if (tiling->block_m == 1)
                return false;
            tiling->block_m = tb_ceil_div(tiling->block_m, 2);
            set_band(tiling, budget, tb_smaller(tiling->band_m, tiling->block_m));
        }
    }
    return true;
}

bool tb_cut_in_place(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    double least = HUGE_VAL;
    if (tb_goes_by_columns(product) ? product->m > tb_in_slot(budget, product)
                                    : band_most(product, budget) == 0)
        return false;
    for (size_t i = 0; i < sizeof parts_tried / sizeof *parts_tried; i++) {
        const tb_tiling tried = cut(product, budget, parts_tried[i]);
        const double seconds = seconds_of(product, budget, tried.block_n, tried.band_m);
        if (seconds >= least)
            continue;
        least = seconds;
        *tiling = tried;
    }
    return shrink(product, budget, tiling);
}
