#include "kernels/tensor/launch_tensor.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "kernels/mask.h"
#include "kernels/tensor/split.h"
#include "kernels/zeros.h"
#include "words/integers.h"

#include <math.h>

/* Forecasts, in clocks of a multiprocessor, of six products of BF16 parts: measured on an H200 from n = 256
 * to 16384. A stage of either tile, a tile's beginning and end, the two launches before the main one with the main
 * one's start, and the pre-pass, which reads 4 bytes of an element and writes 6. Of a stage, MULTIPLY_CLOCKS
 * a product and column of the tile are the tensor cores' own; the rest is once a stage. */
#define WIDE_STAGE_CLOCKS   2480.0
#define NARROW_STAGE_CLOCKS 1710.0
#define MULTIPLY_CLOCKS     1.87
#define TILE_CLOCKS         4650.0
#define LAUNCHES_CLOCKS     7100.0
#define SPLIT_BYTES_A_CLOCK 17.0
/* The launch that adds up shares of k, beside what it reads and what the main one writes for it. */
#define ADD_LAUNCH_CLOCKS 5600.0

/* How well reading is hidden behind multiplying, as in the forecast of sgemm_skinny. */
#define OVERLAP 5.0

/* A share of k shorter than this costs more to start and to add up than it gains. */
#define SHARE_STAGES_LEAST 4
/* Shares are tried while there are works for so many waves at most. */
#define SHARED_WAVES_MOST 4

/* At 16384, where the power limit rules, the wide tile is 10% faster per column; it is not left for less. */
#define NARROW_ADVANTAGE 0.97

/* Of parts, in bytes: fewer stay in L2 whoever reads them when. */
#define PACED_BYTES ((size_t)48 << 20)

/* Blocks of a survey, where there are enough stages; and stages of a block, multiples of what it reads at a time where an operand
 * runs along k. */
#define SURVEY_BLOCKS       1500
#define SURVEY_STAGES_LEAST 4
#define SURVEY_STAGES_MOST  32

#define SPLIT_THREADS (TB_SPLIT_BLOCK_ROWS * TB_SPLIT_STAGE_K / 8)

/* What makes a row of the catalog. */
typedef struct family {
    int row_bytes, last_order;
    double products;                     /* of BF16 or FP16; one of FP8 counts 0.6 */
    double launches_clocks, split_bytes; /* that the passes before the product read and write, an element */
    bool scales, surveys;
} family;

static const family bf16x6 = {TB_SPLIT_BF16_ROW_BYTES, 2, 6, LAUNCHES_CLOCKS, 10, false, false};
static const family bf16x9 = {TB_SPLIT_BF16_ROW_BYTES, 4, 9, LAUNCHES_CLOCKS, 10, false, false};
/* One more launch, and one more reading. */
static const family fp16x3 = {TB_SPLIT_FP16_ROW_BYTES, 1, 3, LAUNCHES_CLOCKS * 1.6, 12, true, false};
/* As if it were FP16 parts with FP8. Fitted to what it takes beside bf16x6 on an H200, in a row, at n = 512 to 4096 and with panels of
 * 256 to 768 columns: a survey ends with several trips to memory, one after the other, and of what the passes read and write, 15
 * bytes, they move less at a time. */
static const family split = {TB_SPLIT_MIXED_ROW_BYTES, 2, 4.8, LAUNCHES_CLOCKS * 3.2, 20, true, true};

/* Of so few that there is a block for all the room there is: a block's stages are waited for one after the other. */
int64_t tb_split_block_stages(const tb_launcher *launcher, int64_t rows, int64_t stages)
{
    int64_t each = TB_SPLIT_BLOCK_STAGES_MOST;
    while (each > 1 &&
           tb_split_blocks(rows, stages, each) < TB_SPLIT_BLOCKS * launcher->target.multiprocessors)
        each /= 2;
    return each;
}

/* How the work is cut: tiles, and where those are few, shares of k. */
typedef struct schedule {
    int tile_n;
    int64_t shares, share_stages;
    double clocks; /* of the product, without the passes before */
} schedule;

static int64_t even(int64_t panels)
{
    return tb_ceil_div(panels, TB_SPLIT_CLUSTER_BLOCKS) * TB_SPLIT_CLUSTER_BLOCKS;
}

