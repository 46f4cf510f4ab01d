#include "kernels/simt/launch_skinny.h"

#include "kernels/built_code.h"
#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "words/integers.h"

#include <math.h>

/* Forecasts in clocks of a multiprocessor, fitted to 499 schedules of 36 products on an H200, of an earlier state of the
 * kernel: half of them took within 4% of it, and what it would choose for each product 1.008 of the best. For lines along k
 * that are copied by whole sectors, RUN_BYTES, STAGING_ROWS and the share of the FMA peak are of eight products since.
 *
 * They have not been fitted to doubles: the constants are the same, by the byte and by the word, and multiply-adds go at the
 * chip's rate for FP64.
 *
 * What memory delivers, TB_READ_BYTES_A_CLOCK to a multiprocessor when all of them ask, is less where a warp's copies of single
 * elements touch five sectors for four, or nine for eight, and where lines that begin anywhere are read in runs so short that
 * such a sector more counts. */
#define SINGLE_SHARE(bytes)      ((bytes) == 4 ? 0.88 : 0.94)
#define RUN_BYTES(bytes, shifts) ((bytes) * (shifts) > 16 ? 8.0 : 16.0)
/* The same of one column, whose warps take no turns (docs/lab/simt.md, "One column along k"): less where lines begin with those
 * of memory, as runs of one row lie far from those of the next all the same. */
#define RUN_BYTES_ALONE(even) ((even) ? 8.0 : 40.0)
#define LINE_BYTES            128
/* A copy's way from memory and back under load: what is in flight arrives once in so many. */
#define LATENCY_CLOCKS(k_contiguous) ((k_contiguous) ? 1570.0 : 1230.0)
/* What L2 delivers to a multiprocessor: the short operand comes from there, once for each block. */
#define L2_BYTES_A_CLOCK 39.0
/* Share of the FMA peak that is left beside loads from shared memory; and of that, for a block alone. */
#define FMA_SHARE(k_contiguous, vector) ((k_contiguous) ? 0.73 : (vector) ? 0.85 : 0.59)
#define FMA_SHARE_ALONE                 0.81
/* Bringing the short operand takes instructions too: where k is contiguous, as many as so many rows more. */
#define STAGING_ROWS(k_contiguous) ((k_contiguous) ? 5.0 : 0.0)
/* Starting blocks until their first copies are there; their sums' way through shared memory, for each word of a slot, and once
 * more for each warp along k; and the rate at which they write, and read where beta asks, so few columns of C. */
#define BLOCK_CLOCKS      1320.0
#define SUM_CLOCKS        585.0
#define SUM_WARP_CLOCKS   71.0
#define OUT_BYTES_A_CLOCK 3.2
/* The second launch, beside the bytes that it moves: of few blocks, it is soon over. */
#define SECOND_LAUNCH_CLOCKS 3570.0
/* Two blocks that add their sums up as a cluster; where there are none, a second launch takes somewhat longer. */
#define PAIR_CLOCKS 1200.0

/* A chain is what a lane adds up of one sum before others' are added to it. Those of doubles have at most CHAIN_LEAST steps of
 * k, or CHAIN_ROOTS times the root of k, which keeps their errors below those of a kernel that cuts k: what is longer goes to
 * more warps, or more blocks. */
#define CHAIN_LEAST 128.0
#define CHAIN_ROOTS 4.0

/* The product in the words of skinny.h. */
typedef struct view {
    tb_element element;
    int bytes;
    const void *x, *y;
    int64_t length, shorts, x_line, y_row, y_k, c_row, c_column;
    int k_contiguous, vector, reads_c;
    int extent_index, extent;
} view;

static bool begin_aligned(const view *v, int elements)
{
    return (uintptr_t)v->x % (size_t)(elements * v->bytes) == 0 && v->x_line % elements == 0;
}

