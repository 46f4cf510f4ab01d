#include "kernels/simt/launch_skinny.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "lib/integers.h"

#include <math.h>

/* Forecasts in clocks of a multiprocessor, fitted to an H200's figures by bench/kernels.
 *
 * A load's way from memory and back under load: what is in flight arrives once in so many. Lines of one step of k each lie
 * far apart, and take longer. */
#define LATENCY_CLOCKS(k_contiguous) ((k_contiguous) ? 1200.0 : 2000.0)
/* Starting blocks until their first loads are back; their sums' way through shared memory, for each of the extent, and once
 * more for each warp along k; and the rate at which they write, and read where beta asks, so few columns of C. */
#define BLOCK_CLOCKS      2500.0
#define SUM_CLOCKS        200.0
#define SUM_WARP_CLOCKS   120.0
#define OUT_BYTES_A_CLOCK 2.5
/* The second launch, beside the bytes that it moves: of few blocks, it is soon over. */
#define SECOND_LAUNCH_CLOCKS 3500.0
/* Two blocks that add their sums up as a cluster; where there are none, a second launch takes somewhat longer. */
#define PAIR_CLOCKS 1000.0
/* What L2 delivers to a multiprocessor when all of them ask, about 7 TB/s in all: the short operand comes from
 * there, once for each block. */
#define L2_BYTES_A_CLOCK 32.0
/* Share of the FMA peak that is left beside loads from shared memory, one for 16 FMAs as in sgemm_simt; less where
 * lanes differ in k. */
#define FMA_SHARE(k_contiguous) ((k_contiguous) ? 0.48 : 0.5)
/* A warp's 128 unaligned bytes lie in five sectors instead of four, of which some are fetched twice. */
#define UNALIGNED_SHARE 0.9

extern tb_entry tb_entry_skinny_reduce;

/* The product in the words of skinny.h. */
typedef struct view {
    const float *x, *y;
    int64_t length, shorts, x_line, y_row, y_k, c_row, c_column;
    int k_contiguous, vector, reads_c;
    int extent_index, extent;
} view;

static view view_of(const tb_problem *p)
{
    view v;
    if (p->m >= p->n)
        v = (view){.x = p->a,
                   .y = p->b,
                   .length = p->m,
                   .shorts = p->n,
                   .x_line = p->lda,
                   .y_row = p->transpose_b ? 1 : p->ldb,
                   .y_k = p->transpose_b ? p->ldb : 1,
                   .c_row = 1,
                   .c_column = p->ldc,
                   .k_contiguous = p->transpose_a};
    else
        v = (view){.x = p->b,
                   .y = p->a,
                   .length = p->n,
                   .shorts = p->m,
                   .x_line = p->ldb,
                   .y_row = p->transpose_a ? p->lda : 1,
                   .y_k = p->transpose_a ? 1 : p->lda,
                   .c_row = p->ldc,
                   .c_column = 1,
                   .k_contiguous = !p->transpose_b};
    v.reads_c = p->beta != 0;
    /* A single row has no second line, so that nothing depends on where that would be. */
    if (v.length == 1 && (v.k_contiguous || v.x_line == 1)) {
        v.k_contiguous = 1;
        v.x_line = 4;
    }
    const tb_kernel aligned = {.alignment = 4};
    /* Where rows are contiguous, a lane has all four of its rows or none. */
    v.vector = tb_kernel_takes(&aligned, v.x, v.x_line) && (v.k_contiguous || v.length % 4 == 0);
    for (v.extent = 1; v.extent < v.shorts && v.extent_index < TB_SKINNY_EXTENTS - 1; v.extent *= 2)
        v.extent_index++;
    return v;
}

static int64_t block_rows(const view *v, const tb_skinny_schedule *s)
{
    return s->warps / s->warps_k * TB_SKINNY_ROWS(v->k_contiguous, v->vector, v->extent);
}

static double cube(double x)
{
    return x * x * x;
}

/* What a multiprocessor takes for so many blocks at a time: the longest of what overlaps, the long operand from memory, with it
 * the short one from L2, and the multiplications; and somewhat more where these come near to each other. */