/* In blocks. That there is a cluster at all is taken for granted: no chip with clusters has a single multiprocessor. */
static int64_t whole_clusters(int multiprocessors)
{
    return tb_larger(1, multiprocessors / TB_SPLIT_CLUSTER_BLOCKS) * TB_SPLIT_CLUSTER_BLOCKS;
}

/* Clusters take one tile above another one. */
static tb_masked_tiles pairs_of_tiles(const tb_product *product, int tile_n)
{
    return tb_masked_tiles_of(product, TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_TILE_M, tile_n, TB_SPLIT_GROUP);
}

/* Those beside a touching one among them. */
static int64_t tiles_of(const tb_product *product, int tile_n)
{
    return TB_SPLIT_CLUSTER_BLOCKS * pairs_of_tiles(product, tile_n).count;
}

static double stage_clocks(const family *family, int tile_n)
{
    double six = tile_n == TB_SPLIT_WIDE ? WIDE_STAGE_CLOCKS : NARROW_STAGE_CLOCKS;
    return six + (family->products - 6) * MULTIPLY_CLOCKS * tile_n;
}

/* Of pairs of tiles, where there are zeros. */
static tb_tile_order order_of(const tb_product *product, int tile_n, int multiprocessors)
{
    return tb_order_tiles(tb_zeros_of(product),
                          tb_ceil_div(product->m, TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_TILE_M),
                          tb_ceil_div(product->n, tile_n), TB_SPLIT_GROUP,
                          whole_clusters(multiprocessors) / TB_SPLIT_CLUSTER_BLOCKS);
}

/* Cut so, the busiest multiprocessor takes so long for its works: a tile and a share of k each. */
static schedule cut(const family *family, const tb_product *product, int multiprocessors, int tile_n,
                    int64_t shares)
{
    int64_t stages = tb_ceil_div(product->k, TB_SPLIT_STAGE_K);
    int64_t tiles = tiles_of(product, tile_n);
    schedule s = {.tile_n = tile_n, .share_stages = tb_ceil_div(stages, shares)};
    s.shares = s.share_stages > 0 ? tb_ceil_div(stages, s.share_stages) : 1;
    s.clocks = (double)tb_ceil_div(tiles * s.shares, whole_clusters(multiprocessors)) *
               (TILE_CLOCKS + (double)s.share_stages * stage_clocks(family, tile_n));
    const tb_tile_order order = order_of(product, tile_n, multiprocessors);
    if (order.zeros && tiles > 0) { /* long works and short ones make up for each other */
        const double share = tb_needed_share(&order) * (double)s.share_stages;
        s.clocks = fmax(TILE_CLOCKS + (double)s.share_stages * stage_clocks(family, tile_n),
                        (double)(tiles * s.shares) / (double)whole_clusters(multiprocessors) *
                            (TILE_CLOCKS + share * stage_clocks(family, tile_n)));
    }
    if (s.shares > 1) {
        double bytes = 2.0 * sizeof(float) * (double)(tiles * s.shares) * TB_SPLIT_TILE_M * tile_n;
        s.clocks += ADD_LAUNCH_CLOCKS + bytes / SPLIT_BYTES_A_CLOCK / multiprocessors;
    }
    return s;
}

/* Where tiles do not fill a wave, or the last one of a few, shares of k do. */
static schedule best_of_width(const family *family, const tb_product *product, int multiprocessors,
                              int tile_n)
{
    schedule best = cut(family, product, multiprocessors, tile_n, 1);
    int64_t tiles = tiles_of(product, tile_n);
    int64_t most = SHARED_WAVES_MOST * whole_clusters(multiprocessors) / (tiles > 0 ? tiles : 1);
    for (int64_t shares = 2; shares <= most && best.share_stages >= SHARE_STAGES_LEAST; shares++) {
        schedule s = cut(family, product, multiprocessors, tile_n, shares);
        if (s.share_stages < SHARE_STAGES_LEAST)
            break;
        if (s.clocks < best.clocks)
            best = s;
    }
    return best;
}