static view view_of(const tb_product *p)
{
    view v;
    if (p->m >= p->n)
        v = (view){.x = p->a.data,
                   .y = p->b.data,
                   .length = p->m,
                   .shorts = p->n,
                   .x_line = p->a.ld,
                   .y_row = p->b.transposed ? 1 : p->b.ld,
                   .y_k = p->b.transposed ? p->b.ld : 1,
                   .c_row = 1,
                   .c_column = p->c.ld,
                   .k_contiguous = p->a.transposed};
    else
        v = (view){.x = p->b.data,
                   .y = p->a.data,
                   .length = p->n,
                   .shorts = p->m,
                   .x_line = p->b.ld,
                   .y_row = p->a.transposed ? p->a.ld : 1,
                   .y_k = p->a.transposed ? 1 : p->a.ld,
                   .c_row = p->c.ld,
                   .c_column = 1,
                   .k_contiguous = !p->b.transposed};
    v.element = tb_element_of(p);
    v.bytes = (int)tb_bytes_of(v.element);
    v.reads_c = !tb_is_zero(p->beta);
    /* A single row has no second line, so that nothing depends on where that would be. */
    if (v.length == 1 && (v.k_contiguous || v.x_line == 1)) {
        v.k_contiguous = 1;
        v.x_line = TB_SKINNY_BEFORE(v.bytes, 1);
    }
    /* Where rows are contiguous, copies of 16 bytes have all of their rows or none. */
    const int width = TB_SKINNY_WIDTH(v.bytes);
    v.vector = v.k_contiguous || (begin_aligned(&v, width) && v.length % width == 0);
    for (v.extent = 1; v.extent < v.shorts && v.extent_index < TB_SKINNY_EXTENTS(v.bytes) - 1; v.extent *= 2)
        v.extent_index++;
    return v;
}

static int shifts_of(const view *v, const tb_skinny_schedule *s, int64_t k)
{
    const int shifts = k < TB_SKINNY_SECTORS_K ? TB_SKINNY_WIDTH(v->bytes)
                                               : TB_SKINNY_SHIFTS(v->bytes, v->extent, s->warps, s->warps_k);
    return v->k_contiguous && !begin_aligned(v, shifts) ? shifts : 1;
}

static int64_t block_rows(const view *v, const tb_skinny_schedule *s)
{
    return s->warps / s->warps_k * TB_SKINNY_ROWS(v->bytes, v->k_contiguous, v->vector, v->extent);
}

static double fifth(double x)
{
    return x * x * x * x * x;
}

/* The longest of what overlaps; somewhat more where others come near to it. */
static double overlapped(double fifths)
{
    return pow(fifths, 0.2);
}

/* What a block moves and computes. */
typedef struct work {
    double x, y, out; /* bytes of the long operand, of the short one, and of C */
    double fmas, in_flight;
    double run; /* bytes of the long operand that lie together */
    int shifts;
} work;

static work work_of(const view *v, const tb_skinny_schedule *s)
{
    const double rows = (double)block_rows(v, s), k = (double)tb_ceil_div(s->rounds, s->pieces) * s->round_k;
    const double shorts = (double)tb_smaller(v->shorts, v->extent), exist = fmin(rows, (double)v->length);
    const double ahead = TB_SKINNY_DEPTH(80) - 1, bytes = v->bytes;
    return (work){.x = bytes * exist * k,
                  .y = bytes * shorts * k,
                  .out = (v->reads_c ? 2 : 1) * bytes * rows * shorts,
                  .fmas = (rows + STAGING_ROWS(v->k_contiguous)) * v->extent * k,
                  .in_flight =
                      ahead * 32 * bytes * TB_SKINNY_SHARE(v->bytes, v->extent) * s->warps * exist / rows,
                  .run = bytes * (v->k_contiguous ? s->round_k : exist),
                  .shifts = s->shifts};
}

static bool is_one_along_k(const view *v)
{
    return v->k_contiguous && v->extent == 1;
}

/* The share of memory's rate that is left for what the long operand's runs hold. */
static double share_of_runs(const view *v, const work *block)
{
    if (is_one_along_k(v))
        return 1 / (1 + RUN_BYTES_ALONE(begin_aligned(v, LINE_BYTES / v->bytes)) / block->run);
    return block->shifts > 1 ? 1 / (1 + RUN_BYTES(v->bytes, block->shifts) / block->run)
           : v->vector       ? 1
                             : SINGLE_SHARE(v->bytes);
}

/* What a multiprocessor takes for so many blocks at a time, whatever memory delivers. */
static double resident_clocks(const view *v, const work *block, int64_t resident, tb_target target)
{
    const double blocks = (double)resident, peak = TB_FMA_A_CLOCK * FMA_SHARE(v->k_contiguous, v->vector) *
                                                   tb_share_of_element(v->element, target.architecture);
    return overlapped(fifth(block->x * LATENCY_CLOCKS(v->k_contiguous) / block->in_flight) +
                      fifth(blocks * (block->x + block->y) / L2_BYTES_A_CLOCK / share_of_runs(v, block)) +
                      fifth(blocks * block->fmas / (resident > 1 ? peak : FMA_SHARE_ALONE * peak)));
}

