/* How a product is cut of which everything has its place on the device: columns of C as they complete, or
 * rows where there are many more of them. Of the ways to do the first, the one that is forecast to take least
 * time.
 */
#include "dispatch/cut_room.h"
#include "words/integers.h"

#include <math.h>

/* C is cut where A, B and C take so many slots or more. */
#define SECOND_BLOCK_SLOTS 1.5
/* Pieces of A that the first block waits for; smaller ones than half a slot cost more than they bring forward, larger
 * ones than these are long to wait for. */
#define PIECES           8
#define PIECE_SLOTS_MOST 16
/* Multiply-adds of FP32 for each float of a column of B and of C: from here on the device is busy for half of
 * the link's time, on an H200. Of FP64, as many for each double: its elements take twice as long both ways. */
#define FILLED_INTENSITY 2500.0
/* A tall C has at least so many times as many rows as columns. */
#define TALL 2
/* The rows of a slot: shorter pieces of columns than that, 8 KiB, slow the link down. B's after the first
 * block may be half as long, which is made up for by more blocks, up to so many. */
#define SLOT_ROWS   1024
#define SLOT_ROWS_B 2048
#define BLOCKS_MOST 6
/* Where the link reads and writes the program's memory, and more of it than so many slots, pieces of 8 and 16
 * KiB come at 31 GB/s; of 32 KiB, and of less memory, they come faster. */
#define FAR_SLOTS     12
#define FAR_SLOT_ROWS 256

/* Whether a line of C, a column or a row of so many elements, takes at least half as long to multiply as the link takes for
 * it and for the line of B or A that comes with it. */
static bool keeps_device_busy(const tb_product *product, int64_t extent)
{
    const double rows = (double)extent, k = (double)product->k;
    return rows * k >= FILLED_INTENSITY * (rows + k);
}

/* So many columns, or rows, at least; more where the device is busy enough for it to matter that the tiles
 * nearly fill whole rounds of the multiprocessors. other is the extent of C the other way, count its tiles. */
static int64_t fill_rounds(const tb_product *product, int64_t least, int64_t tile, int64_t other,
                           int64_t count, int64_t most, const tb_budget *budget)
{
    const int64_t at_a_time = tb_blocks_at_a_time(budget);
    const int64_t first = tb_larger(tb_ceil_div(least, tile), 1);
    int64_t best = first;
    double best_share = 0;
    if (!keeps_device_busy(product, other))
        return tb_smaller(first * tile, most);
    for (int64_t tiles = first;
         best_share < 0.9 && tiles * tile <= most && tiles <= 2 * first + at_a_time / count; tiles++) {
        const double rounds = (double)tb_ceil_div(tiles * count, at_a_time);
        const double share = (double)(tiles * count) / (rounds * (double)at_a_time);
        if (share > 1.05 * best_share) {
            best = tiles;
            best_share = share;
        }
    }
    return tb_smaller(best * tile, most);
}

/* What can be varied where columns of C complete one after the other. */
typedef struct cut {
    int64_t swath_n;      /* columns at a time, after the first block */
    int64_t first_swaths; /* of so many, the first block */
    bool b_by_slabs;
} cut;

/* Pieces of A: runs of k, or rows where they are what lies together. */
static void cut_a(const tb_product *product, const tb_budget *budget, const cut *cut, tb_tiling *tiling)
{
    const int64_t m = product->m, k = tb_larger(product->k, 1), slot = tb_in_slot(budget, product);
    const int64_t piece = tb_smaller(tb_larger(m * k / PIECES, slot / 2), PIECE_SLOTS_MOST * slot);
    const int64_t count = tb_larger(m * k / piece, 1);
    /* Where B is A, read the other way, a run of k of A brings what the first block needs of B. */
    const bool rows = product->a.transposed && count > 1 && !tb_has_one_operand(product);
    tiling->piece_m = m;
    tiling->slab_k = rows ? k : tb_smaller(tb_round_up(tb_ceil_div(k, count), TB_SLAB_K_MULTIPLE), k);
    tiling->slabs = tb_ceil_div(k, tiling->slab_k);
    if (rows)
        tiling->piece_m = fill_rounds(product, tb_ceil_div(m, count), budget->kernel->tile_m, m,
                                      tb_ceil_div(tiling->block_n, budget->kernel->tile_n),
                                      tb_smaller(2 * tb_ceil_div(m, count), m), budget);
    tiling->b_by_slabs = cut->b_by_slabs && !rows && tiling->slabs > 1;
}