/* Rows of op(A), or columns of op(B), as far as they are read: half of a triangle. */
static double rows_read(const tb_product *product, tb_role role)
{
    const int32_t zeros = tb_zeros_of(product);
    const bool halves = zeros && (role == TB_B) == ((zeros & TB_ZEROS_BY_COLUMN) != 0);
    return (double)(role == TB_B ? product->n : product->m) * (halves ? 0.5 : 1);
}

/* Of the passes before the product, over so many outer indices. */
static double split_clocks(const family *family, const tb_product *product, double indices, tb_target target)
{
    const double elements = indices * (double)product->k;
    return elements * family->split_bytes / (SPLIT_BYTES_A_CLOCK * tb_memory_ratio(target)) /
           target.multiprocessors;
}

/* Whether the parts of A are B's, too: SYRK's are, where panels of both have as many rows. */
static bool is_split_once(const tb_product *product, int tile_n)
{
    return tile_n == TB_SPLIT_TILE_M && tb_has_one_operand(product) && !product->a.embedded &&
           !product->b.embedded && !tb_zeros_of(product);
}

/* Of either operand, that the passes split and the product reads. */
static double rows_split(const tb_product *product, int tile_n)
{
    return rows_read(product, TB_A) + (is_split_once(product, tile_n) ? 0 : rows_read(product, TB_B));
}

/* The narrow tile takes more time for the same work; it gains where the last wave has few wide ones, or the passes have less to do. */
static schedule schedule_of(const family *family, const tb_product *product, tb_target target)
{
    schedule narrow = best_of_width(family, product, target.multiprocessors, TB_SPLIT_NARROW);
    schedule wide = best_of_width(family, product, target.multiprocessors, TB_SPLIT_WIDE);
    const double spared = rows_split(product, TB_SPLIT_WIDE) - rows_split(product, TB_SPLIT_NARROW);
    return narrow.clocks - split_clocks(family, product, spared, target) < NARROW_ADVANTAGE * wide.clocks
               ? narrow
               : wide;
}