/* The busiest multiprocessor has some rounds of blocks, and fewer of them in a last one; memory is all of theirs. */
static double clocks_of(const view *v, const tb_skinny_schedule *s, tb_target target)
{
    const int multiprocessors = target.multiprocessors;
    const work block = work_of(v, s);
    const int64_t blocks = s->tiles_short * s->tiles_long * s->pieces;
    const int64_t share = tb_ceil_div(blocks, multiprocessors), rest = share % TB_SKINNY_BLOCKS;
    const double full = (double)(share / TB_SKINNY_BLOCKS);
    /* The sectors that unaligned copies touch besides come from L2, which a slower memory hides. */
    const double rate_share = fmin(share_of_runs(v, &block), tb_memory_ratio(target));
    const double memory = (double)blocks * block.x / multiprocessors / (TB_READ_BYTES_A_CLOCK * rate_share);
    double busy = rest ? resident_clocks(v, &block, rest, target) : 0;
    if (full > 0)
        busy += full * resident_clocks(v, &block, TB_SKINNY_BLOCKS, target);
    const double around = BLOCK_CLOCKS +
                          TB_SKINNY_WORDS(v->bytes, v->extent) * (SUM_CLOCKS + SUM_WARP_CLOCKS * s->warps_k) +
                          block.out / OUT_BYTES_A_CLOCK;
    /* With one column a block begins and ends while the other reads, whose reading is all that takes long. */
    const double rounds = full + (rest > 0), beside = is_one_along_k(v) ? (rounds - 1) * around : 0;
    const double clocks = overlapped(fifth(memory) + fifth(busy + beside)) + rounds * around - beside;
    if (s->pieces == 1)
        return clocks;
    if (s->pieces == 2)
        return clocks + PAIR_CLOCKS;
    double partials = 2 * v->bytes * (double)s->pieces * (double)v->length * (double)v->shorts;
    return clocks + SECOND_LAUNCH_CLOCKS + partials / TB_BYTES_A_CLOCK / multiprocessors;
}

static double longest_chain(const view *v, int64_t k)
{
    return v->element == TB_FP32 ? INFINITY : fmax(CHAIN_LEAST, CHAIN_ROOTS * sqrt((double)k));
}

/* Into how many pieces k is cut at least, that no chain is longer than that. */
static int64_t least_pieces(const view *v, const tb_skinny_schedule *s, int64_t k)
{
    const double rounds = fmax(
        1, floor(longest_chain(v, k) / TB_SKINNY_LANE_K(v->bytes, v->k_contiguous, v->vector, v->extent)));
    return rounds < (double)s->rounds ? tb_ceil_div(s->rounds, (int64_t)rounds) : 1;
}

static void consider_pieces(const view *v, tb_skinny_schedule s, int64_t pieces, tb_target target,
                            tb_skinny_schedule *best)
{
    if (pieces > 1 && pieces > s.rounds)
        return;
    s.pieces = pieces;
    s.clocks = clocks_of(v, &s, target);
    if (best->warps == 0 || s.clocks < best->clocks)
        *best = s;
}

/* The block's shape is given: k is cut into as few pieces as may be, or in halves, or so that some waves of blocks come out
 * even. */
static void consider(const view *v, tb_skinny_schedule s, int64_t least, tb_target target,
                     tb_skinny_schedule *best)
{
    s.tiles_long = tb_ceil_div(v->length, block_rows(v, &s));
    const int64_t tiles = s.tiles_long * s.tiles_short;
    consider_pieces(v, s, least, target, best);
    if (least <= 2)
        consider_pieces(v, s, 2, target, best);
    for (int waves = 1; waves <= 2 * TB_SKINNY_BLOCKS; waves++) {
        const int64_t pieces = tb_smaller((int64_t)waves * target.multiprocessors / tiles, s.rounds);
        if (pieces > 2 && pieces > least)
            consider_pieces(v, s, pieces, target, best);
    }
}

static tb_skinny_schedule schedule_of(const view *v, int64_t k, tb_target target)
{
    tb_skinny_schedule best = {0},
                       s = {.entry = TB_SKINNY_ENTRY(v->bytes, v->k_contiguous, v->vector, v->extent_index),
                            .warps = TB_SKINNY_WARPS(v->bytes, v->extent),
                            .tiles_short = tb_ceil_div(v->shorts, v->extent)};
    for (s.warps_k = 1; s.warps_k <= s.warps; s.warps_k *= 2) {
        s.round_k = s.warps_k * TB_SKINNY_STEP_K(v->bytes, v->k_contiguous, v->vector, v->extent);
        s.shifts = shifts_of(v, &s, k);
        s.rounds = tb_ceil_div(k + s.shifts - 1, s.round_k);
        if (block_rows(v, &s) <= TB_SKINNY_ROWS_MAXIMUM(v->bytes, v->extent))
            consider(v, s, least_pieces(v, &s, k), target, &best);
    }
    return best;
}