static double blocks_clocks(const view *v, const tb_skinny_schedule *s, int64_t resident)
{
    if (resident == 0)
        return 0;
    const double rows = (double)block_rows(v, s), k = (double)tb_pieces(s->rounds, s->pieces) * s->round_k;
    const double filled = fmin(rows, (double)v->length) / rows;
    const double x = 4 * rows * filled * k, y = 4 * (double)tb_smaller(v->shorts, v->extent) * k;
    const double in_flight = (TB_SKINNY_DEPTH(v->extent) - 0.5) * 64 * 32 * s->warps * filled;
    const double reading = cube(x / TB_BYTES_A_CLOCK) +
                           cube(x * LATENCY_CLOCKS(v->k_contiguous) / ((double)resident * in_flight)) +
                           cube((x + y) / L2_BYTES_A_CLOCK);
    const double block = cbrt(reading / (v->vector ? 1 : cube(UNALIGNED_SHARE)) +
                              cube(rows * v->extent * k / (TB_FMA_A_CLOCK * FMA_SHARE(v->k_contiguous))));
    const double out = (v->reads_c ? 2 : 1) * 4 * rows * (double)tb_smaller(v->shorts, v->extent);
    return (double)resident * block + BLOCK_CLOCKS + SUM_CLOCKS * v->extent +
           SUM_WARP_CLOCKS * v->extent * s->warps_k + out / OUT_BYTES_A_CLOCK;
}

/* The busiest multiprocessor has some rounds of blocks, and fewer of them in a last one. */
static double clocks_of(const view *v, const tb_skinny_schedule *s, int multiprocessors)
{
    const int64_t share = tb_pieces(s->tiles_short * s->tiles_long * s->pieces, multiprocessors);
    const int64_t most = TB_SKINNY_BLOCKS(v->extent);
    double clocks = blocks_clocks(v, s, share % most);
    if (share >= most)
        clocks += (double)(share / most) * blocks_clocks(v, s, most);
    if (s->pieces == 1)
        return clocks;
    if (s->pieces == 2)
        return clocks + PAIR_CLOCKS;
    double partials = 8 * (double)s->pieces * (double)v->length * (double)v->shorts;
    return clocks + SECOND_LAUNCH_CLOCKS + partials / TB_BYTES_A_CLOCK / multiprocessors;
}

/* The block's shape is given: all of k at once, or cut so that one or two waves of blocks come out even. */
static void consider(const view *v, tb_skinny_schedule s, int multiprocessors, tb_skinny_schedule *best)
{
    s.tiles_long = tb_pieces(v->length, block_rows(v, &s));
    int64_t tiles = s.tiles_long * s.tiles_short;
    for (int waves = 0; waves <= 2 * TB_SKINNY_BLOCKS(v->extent); waves++) {
        s.pieces = waves == 0 ? 1 : tb_smaller((int64_t)waves * multiprocessors / tiles, s.rounds);
        if (s.pieces < 1 || (waves > 0 && s.pieces == 1))
            continue;
        s.clocks = clocks_of(v, &s, multiprocessors);
        if (best->warps == 0 || s.clocks < best->clocks)
            *best = s;
    }
}

static tb_skinny_schedule schedule_of(const view *v, int64_t k, int multiprocessors)
{
    tb_skinny_schedule best = {0}, s = {.entry = TB_SKINNY_ENTRY(v->k_contiguous, v->vector, v->extent_index),
                                        .warps = TB_SKINNY_WARPS(v->extent),
                                        .tiles_short = tb_pieces(v->shorts, v->extent)};
    for (s.warps_k = 1; s.warps_k <= s.warps; s.warps_k *= 2) {
        s.round_k = s.warps_k * TB_SKINNY_STEP_K(v->k_contiguous, v->vector, v->extent);
        s.rounds_a_chunk = TB_SKINNY_CHUNK_K(v->extent) / s.round_k;
        s.rounds = tb_pieces(k, s.round_k);
        if (s.rounds_a_chunk > 0 && block_rows(v, &s) <= TB_SKINNY_ROWS_MAXIMUM(v->extent))
            consider(v, s, multiprocessors, &best);
    }
    return best;
}