/* Reading all parts once: where C has a short side, it takes as long as multiplying them. */
static double reading_clocks(const family *family, const tb_product *product, double rows, tb_target target)
{
    const double bytes = rows * (double)tb_ceil_div(product->k, TB_SPLIT_STAGE_K) * family->row_bytes;
    return bytes / (TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

/* Reading and multiplying overlap; where both take long, less than wholly. */
static double clocks(const family *family, const tb_product *product, const schedule *schedule,
                     tb_target target)
{
    const double multiplying = schedule->clocks;
    const double rows = rows_split(product, schedule->tile_n);
    const double reading = reading_clocks(family, product, rows, target);
    return family->launches_clocks + split_clocks(family, product, rows, target) +
           pow(pow(multiplying, OVERLAP) + pow(reading, OVERLAP), 1 / OVERLAP);
}

/* Bytes that a product needs: what is found out by outer index, the parts in use, and the parts, of
 * either operand; the pace; segments of k; shares of k. */
enum { FOUND_A, USED_A, PARTS_A, FOUND_B, USED_B, PARTS_B, PACE, SEGMENTS, SHARES, PLACES };

typedef struct layout {
    schedule schedule;
    int64_t stages, panels_a, panels_b, blocks;
    size_t bytes[PLACES],
        offset[PLACES]; /* within the workspace; what is A's comes first: it stays for another B */
    size_t workspace;
} layout;

/* Of the largest magnitudes of so many outer indices, and of what a survey finds out besides. */
static size_t found_bytes(const family *family, int64_t indices)
{
    const size_t surveyed =
        sizeof(uint64_t) * (size_t)indices + sizeof(uint32_t) * (size_t)indices / TB_SPLIT_BLOCK_ROWS;
    return (family->scales ? (size_t)indices * sizeof(uint32_t) : 0) + (family->surveys ? surveyed : 0);
}

/* Clusters keep pace where the parts do not fit into L2 by far. */
static int64_t pace_words(const layout *l, int64_t works)
{
    if (works == 0 || l->schedule.shares > 1 || l->bytes[PARTS_A] + l->bytes[PARTS_B] < PACED_BYTES)
        return 0;
    return tb_ceil_div(works, l->blocks) * tb_ceil_div(l->stages, TB_SPLIT_PACE_STAGES);
}

/* Whose clocks a product takes. Of a triangle some rows have so few nonzero elements that no survey could find for parts of FP8. */
static const family *counted_as(const family *own, const tb_product *product)
{
    return own->surveys && tb_zeros_of(product) ? &bf16x6 : own;
}

static layout lay_out(const family *family, const tb_product *product, tb_target target)
{
    layout l = {.schedule = schedule_of(counted_as(family, product), product, target)};
    l.stages = tb_ceil_div(product->k, TB_SPLIT_STAGE_K);
    l.panels_a = even(tb_ceil_div(product->m, TB_SPLIT_TILE_M));
    l.panels_b = tb_ceil_div(product->n, l.schedule.tile_n);
    const int64_t rows_a = l.panels_a * TB_SPLIT_TILE_M, rows_b = l.panels_b * l.schedule.tile_n;
    const int64_t works = tiles_of(product, l.schedule.tile_n) * l.schedule.shares;
    const size_t tile_bytes = TB_SPLIT_TILE_M * (size_t)l.schedule.tile_n * sizeof(float);
    l.blocks = whole_clusters(target.multiprocessors);
    if (works < l.blocks)
        l.blocks = works;
    l.bytes[FOUND_A] = found_bytes(family, rows_a);
    l.bytes[USED_A] = (size_t)(rows_a / TB_SPLIT_BLOCK_ROWS * l.stages);
    l.bytes[PARTS_A] = (size_t)(rows_a * l.stages * family->row_bytes);
    l.bytes[FOUND_B] = found_bytes(family, rows_b);
    l.bytes[USED_B] = (size_t)(rows_b / TB_SPLIT_BLOCK_ROWS * l.stages);
    l.bytes[PARTS_B] = (size_t)(rows_b * l.stages * family->row_bytes);
    l.bytes[PACE] = tb_zeros_of(product) ? 0 : sizeof(uint32_t) * (size_t)pace_words(&l, works);
    l.bytes[SEGMENTS] = l.schedule.share_stages > TB_SPLIT_SEGMENT_STAGES ? (size_t)l.blocks * tile_bytes : 0;
    l.bytes[SHARES] = l.schedule.shares > 1 ? (size_t)works * tile_bytes : 0;
    size_t offset = sizeof(tb_split_findings);
    for (int i = 0; i < PLACES; i++) {
        l.offset[i] = tb_split_align(offset);
        offset = l.offset[i] + l.bytes[i];
    }
    l.workspace = offset;
    return l;
}

tb_status tb_launch_split_passes(const tb_launcher *launcher, tb_entry *entries,
                                 const tb_split_arguments *arguments)
{
    const int64_t rows_a = (int64_t)arguments->panels_a * arguments->panel_a;
    const int64_t rows_b = arguments->b_is_a ? 0 : (int64_t)arguments->panels_b * arguments->panel_b;
    const int64_t blocks_b = tb_split_blocks(rows_b, arguments->stages, arguments->block_stages);
    const int64_t words = arguments->found_words_a + arguments->found_words_b + arguments->pace_words;
    TB_TRY(launcher->launch(launcher, &entries[TB_SPLIT_BEGIN],
                            tb_larger(1, tb_ceil_div(words, 4 * TB_SPLIT_BEGIN_THREADS)),
                            TB_SPLIT_BEGIN_THREADS, 0, arguments));
    if (arguments->stages == 0)
        return TB_OK;
    const int64_t blocks = blocks_b + arguments->turns_a;
    int64_t finding = blocks;
    if (arguments->sums_a)
        finding = (arguments->first_split_block > 0 ? rows_b : rows_a + rows_b) / TB_SPLIT_BLOCK_ROWS *
                  tb_ceil_div(arguments->stages, arguments->survey_stages);
    if (arguments->largest_a && finding > 0)
        TB_TRY(launcher->launch(launcher, &entries[TB_SPLIT_FIND_LARGEST], finding, SPLIT_THREADS, 0,
                                arguments));
    return blocks > 0
               ? launcher->launch(launcher, &entries[TB_SPLIT_SPLIT], blocks, SPLIT_THREADS, 0, arguments)
               : TB_OK;
}

static tb_status launch_multiply(const tb_launcher *launcher, tb_entry *entries, int row_bytes,
                                 int64_t blocks, const tb_split_arguments *arguments)
{
    const bool wide = arguments->panel_b == TB_SPLIT_WIDE;
    tb_entry *multiply = &entries[wide ? TB_SPLIT_MULTIPLY_WIDE : TB_SPLIT_MULTIPLY_NARROW];
    tb_entry *add = &entries[wide ? TB_SPLIT_ADD_WIDE : TB_SPLIT_ADD_NARROW];
    const bool adds = arguments->shares_of_k > 1;
    /* The first launch may write C: nothing may fail after it that can be seen to before. */
    if (adds)
        TB_TRY(launcher->load(launcher, add));
    TB_TRY(launcher->launch(launcher, multiply, blocks, TB_SPLIT_THREADS,
                            wide ? TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE)
                                 : TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_NARROW),
                            arguments));
    if (!adds)
        return TB_OK;
    int64_t blocks_a_tile = arguments->panel_b / 8 / TB_SPLIT_WRITE_QUADRUPLES;
    return launcher->launch(launcher, add,
                            (int64_t)arguments->tiles * TB_SPLIT_CLUSTER_BLOCKS * blocks_a_tile,
                            TB_SPLIT_CONSUMERS, 0, arguments);
}