/* Where the build's code has clusters, two blocks that have a tile's pieces add them up themselves. Four take longer than a
 * second launch. */
static int cluster_of(const tb_kernel *kernel, const tb_skinny_schedule *s, tb_target target)
{
    if (target.architecture < 90 || !kernel->entries[s->entry].early || s->pieces != 2)
        return 1;
    const int64_t pairs = s->tiles_short * s->tiles_long;
    return pairs <= tb_clusters_at_a_time(2, TB_SKINNY_BLOCKS, target) ? 2 : 1;
}

void tb_skinny_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                       tb_schedule *schedule)
{
    const view v = view_of(product);
    tb_skinny_schedule own = schedule_of(&v, product->k, target);
    own.cluster = cluster_of(kernel, &own, target);
    const bool added_later = own.pieces > 1 && own.cluster == 1;
    schedule->clocks = own.clocks;
    schedule->workspace = added_later ? (size_t)(own.pieces * product->m * product->n) * (size_t)v.bytes : 0;
    TB_SET_DEAL(schedule, tb_skinny_schedule, own);
}

static tb_module module_sgemm_skinny_reduce = {.name = "sgemm_skinny_reduce"};
static tb_module module_dgemm_skinny_reduce = {.name = "dgemm_skinny_reduce"};
tb_entry tb_entry_skinny_reduce[] = {
    [TB_FP32] = {&module_sgemm_skinny_reduce, "sgemm_skinny_reduce", 0, NULL, 0, TB_EARLY},
    [TB_FP64] = {&module_dgemm_skinny_reduce, "dgemm_skinny_reduce", 0, NULL, 0, TB_EARLY},
};

static tb_status launch_reduce(const tb_launcher *launcher, tb_element element,
                               tb_skinny_arguments *arguments)
{
    arguments->reduce_lanes = tb_reduce_lanes(arguments->pieces);
    int64_t blocks = tb_ceil_div(arguments->length * arguments->shorts, arguments->reduce_lanes);
    return launcher->launch(launcher, &tb_entry_skinny_reduce[element], blocks, TB_SKINNY_REDUCE_THREADS, 0,
                            arguments);
}

tb_status tb_launch_skinny(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                           const tb_schedule *schedule, void *workspace)
{
    const view v = view_of(product);
    const tb_skinny_schedule s = *TB_DEAL(schedule, tb_skinny_schedule);
    if (s.tiles_long > TB_BLOCKS_MAXIMUM / s.tiles_short ||
        s.pieces > TB_BLOCKS_MAXIMUM / (s.tiles_long * s.tiles_short) || s.rounds / s.pieces >= INT32_MAX)
        return TB_UNSUPPORTED;
    tb_skinny_arguments arguments = {
        .x = v.x,
        .y = v.y,
        .c = product->c.data,
        .length = v.length,
        .shorts = v.shorts,
        .k = product->k,
        .x_line = v.x_line,
        .x_lane_line = v.x_line * TB_SKINNY_FAR(v.vector) *
                       (v.k_contiguous ? TB_SKINNY_IN_TURN(v.extent, s.warps, s.warps_k) : 1),
        .x_round = v.k_contiguous ? s.round_k : s.round_k * v.x_line,
        .y_row = v.y_row,
        .y_k = v.y_k,
        .c_row = v.c_row,
        .c_column = v.c_column,
        .pieces = s.pieces,
        .piece_rounds = (int32_t)(s.rounds / s.pieces),
        .longer = (int32_t)(s.rounds % s.pieces),
        .partial = workspace,
        .cluster = s.cluster,
        .tiles_short = (int32_t)s.tiles_short,
        .tiles_long = (int32_t)s.tiles_long,
        .round_k = s.round_k,
        .shifts = s.shifts,
        .warps_k = s.warps_k,
        .alpha = (float)product->alpha.re,
        .beta = (float)product->beta.re,
        .alpha64 = product->alpha.re,
        .beta64 = product->beta.re,
    };
    const int64_t blocks = s.tiles_short * s.tiles_long * s.pieces;
    const int shared_bytes = TB_SKINNY_SHARED_BYTES(v.bytes, v.extent, launcher->target.architecture);
    if (arguments.cluster > 1)
        return launcher->launch_clusters(launcher, &kernel->entries[s.entry], blocks, arguments.cluster,
                                         32 * s.warps, shared_bytes, &arguments);
    TB_TRY(launcher->launch(launcher, &kernel->entries[s.entry], blocks, 32 * s.warps, shared_bytes,
                            &arguments));
    return s.pieces > 1 ? launch_reduce(launcher, v.element, &arguments) : TB_OK;
}
