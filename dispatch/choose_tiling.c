/* Which tiling a product gets: everything on the device, or blocks of C that fit. */
#include "dispatch/tiling.h"

#include "lib/integers.h"

/* A slab of about this size keeps the link and the device busy, and is little to wait for at the start. */
#define SLAB_BYTES ((int64_t)64 << 20)
/* Each slab makes the kernel read and write C once more: 1024 steps of k outweigh that twenty to one on an H200. */
#define SLAB_K_LEAST 1024
#define SLAB_K_MOST  2048
/* So many slabs at least, where k allows it, or there is nothing to overlap. */
#define SLABS_LEAST     4
#define SLAB_K_MULTIPLE 128

/* Slabs on the device when not all of them fit: one multiplied, one loaded, one to spare. */
#define RING 3

/* Products with fewer multiply-adds are over before a second block could overlap with the first. */
#define TWO_BLOCKS_VOLUME 1e9

/* Multiply-adds of a panel: 60 to 160 microseconds on an H200. */
#define PANEL_VOLUME_LEAST INT64_C(4000000000)

/* With everything on the device. There is a second block from so many slots of operands on, if C is not so much less than
 * A and B that its way back hardly shows. */
#define SECOND_BLOCK_SLOTS 1.5
#define SHORT_WAY_BACK     8
/* Multiply-adds that an H200 does while the link moves a float. */
#define WORK_A_FLOAT 4800.0
/* Pieces of A that the first block waits for; smaller ones than half a slot cost more than they bring forward, larger
 * ones than these are long to wait for. */
#define PIECES           8
#define PIECE_SLOTS_MOST 16
/* What is loaded and returned for one of the panels after the first block, if its product is not less. */
#define PANEL_SLOTS 1
/* Multiply-adds for each float of a column of B and of C: from here on the device is busy for half of the link's
 * time, on an H200. */
#define FILLED_INTENSITY 2500.0
/* So many times as many rows as columns. */
#define TALL 2
/* The rows of a slot: shorter pieces of columns than that, 8 KiB, slow the link down. B's after the first block may be half as
 * long, which is made up for by more blocks, up to so many. */
#define SLOT_ROWS   1024
#define SLOT_ROWS_B 2048
#define BLOCKS_MOST 6
/* Where the link reads and writes the program's memory, and more of it than so many slots, pieces of 8 and 16 KiB come at 31
 * GB/s; of 32 KiB, and of less memory, they come faster. */
#define FAR_SLOTS     12
#define FAR_SLOT_ROWS 256

/* Blocks are not cut finer than this, and only at multiples of it: where an operand lies on the device already,
 * its parts stay as aligned as it is. */
#define BLOCK_LEAST 16

static int64_t choose_slab(const tb_problem *problem)
{
    int64_t k = tb_larger(problem->k, 1);
    int64_t slab = SLAB_BYTES / ((int64_t)sizeof(float) * (problem->m + problem->n));
    slab = tb_smaller(tb_larger(slab, SLAB_K_LEAST), SLAB_K_MOST);
    return tb_smaller(tb_round_up(tb_smaller(slab, tb_pieces(k, SLABS_LEAST)), SLAB_K_MULTIPLE), k);
}

/* Columns that one round of blocks over the multiprocessors covers: a smaller panel would leave some idle, and a short
 * launch costs more to start than it brings forward. */
static int64_t choose_panel(const tb_tiling *tiling, const tb_kernel *kernel, int multiprocessors)
{
    int64_t tiles_m = tb_pieces(tiling->band_m, kernel->tile_m);
    int64_t columns = tb_larger((int64_t)multiprocessors * tb_larger(kernel->blocks, 1) / tiles_m, 1);
    columns = tb_larger(columns, tb_pieces(tb_pieces(tiling->block_n, TB_PANELS_MAXIMUM), kernel->tile_n));
    columns = tb_larger(columns,
                        PANEL_VOLUME_LEAST / tb_larger(tiling->band_m * tiling->slab_k, 1) / kernel->tile_n);
    return tb_smaller(columns * kernel->tile_n, tiling->block_n);
}

/* What the kernel needs beside its operands, for any product that the tiling makes it multiply: smaller ones may need
 * more, where they are shared out. */