static bool is_small_enough(const layout *l)
{
    return l->stages <= INT32_MAX && l->panels_a * TB_SPLIT_TILE_M <= TB_BLOCKS_MAXIMUM &&
           l->panels_b * l->schedule.tile_n <= TB_BLOCKS_MAXIMUM &&
           l->panels_a <= TB_BLOCKS_MAXIMUM / l->panels_b &&
           tb_split_blocks(l->panels_a * TB_SPLIT_TILE_M + l->panels_b * l->schedule.tile_n, l->stages, 1) <=
               TB_BLOCKS_MAXIMUM;
}

/* Of what is found out by outer index: the largest magnitudes, the sums of a survey, and its finished blocks. */
static void set_found(const family *family, const layout *l, char *memory, tb_split_arguments *arguments)
{
    const tb_sgemm *p = &arguments->problem;
    const bool once = arguments->b_is_a;
    const int64_t rows_a = l->panels_a * TB_SPLIT_TILE_M,
                  rows_b = once ? rows_a : l->panels_b * l->schedule.tile_n;
    char *of_a = memory + l->offset[FOUND_A], *of_b = memory + l->offset[once ? FOUND_A : FOUND_B];
    const bool surveyed = family->surveys && !arguments->order.zeros && p->k >= TB_SPLIT_SURVEY_LEAST &&
                          p->k < TB_SPLIT_SURVEY_MOST;
    if (!family->scales || (family->surveys && !surveyed))
        return;
    arguments->largest_a = (uint32_t *)(void *)of_a;
    arguments->largest_b = (uint32_t *)(void *)of_b;
    arguments->found_words_a = (int64_t)(found_bytes(family, rows_a) / sizeof(uint32_t));
    arguments->found_words_b = once ? 0 : (int64_t)(found_bytes(family, rows_b) / sizeof(uint32_t));
    if (!surveyed)
        return;
    arguments->sums_a = (uint64_t *)(void *)(arguments->largest_a + rows_a);
    arguments->sums_b = (uint64_t *)(void *)(arguments->largest_b + rows_b);
    arguments->surveyed_a = (uint32_t *)(void *)(arguments->sums_a + rows_a);
    arguments->surveyed_b = (uint32_t *)(void *)(arguments->sums_b + rows_b);
}

/* So many that blocks of a survey come in a few rounds, and take long enough for what each has to do at its end. */
static int64_t survey_stages(int64_t rows, int64_t stages)
{
    const int64_t pieces = rows / TB_SPLIT_BLOCK_ROWS * stages / SURVEY_BLOCKS;
    return tb_larger(SURVEY_STAGES_LEAST,
                     tb_smaller(pieces, SURVEY_STAGES_MOST) / SURVEY_STAGES_LEAST * SURVEY_STAGES_LEAST);
}