/* Columns of C as they complete, a first block of them while A arrives. */
static tb_tiling cut_columns(const tb_product *product, const tb_budget *budget, const cut *cut)
{
    const int64_t m = product->m, n = product->n;
    tb_tiling tiling = {.whole = true, .block_m = m, .band_m = m};
    tiling.block_n = tb_smaller(cut->first_swaths * cut->swath_n, n);
    tiling.next_swath_n = tiling.next_n = cut->swath_n;
    if (product->b.transposed) {
        const int64_t least = tb_smaller(tb_in_slot(budget, product) / SLOT_ROWS_B, n / BLOCKS_MOST);
        tiling.next_n = tb_round_up(tb_larger(tiling.next_n, least), tiling.next_swath_n);
    }
    tiling.next_n = tb_smaller(tiling.next_n, tb_larger(n - tiling.block_n, 1));
    cut_a(product, budget, cut, &tiling);
    tiling.swath_n = tb_choose_swath(budget, m, tiling.block_n, tiling.slab_k);
    /* Narrower ones than those after it would only have the first block complete later. */
    if (tiling.block_n < n)
        tiling.swath_n = tb_smaller(tb_larger(tiling.swath_n, tiling.next_swath_n), tiling.block_n);
    return tiling;
}

/* Whether there is enough to move for some of C to come back while the rest is computed. */
static bool takes_blocks(const tb_product *product, const tb_budget *budget)
{
    return (double)tb_product_bytes(product) >= SECOND_BLOCK_SLOTS * (double)budget->slot_bytes;
}

typedef struct search {
    const tb_product *product;
    const tb_budget *budget;
    double seconds;
    cut cut;
    tb_tiling tiling;
    tb_known_size known[TB_SIZES_KNOWN];
} search;

/* What the next one tried has to take, of the best so far: less where it has more products to launch. */
#define BETTER       0.998
#define FINER_BETTER 0.995

static void consider(search *search, const cut *cut)
{
    const tb_tiling tiling = cut_columns(search->product, search->budget, cut);
    const double seconds = tb_steps_seconds(search->product, &tiling, search->budget, search->known);
    const double least = cut->swath_n < search->cut.swath_n ? FINER_BETTER : BETTER;
    if (seconds >= least * search->seconds)
        return;
    search->seconds = seconds;
    search->cut = *cut;
    search->tiling = tiling;
}

/* How wide the first block is, in so many of 64 parts of all columns. */
static const int first_shares[] = {4, 13, 23, 33, 46};

/* With fewer steps of k, slabs of B are so short that copying them takes longer. */
#define BY_SLABS_K 8192

static void try_first_blocks(search *search, cut from)
{
    const int64_t n = search->product->n;
    for (size_t i = 0; i < sizeof first_shares / sizeof *first_shares; i++)
        for (int by_slabs = 0; by_slabs < (search->product->k >= BY_SLABS_K ? 2 : 1); by_slabs++) {
            from.first_swaths = tb_larger((n * first_shares[i] / 64 + from.swath_n / 2) / from.swath_n, 1);
            from.b_by_slabs = by_slabs;
            consider(search, &from);
        }
}

/* In multiples of so many columns, which is what kernels' tiles are made of; of more where there are more
 * than that. */
#define SWATH_MULTIPLE 64
#define COLUMNS_MANY   24576

static const int swaths[] = {24, 21, 18, 15, 14, 12, 10, 9, 8, 6, 4, 3};

/* Where C comes before it goes back, so little of it and of B that it is not a slot's worth and a quarter
 * takes longer than forecast. */
static int64_t swath_least(const tb_product *product, const tb_budget *budget)
{
    const int64_t in_slot = tb_in_slot(budget, product);
    const int64_t by_count = tb_ceil_div(product->n, TB_SWATHS_MAXIMUM);
    return tb_is_zero(product->beta) ? by_count
                                     : tb_larger(by_count, in_slot * 5 / 4 / (product->m + product->k));
}

static void try_swaths(search *search)
{
    const int64_t n = search->product->n, least = swath_least(search->product, search->budget);
    cut next = {0};
    for (size_t i = 0; i < sizeof swaths / sizeof *swaths; i++) {
        next.swath_n = SWATH_MULTIPLE * tb_ceil_div(n, COLUMNS_MANY) * swaths[i];
        if (next.swath_n >= least && next.swath_n < n)
            try_first_blocks(search, next);
    }
}

static tb_tiling search_columns(const tb_product *product, const tb_budget *budget, const cut *in_one)
{
    search search = {.product = product, .budget = budget, .seconds = HUGE_VAL, .cut = *in_one};
    consider(&search, in_one);
    if (takes_blocks(product, budget))
        try_swaths(&search);
    return search.tiling;
}

/* Rows and columns by which a triangle grows, of so many parts of all: more of them bring the first result forward, and each
 * costs a launch and, in some families, what is made of the operands once more. */
static const int growths[] = {3, 4, 6, 8, 12, 16, 24};