static double workspace_bytes(const tb_budget *budget, const tb_problem *problem, const tb_tiling *tiling)
{
    if (!budget->kernel->workspace)
        return 0;
    const tb_launcher launcher = {.target = budget->target};
    tb_tiling complete = *tiling;
    complete.panel_n = choose_panel(tiling, budget->kernel, budget->target.multiprocessors);
    tb_part_size sizes[TB_PART_SIZES];
    const int count = tb_tiling_sizes(problem, &complete, sizes);
    double most = 0;
    for (int i = 0; i < count; i++) {
        tb_problem part = *problem;
        part.m = sizes[i].rows;
        part.n = sizes[i].columns;
        part.k = sizes[i].k;
        part.beta = sizes[i].beta;
        part.a = part.b = part.c = NULL;
        part.lda = part.ldb = part.ldc = tb_pitched(tb_larger(tb_larger(part.m, part.n), part.k));
        double bytes = (double)budget->kernel->workspace(&launcher, budget->kernel, &part);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static bool fits(const tb_budget *budget, const tb_problem *problem, const tb_tiling *tiling)
{
    double bytes = tb_tiling_bytes(problem, tiling);
    return bytes <= budget->bytes && bytes + workspace_bytes(budget, problem, tiling) <= budget->bytes;
}

/* With all_of_a, A's slabs stay for the blocks to the right; otherwise they take turns with B's. */
static void set_block(const tb_problem *problem, int64_t block_m, int64_t block_n, bool all_of_a,
                      int64_t ring, tb_tiling *tiling)
{
    tiling->slabs = tb_pieces(tb_larger(problem->k, 1), tiling->slab_k);
    tiling->block_m = tiling->band_m = block_m;
    tiling->block_n = block_n;
    tiling->next_n = block_n;
    tiling->ring_b = tb_smaller(ring, tiling->slabs);
    tiling->ring_a = all_of_a ? tiling->slabs : tiling->ring_b;
    tiling->ring_c = block_n < problem->n ? 2 : 1;
}

/* Halves what is larger until the tiling fits; with all_of_a, A's rows are the last to be given up. */
static bool shrink(const tb_problem *problem, int64_t block_m, int64_t block_n, bool all_of_a,
                   const tb_budget *budget, tb_tiling *tiling)
{
    for (;;) {
        set_block(problem, block_m, block_n, all_of_a, RING, tiling);
        if (fits(budget, problem, tiling))
            return true;
        if (block_n > BLOCK_LEAST && (all_of_a || block_n >= block_m))
            block_n = tb_round_up(tb_pieces(block_n, 2), BLOCK_LEAST);
        else if (block_m > BLOCK_LEAST)
            block_m = tb_round_up(tb_pieces(block_m, 2), BLOCK_LEAST);
        else
            return false;
    }
}

/* The better of keeping A and loading it again for every block, with slabs of the given size. */
static bool choose_blocks(const tb_problem *problem, int64_t block_m, int64_t block_n,
                          const tb_budget *budget, tb_tiling *tiling)
{
    tb_tiling kept = *tiling, reloaded = *tiling;
    bool keeps = shrink(problem, block_m, block_n, true, budget, &kept);
    bool reloads = shrink(problem, block_m, block_n, false, budget, &reloaded);
    if (keeps && (!reloads || tb_tiling_traffic(problem, &kept) <= tb_tiling_traffic(problem, &reloaded)))
        *tiling = kept;
    else
        *tiling = reloaded;
    return keeps || reloads;
}

/* ---- Everything on the device ----------------------------------------------------------------------------- */

/* With products of so many rows or columns, for each of the others. */
static bool keeps_device_busy(const tb_problem *problem, int64_t extent)
{
    const double rows = (double)extent, k = (double)problem->k;
    return rows * k >= FILLED_INTENSITY * (rows + k);
}

/* So many columns, or rows, at least; more where the device is busy enough for it to matter that the tiles nearly fill whole
 * rounds of the multiprocessors. other is the extent of C the other way, count its tiles. */
static int64_t fill_rounds(const tb_problem *problem, int64_t least, int64_t tile, int64_t other,
                           int64_t count, int64_t most, const tb_budget *budget)
{
    const int64_t at_a_time = (int64_t)budget->target.multiprocessors * tb_larger(budget->kernel->blocks, 1);
    const int64_t first = tb_larger(tb_pieces(least, tile), 1);
    int64_t best = first;
    double best_share = 0;
    if (!keeps_device_busy(problem, other))
        return tb_smaller(first * tile, most);
    for (int64_t tiles = first;
         best_share < 0.9 && tiles * tile <= most && tiles <= 2 * first + at_a_time / count; tiles++) {
        const double rounds = (double)tb_pieces(tiles * count, at_a_time);
        const double share = (double)(tiles * count) / (rounds * (double)at_a_time);
        if (share > 1.05 * best_share) {
            best = tiles;
            best_share = share;
        }
    }
    return tb_smaller(best * tile, most);
}

/* After the first block: a panel of 60 to 160 microseconds on an H200, or of so many bytes, whichever is less. It does not take a
 * slot and a little of another, unless the device is what it waits for. */
static int64_t choose_next_panel(const tb_problem *problem, const tb_budget *budget)
{
    const int64_t m = problem->m, k = tb_larger(problem->k, 1);
    const int64_t by_work = PANEL_VOLUME_LEAST / m / k;
    const int64_t by_bytes = PANEL_SLOTS * budget->slot_bytes / ((int64_t)sizeof(float) * (m + k));
    const int64_t least = tb_larger(tb_smaller(by_work, by_bytes), tb_pieces(problem->n, TB_PANELS_MAXIMUM));
    const int64_t tile = budget->kernel->tile_n;
    const int64_t panel =
        fill_rounds(problem, least, tile, m, tb_pieces(m, budget->kernel->tile_m), problem->n, budget);
    const int64_t in_slot = budget->slot_bytes / ((int64_t)sizeof(float) * tb_larger(m, k)) / tile * tile;
    const bool fits_slot = budget->straight || keeps_device_busy(problem, m) || panel <= in_slot;
    return fits_slot || TB_PANELS_MAXIMUM * in_slot < problem->n ? panel : in_slot;
}

/* Pieces of A, and how B's first columns come with them. */
static void cut_a(const tb_problem *problem, const tb_budget *budget, tb_tiling *tiling)
{
    const int64_t m = problem->m, k = problem->k, bytes = (int64_t)sizeof(float) * m * k;
    const int64_t slot = budget->slot_bytes;
    const int64_t piece = tb_smaller(tb_larger(bytes / PIECES, slot / 2), PIECE_SLOTS_MOST * slot);
    const int64_t count = tb_larger(bytes / piece, 1);
    tiling->piece_m = m;
    tiling->slab_k = tb_larger(k, 1);
    if (count > 1 && problem->transpose_a)
        tiling->piece_m = fill_rounds(problem, tb_pieces(m, count), budget->kernel->tile_m, problem->m,
                                      tb_pieces(tiling->block_n, budget->kernel->tile_n),
                                      tb_smaller(2 * tb_pieces(m, count), m), budget);
    else if (count > 1)
        tiling->slab_k = tb_smaller(tb_round_up(tb_pieces(k, count), SLAB_K_MULTIPLE), k);
    tiling->slabs = tb_pieces(tb_larger(k, 1), tiling->slab_k);
    const int64_t row = problem->transpose_b ? tiling->block_n : tiling->slab_k;
    tiling->b_by_slabs = tiling->slabs > 1 && (int64_t)sizeof(float) * row >= slot / SLOT_ROWS;
}

/* C travels back once the first block is there, and the rest is computed meanwhile: with the one share of the columns in the
 * first block either takes as long; with the other, computing that block takes no longer than loading A and its columns
 * of B. */
static double first_share(const tb_problem *problem)
{
    const double m = (double)problem->m, n = (double)problem->n;
    const double returning = 1 - WORK_A_FLOAT / (double)tb_larger(problem->k, 1);
    const double loading = m > WORK_A_FLOAT ? WORK_A_FLOAT * m / (n * (m - WORK_A_FLOAT)) : 1;
    return returning < loading ? returning : loading;
}

/* Columns of C as they complete, a first block of them while A arrives. */
static void cut_columns(const tb_problem *problem, const tb_budget *budget, bool blocks, tb_tiling *tiling)
{
    const int64_t n = problem->n;
    tiling->next_panel_n = choose_next_panel(problem, budget);
    const int64_t panels =
        tb_larger((int64_t)(first_share(problem) * (double)n / (double)tiling->next_panel_n + 0.5), 1);
    if (blocks)
        tiling->block_n = tb_smaller(panels * tiling->next_panel_n, n);
    tiling->next_n = tiling->next_panel_n;
    if (problem->transpose_b) {
        const int64_t least =
            tb_smaller(budget->slot_bytes / SLOT_ROWS_B / (int64_t)sizeof(float), n / BLOCKS_MOST);
        tiling->next_n = tb_round_up(tb_larger(tiling->next_n, least), tiling->next_panel_n);
    }
    tiling->next_n = tb_smaller(tiling->next_n, tb_larger(n - tiling->block_n, 1));
    cut_a(problem, budget, tiling);
}

/* With A there first, the end is not before A's time and the longer of B's and C's; with B first it is B's and the longer of
 * A's and C's, which is less where C has more rows than columns and than steps of k. */
static bool is_tall(const tb_problem *problem)
{
    return problem->m >= TALL * problem->n && problem->m > problem->k;
}

/* Rows of C as they complete, once B is there; false when there would be a single band of them. */
static bool cut_rows(const tb_problem *problem, const tb_budget *budget, tb_tiling *tiling)
{
    const int64_t m = problem->m, n = problem->n, k = tb_larger(problem->k, 1);
    const int64_t slot = budget->slot_bytes / (int64_t)sizeof(float);
    const bool far = budget->straight && m * (n + k) > FAR_SLOTS * slot;
    const int64_t least = tb_larger(slot / (far ? FAR_SLOT_ROWS : SLOT_ROWS),
                                    (budget->straight ? slot / 2 : slot) / tb_larger(n, k));
    const int64_t rows = tb_larger(tb_smaller(m / PIECES, PIECE_SLOTS_MOST * slot / k), least);
    const int64_t tile = budget->kernel->tile_m;
    const int64_t most = fill_rounds(problem, rows, tile, n, tb_pieces(n, budget->kernel->tile_n), m, budget);
    /* None is much lower than the others: each has all of B split once more. */
    tiling->band_m = tb_smaller(tb_round_up(tb_pieces(m, tb_larger(m / most, 1)), tile), m);
    tiling->piece_m = m;
    tiling->slab_k = k;
    tiling->slabs = 1;
    tiling->next_n = tiling->next_panel_n = n;
    return tiling->band_m < m;
}

static bool complete(const tb_problem *problem, const tb_budget *budget, tb_tiling *tiling)
{
    tiling->panel_n = choose_panel(tiling, budget->kernel, budget->target.multiprocessors);
    return fits(budget, problem, tiling);
}

static bool tile_whole(const tb_problem *problem, const tb_budget *budget, tb_tiling *tiling)
{
    const int64_t m = problem->m, n = problem->n, k = problem->k, slot = budget->slot_bytes;
    const int64_t rows_most = slot / (int64_t)sizeof(float);
    if (m > rows_most || n > rows_most || k > rows_most)
        return false;
    const double in = (double)k * (double)(m + n), out = (double)m * (double)n;
    const bool blocks =
        sizeof(float) * (in + out) >= SECOND_BLOCK_SLOTS * (double)slot && SHORT_WAY_BACK * out >= in;
    const tb_tiling uncut = {.whole = true, .block_m = m, .block_n = n, .band_m = m};
    *tiling = uncut;
    if (blocks && budget->bands && is_tall(problem) && cut_rows(problem, budget, tiling) &&
        complete(problem, budget, tiling))
        return true;
    *tiling = uncut;
    cut_columns(problem, budget, blocks, tiling);
    return complete(problem, budget, tiling);
}

/* ---- The choice ------------------------------------------------------------------------------------------- */

bool tb_choose_tiling(const tb_problem *problem, const tb_budget *budget, tb_tiling *tiling)
{
    const tb_kernel *kernel = budget->kernel;
    const int64_t rows_most = budget->slot_bytes / (int64_t)sizeof(float);
    if (tile_whole(problem, budget, tiling))
        return true;
    *tiling = (tb_tiling){.slab_k = choose_slab(problem)};
    double volume = (double)problem->m * (double)problem->n * (double)problem->k;
    int64_t blocks = volume < TWO_BLOCKS_VOLUME ? 1 : 2;
    int64_t block_m = tb_smaller(problem->m, rows_most);
    int64_t block_n = tb_smaller(tb_round_up(tb_pieces(problem->n, blocks), kernel->tile_n), problem->n);
    block_n = tb_smaller(block_n, rows_most);

    set_block(problem, block_m, block_n, true, TB_RING_MAXIMUM, tiling);
    bool found = fits(budget, problem, tiling);
    for (; !found && tiling->slab_k > 0; tiling->slab_k /= 2)
        if ((found = choose_blocks(problem, block_m, block_n, budget, tiling)))
            break;
    if (found)
        tiling->panel_n = tiling->next_panel_n = choose_panel(tiling, kernel, budget->target.multiprocessors);
    return found;
}