static tb_split_arguments arguments_of(const family *family, const layout *l, const tb_launcher *launcher,
                                       const tb_product *product, void *workspace)
{
    char *memory = workspace;
    const tb_masked_tiles tiles = pairs_of_tiles(product, l->schedule.tile_n);
    const bool split_once = is_split_once(product, l->schedule.tile_n);
    const int64_t rows_b = split_once ? 0 : l->panels_b * l->schedule.tile_n;
    const int64_t rows_to_read = launcher->same_a ? rows_b : rows_b + l->panels_a * TB_SPLIT_TILE_M;
    const int64_t block_stages = tb_split_block_stages(launcher, rows_to_read, l->stages);
    const int64_t split_blocks_a = tb_split_blocks(l->panels_a * TB_SPLIT_TILE_M, l->stages, block_stages);
    tb_split_arguments arguments = {
        .problem = tb_sgemm_of(product),
        .parts_a = memory + l->offset[PARTS_A],
        .parts_b = memory + l->offset[split_once ? PARTS_A : PARTS_B],
        .used_a = (uint8_t *)memory + l->offset[USED_A],
        .used_b = (uint8_t *)memory + l->offset[split_once ? USED_A : USED_B],
        .pace = (uint32_t *)(void *)(memory + l->offset[PACE]),
        .pace_words = (int64_t)(l->bytes[PACE] / sizeof(uint32_t)),
        .segments = (float *)(void *)(memory + l->offset[SEGMENTS]),
        .shares = (float *)(void *)(memory + l->offset[SHARES]),
        .findings = workspace,
        .stages = l->stages,
        .share_stages = l->schedule.share_stages,
        .shares_of_k = (int32_t)l->schedule.shares,
        .last_order = family->last_order,
        .split_blocks_a = split_blocks_a,
        .first_split_block = launcher->same_a ? split_blocks_a : 0,
        .turns_a = !launcher->same_a ? split_blocks_a
                   : family->surveys ? tb_smaller(split_blocks_a, TB_SPLIT_BLOCKS_AGAIN)
                                     : 0,
        .survey_stages = survey_stages(rows_to_read, l->stages),
        .block_stages = (int32_t)block_stages,
        .b_is_a = split_once,
        .panel_a = TB_SPLIT_TILE_M,
        .panel_b = l->schedule.tile_n,
        .panels_a = (int32_t)l->panels_a,
        .panels_b = (int32_t)l->panels_b,
        .tiles = (int32_t)tiles.count,
        .order = order_of(product, l->schedule.tile_n, launcher->target.multiprocessors),
        .masked = tiles,
        .masked_plainly = tb_split_plain_tiles(product),
    };
    set_found(family, l, memory, &arguments);
    return arguments;
}

static void prepare(const family *family, const tb_product *product, tb_target target, tb_schedule *schedule)
{
    const layout l = lay_out(family, product, target);
    schedule->clocks = clocks(counted_as(family, product), product, &l.schedule, target);
    schedule->clocks_of_a = split_clocks(family, product, rows_read(product, TB_A), target);
    schedule->workspace = l.workspace;
    TB_SET_DEAL(schedule, layout, l);
}

static tb_status launch(const family *family, const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const layout *l = TB_DEAL(schedule, layout);
    if (!is_small_enough(l))
        return TB_UNSUPPORTED;
    const tb_split_arguments arguments = arguments_of(family, l, launcher, product, workspace);
    TB_TRY(tb_launch_split_passes(launcher, kernel->entries, &arguments));
    if (l->blocks == 0) /* but another launch may count on what was made of A */
        return TB_OK;
    return launch_multiply(launcher, kernel->entries, family->row_bytes, l->blocks, &arguments);
}

/* The catalog's callbacks of a row. */
#define TB_SPLIT_CALLBACKS(family)                                                                           \
    void tb_##family##_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,         \
                               tb_schedule *schedule)                                                        \
    {                                                                                                        \
        (void)kernel;                                                                                        \
        prepare(&family, product, target, schedule);                                                         \
    }                                                                                                        \
    tb_status tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                       \
                                 const tb_product *product, const tb_schedule *schedule, void *workspace)    \
    {                                                                                                        \
        return launch(&family, launcher, kernel, product, schedule, workspace);                              \
    }

TB_SPLIT_CALLBACKS(bf16x6)
TB_SPLIT_CALLBACKS(bf16x9)
TB_SPLIT_CALLBACKS(fp16x3)
TB_SPLIT_CALLBACKS(split)