static tb_tiling cut_growing(const tb_product *product, const tb_budget *budget, int parts)
{
    const int64_t n = product->n, tile = tb_larger(budget->kernel->tile_m, budget->kernel->tile_n);
    const int64_t grown = tb_smaller(tb_round_up(tb_ceil_div(n, parts), tile), n),
                  k = tb_larger(product->k, 1);
    const bool by_rows = product->mask == TB_LOWER;
    tb_tiling tiling = {.whole = true,
                        .grows = true,
                        .block_m = n,
                        .band_m = by_rows ? grown : n,
                        .block_n = n,
                        .next_n = grown,
                        .slab_k = k,
                        .slabs = 1};
    tiling.piece_m = tiling.band_m;
    tiling.next_swath_n =
        by_rows ? tb_choose_swath(budget, grown, n, k) : tb_choose_swath(budget, n, grown, k);
    return tiling;
}

/* Whether the link itself would read pieces of columns that are far apart and short. */
static bool reads_short_rows(const tb_product *product, const tb_budget *budget, const tb_tiling *growing)
{
    const bool a_is_short = budget->passages[TB_A] == TB_STRAIGHT && !product->a.transposed;
    const bool b_is_short = budget->passages[TB_B] == TB_STRAIGHT && product->b.transposed;
    return (a_is_short || b_is_short) && growing->next_n < tb_in_slot(budget, product) / FAR_SLOT_ROWS;
}

/* What a triangle that grows has to take of what one that does not grow does, as forecasts are not that good. */
#define WORTH_GROWING 0.96

/* Where all of a triangle's C is to go back, before all of A has come. */
static void grow_if_faster(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    tb_known_size known[TB_SIZES_KNOWN] = {0};
    if (product->mask == TB_FULL || product->m != product->n || product->diagonal != 0 ||
        !takes_blocks(product, budget))
        return;
    double best = WORTH_GROWING * tb_steps_seconds(product, tiling, budget, known);
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++) {
        const tb_tiling growing = cut_growing(product, budget, growths[i]);
        if (reads_short_rows(product, budget, &growing))
            continue;
        const double seconds = tb_steps_seconds(product, &growing, budget, known);
        if (seconds >= best || !tb_tiling_fits(budget, product, &growing))
            continue;
        best = seconds;
        *tiling = growing;
    }
}

/* With A there first, the end is not before A's time and the longer of B's and C's; with B first it is B's
 * and the longer of A's and C's, which is less where C has more rows than columns and than steps of k. */
static bool is_tall(const tb_product *product)
{
    return product->m >= TALL * product->n && product->m > product->k;
}

/* Rows of C as they complete, once B is there; false when there would be a single band of them. */
static bool cut_rows(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    const int64_t m = product->m, n = product->n, k = tb_larger(product->k, 1);
    const int64_t slot = tb_in_slot(budget, product);
    const bool straight = budget->passages[TB_A] == TB_STRAIGHT || budget->passages[TB_C] == TB_STRAIGHT;
    const bool far = straight && m * (n + k) > FAR_SLOTS * slot;
    const int64_t least =
        tb_larger(slot / (far ? FAR_SLOT_ROWS : SLOT_ROWS), (straight ? slot / 2 : slot) / tb_larger(n, k));
    const int64_t rows = tb_larger(tb_smaller(m / PIECES, PIECE_SLOTS_MOST * slot / k), least);
    const int64_t tile = budget->kernel->tile_m;
    const int64_t most =
        fill_rounds(product, rows, tile, n, tb_ceil_div(n, budget->kernel->tile_n), m, budget);
    *tiling = (tb_tiling){.whole = true,
                          .block_m = m,
                          .block_n = n,
                          .next_n = n,
                          .next_swath_n = n,
                          .slab_k = k,
                          .slabs = 1,
                          .apart = budget->passages[TB_C] != TB_NO_PASSAGE};
    /* None is much lower than the others: each has all of B split once more. */
    tiling->band_m = tb_smaller(tb_round_up(tb_ceil_div(m, tb_larger(m / most, 1)), tile), m);
    tiling->piece_m = tiling->band_m;
    tiling->swath_n = tb_choose_swath(budget, tiling->band_m, n, k);
    return tiling->band_m < m;
}

bool tb_cut_whole(const tb_product *product, const tb_budget *budget, tb_tiling *tiling)
{
    const int64_t m = product->m, n = product->n, k = product->k;
    const int64_t rows_most = tb_in_slot(budget, product);
    const cut in_one = {.swath_n = n, .first_swaths = 1};
    if (m > rows_most || n > rows_most || k > rows_most)
        return false;
    if (tb_tiling_bytes(product, &(tb_tiling){.whole = true}) > budget->bytes)
        return false;
    if (takes_blocks(product, budget) && is_tall(product) && cut_rows(product, budget, tiling) &&
        tb_tiling_fits(budget, product, tiling))
        return true;
    *tiling = search_columns(product, budget, &in_one);
    grow_if_faster(product, budget, tiling);
    if (tb_tiling_fits(budget, product, tiling))
        return true;
    *tiling = cut_columns(product, budget, &in_one);
    return tb_tiling_fits(budget, product, tiling);
}