tb_skinny_schedule tb_skinny_plan(const tb_problem *problem, int multiprocessors)
{
    const view v = view_of(problem);
    return schedule_of(&v, problem->k, multiprocessors);
}

double tb_skinny_clocks(const tb_kernel *kernel, const tb_problem *problem, tb_target target)
{
    (void)kernel;
    return tb_skinny_plan(problem, target.multiprocessors).clocks;
}

/* Where the build's code has clusters, two blocks that have a tile's pieces add them up themselves. Four take longer than a
 * second launch. */
static int cluster_of(const tb_launcher *launcher, const tb_kernel *kernel, const view *v,
                      const tb_skinny_schedule *s)
{
    if (launcher->target.architecture < 90 || !kernel->entries[s->entry].early || s->pieces != 2)
        return 1;
    const int64_t pairs = s->tiles_short * s->tiles_long;
    return pairs <= tb_clusters_at_a_time(2, TB_SKINNY_BLOCKS(v->extent), launcher->target) ? 2 : 1;
}

size_t tb_skinny_workspace(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem)
{
    const view v = view_of(problem);
    const tb_skinny_schedule s = schedule_of(&v, problem->k, launcher->target.multiprocessors);
    bool added_later = s.pieces > 1 && cluster_of(launcher, kernel, &v, &s) == 1;
    return added_later ? (size_t)(s.pieces * problem->m * problem->n) * sizeof(float) : 0;
}

/* Each group of lanes adds up a share of the pieces: the more pieces, the more groups and blocks. */
static tb_status launch_reduce(const tb_launcher *launcher, tb_skinny_arguments *arguments)
{
    arguments->reduce_lanes = arguments->pieces < 4 ? 256 : arguments->pieces < 16 ? 64 : 16;
    int64_t blocks = tb_pieces(arguments->length * arguments->shorts, arguments->reduce_lanes);
    return launcher->launch(launcher, &tb_entry_skinny_reduce, blocks, TB_SKINNY_REDUCE_THREADS, 0,
                            arguments);
}

tb_status tb_launch_skinny(const tb_launcher *launcher, const tb_kernel *kernel, const tb_problem *problem,
                           void *workspace)
{
    const view v = view_of(problem);
    const tb_skinny_schedule s = schedule_of(&v, problem->k, launcher->target.multiprocessors);
    if (s.tiles_long > TB_BLOCKS_MAXIMUM / s.tiles_short ||
        s.pieces > TB_BLOCKS_MAXIMUM / (s.tiles_long * s.tiles_short) || s.rounds / s.pieces >= INT32_MAX)
        return TB_UNSUPPORTED;
    tb_skinny_arguments arguments = {
        .x = v.x,
        .y = v.y,
        .c = problem->c,
        .length = v.length,
        .shorts = v.shorts,
        .k = problem->k,
        .x_line = v.x_line,
        .x_lane_line = v.x_line * (32 / TB_SKINNY_NEAR(v.k_contiguous, v.vector)),
        .x_round = v.k_contiguous ? s.round_k : s.round_k * v.x_line,
        .y_row = v.y_row,
        .y_k = v.y_k,
        .c_row = v.c_row,
        .c_column = v.c_column,
        .rounds = s.rounds,
        .pieces = s.pieces,
        .partial = workspace,
        .cluster = cluster_of(launcher, kernel, &v, &s),
        .tiles_short = (int32_t)s.tiles_short,
        .tiles_long = (int32_t)s.tiles_long,
        .round_k = s.round_k,
        .rounds_a_chunk = s.rounds_a_chunk,
        .warps_k = s.warps_k,
        .alpha = problem->alpha,
        .beta = problem->beta,
    };
    int64_t blocks = s.tiles_short * s.tiles_long * s.pieces;
    if (arguments.cluster > 1)
        return launcher->launch_clusters(launcher, &kernel->entries[s.entry], blocks, arguments.cluster,
                                         32 * s.warps, 0, &arguments);
    TB_TRY(launcher->launch(launcher, &kernel->entries[s.entry], blocks, 32 * s.warps, 0, &arguments));
    return s.pieces > 1 ? launch_reduce(launcher, &arguments) : TB_OK;
}
