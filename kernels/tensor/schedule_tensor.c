/* How products are dealt to the launches that multiply parts: what a way to cut them is forecast to take, the one that is
 * forecast to take least, and where in the workspace everything lies.
 */
#include "kernels/tensor/schedule_tensor.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
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

/* Bytes of parts: fewer stay in L2 whoever reads them when. */
#define PACED_BYTES ((size_t)48 << 20)

const tb_split_family tb_split_bf16x6 = {TB_SPLIT_BF16_ROW_BYTES, 2, 6, LAUNCHES_CLOCKS, 10, false, false};
const tb_split_family tb_split_bf16x9 = {TB_SPLIT_BF16_ROW_BYTES, 4, 9, LAUNCHES_CLOCKS, 10, false, false};
/* One more launch, and one more reading. */
const tb_split_family tb_split_fp16x3 = {
    TB_SPLIT_FP16_ROW_BYTES, 1, 3, LAUNCHES_CLOCKS * 1.6, 12, true, false};
/* Forecast as if it were FP16 parts with FP8. Fitted to what it takes beside bf16x6 on an H200, in a row, at n = 512 to 4096
 * and with panels of 256 to 768 columns: a survey ends with several trips to memory, one after the other, and of what the
 * passes read and write, 15 bytes, they move less at a time. */
const tb_split_family tb_split_mixed = {
    TB_SPLIT_MIXED_ROW_BYTES, 2, 4.8, LAUNCHES_CLOCKS * 3.2, 20, true, true};

static int64_t even(int64_t panels)
{
    return tb_ceil_div(panels, TB_SPLIT_CLUSTER_BLOCKS) * TB_SPLIT_CLUSTER_BLOCKS;
}

/* The clusters that run at a time, in blocks. That there is one at all is taken for granted: no chip with clusters has a single
 * multiprocessor. */
static int64_t whole_clusters(int multiprocessors)
{
    return tb_larger(1, multiprocessors / TB_SPLIT_CLUSTER_BLOCKS) * TB_SPLIT_CLUSTER_BLOCKS;
}

tb_masked_tiles tb_split_pairs_of_tiles(const tb_product *product, int tile_n)
{
    return tb_masked_tiles_of(product, TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_TILE_M, tile_n, TB_SPLIT_GROUP);
}

/* Those beside a touching one among them. */
static int64_t tiles_of(const tb_product *product, int tile_n)
{
    return TB_SPLIT_CLUSTER_BLOCKS * tb_split_pairs_of_tiles(product, tile_n).count;
}

static double stage_clocks(const tb_split_family *family, int tile_n)
{
    double six = tile_n == TB_SPLIT_WIDE ? WIDE_STAGE_CLOCKS : NARROW_STAGE_CLOCKS;
    return six + (family->products - 6) * MULTIPLY_CLOCKS * tile_n;
}

tb_tile_order tb_split_order_of(const tb_product *product, int tile_n, int multiprocessors)
{
    return tb_order_tiles(tb_zeros_of(product),
                          tb_ceil_div(product->m, TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_TILE_M),
                          tb_ceil_div(product->n, tile_n), TB_SPLIT_GROUP,
                          whole_clusters(multiprocessors) / TB_SPLIT_CLUSTER_BLOCKS);
}

/* Cut so, the busiest multiprocessor takes so long for its works: a tile and a share of k each. */
static tb_split_schedule cut(const tb_split_family *family, const tb_product *product, int multiprocessors,
                             int tile_n, int64_t shares)
{
    int64_t stages = tb_ceil_div(product->k, TB_SPLIT_STAGE_K);
    int64_t tiles = tiles_of(product, tile_n);
    tb_split_schedule s = {.tile_n = tile_n, .share_stages = tb_ceil_div(stages, shares)};
    s.shares = s.share_stages > 0 ? tb_ceil_div(stages, s.share_stages) : 1;
    s.clocks = (double)tb_ceil_div(tiles * s.shares, whole_clusters(multiprocessors)) *
               (TILE_CLOCKS + (double)s.share_stages * stage_clocks(family, tile_n));
    const tb_tile_order order = tb_split_order_of(product, tile_n, multiprocessors);
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
static tb_split_schedule best_of_width(const tb_split_family *family, const tb_product *product,
                                       int multiprocessors, int tile_n)
{
    tb_split_schedule best = cut(family, product, multiprocessors, tile_n, 1);
    int64_t tiles = tiles_of(product, tile_n);
    int64_t most = SHARED_WAVES_MOST * whole_clusters(multiprocessors) / (tiles > 0 ? tiles : 1);
    for (int64_t shares = 2; shares <= most && best.share_stages >= SHARE_STAGES_LEAST; shares++) {
        tb_split_schedule s = cut(family, product, multiprocessors, tile_n, shares);
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

/* Clocks of the passes before the product, over so many outer indices. */
static double split_clocks(const tb_split_family *family, const tb_product *product, double indices,
                           tb_target target)
{
    const double elements = indices * (double)product->k;
    return elements * family->split_bytes / (SPLIT_BYTES_A_CLOCK * tb_memory_ratio(target)) /
           target.multiprocessors;
}

bool tb_is_split_once(const tb_product *product, int tile_n)
{
    return tile_n == TB_SPLIT_TILE_M && tb_has_one_operand(product) && !product->expanded[TB_A].embedded &&
           !product->expanded[TB_B].embedded && !tb_zeros_of(product);
}

/* Rows of either operand that the passes split and the product reads. */
static double rows_split(const tb_product *product, int tile_n)
{
    return rows_read(product, TB_A) + (tb_is_split_once(product, tile_n) ? 0 : rows_read(product, TB_B));
}

/* The narrow tile takes more time for the same work; it gains where the last wave has few wide ones, or the passes have less to
 * do. */
static tb_split_schedule schedule_of(const tb_split_family *family, const tb_product *product,
                                     tb_target target)
{
    tb_split_schedule narrow = best_of_width(family, product, target.multiprocessors, TB_SPLIT_NARROW);
    tb_split_schedule wide = best_of_width(family, product, target.multiprocessors, TB_SPLIT_WIDE);
    const double spared = rows_split(product, TB_SPLIT_WIDE) - rows_split(product, TB_SPLIT_NARROW);
    return narrow.clocks - split_clocks(family, product, spared, target) < NARROW_ADVANTAGE * wide.clocks
               ? narrow
               : wide;
}

/* Reading all parts once: where C has a short side, it takes as long as multiplying them. */
static double reading_clocks(const tb_split_family *family, const tb_product *product, double rows,
                             tb_target target)
{
    const double bytes = rows * (double)tb_ceil_div(product->k, TB_SPLIT_STAGE_K) * family->row_bytes;
    return bytes / (TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

/* Reading and multiplying overlap; where both take long, less than wholly. */
static double clocks(const tb_split_family *family, const tb_product *product,
                     const tb_split_schedule *schedule, tb_target target)
{
    const double multiplying = schedule->clocks;
    const double rows = rows_split(product, schedule->tile_n);
    const double reading = reading_clocks(family, product, rows, target);
    return family->launches_clocks + split_clocks(family, product, rows, target) +
           pow(pow(multiplying, OVERLAP) + pow(reading, OVERLAP), 1 / OVERLAP);
}

size_t tb_split_found_bytes(const tb_split_family *family, int64_t indices)
{
    const size_t surveyed =
        sizeof(uint64_t) * (size_t)indices + sizeof(uint32_t) * (size_t)indices / TB_SPLIT_BLOCK_ROWS;
    return (family->scales ? (size_t)indices * sizeof(uint32_t) : 0) + (family->surveys ? surveyed : 0);
}

/* Clusters keep pace where the parts do not fit into L2 by far. */
static int64_t pace_words(const tb_split_layout *l, int64_t works)
{
    if (works == 0 || l->schedule.shares > 1 ||
        l->bytes[TB_SPLIT_PARTS_A] + l->bytes[TB_SPLIT_PARTS_B] < PACED_BYTES)
        return 0;
    return tb_ceil_div(works, l->blocks) * tb_ceil_div(l->stages, TB_SPLIT_PACE_STAGES);
}

/* Whose clocks a product takes. Of a triangle some rows have so few nonzero elements that no survey could find for parts of
 * FP8. */
static const tb_split_family *counted_as(const tb_split_family *own, const tb_product *product)
{
    return own->surveys && tb_zeros_of(product) ? &tb_split_bf16x6 : own;
}

static tb_split_layout lay_out(const tb_split_family *family, const tb_product *product, tb_target target)
{
    tb_split_layout l = {.schedule = schedule_of(counted_as(family, product), product, target)};
    l.stages = tb_ceil_div(product->k, TB_SPLIT_STAGE_K);
    l.panels_a = even(tb_ceil_div(product->m, TB_SPLIT_TILE_M));
    l.panels_b = tb_ceil_div(product->n, l.schedule.tile_n);
    const int64_t rows_a = l.panels_a * TB_SPLIT_TILE_M, rows_b = l.panels_b * l.schedule.tile_n;
    const int64_t works = tiles_of(product, l.schedule.tile_n) * l.schedule.shares;
    const size_t tile_bytes = TB_SPLIT_TILE_M * (size_t)l.schedule.tile_n * sizeof(float);
    l.blocks = whole_clusters(target.multiprocessors);
    if (works < l.blocks)
        l.blocks = works;
    l.bytes[TB_SPLIT_FOUND_A] = tb_split_found_bytes(family, rows_a);
    l.bytes[TB_SPLIT_USED_A] = (size_t)(rows_a / TB_SPLIT_BLOCK_ROWS * l.stages);
    l.bytes[TB_SPLIT_PARTS_A] = (size_t)(rows_a * l.stages * family->row_bytes);
    l.bytes[TB_SPLIT_FOUND_B] = tb_split_found_bytes(family, rows_b);
    l.bytes[TB_SPLIT_USED_B] = (size_t)(rows_b / TB_SPLIT_BLOCK_ROWS * l.stages);
    l.bytes[TB_SPLIT_PARTS_B] = (size_t)(rows_b * l.stages * family->row_bytes);
    l.bytes[TB_SPLIT_PACE] = tb_zeros_of(product) ? 0 : sizeof(uint32_t) * (size_t)pace_words(&l, works);
    l.bytes[TB_SPLIT_SEGMENTS] =
        l.schedule.share_stages > TB_SPLIT_SEGMENT_STAGES ? (size_t)l.blocks * tile_bytes : 0;
    l.bytes[TB_SPLIT_SHARES] = l.schedule.shares > 1 ? (size_t)works * tile_bytes : 0;
    size_t offset = sizeof(tb_split_findings);
    for (int i = 0; i < TB_SPLIT_PLACES; i++) {
        l.offset[i] = tb_split_align(offset);
        offset = l.offset[i] + l.bytes[i];
    }
    l.workspace = offset;
    return l;
}

static void prepare(const tb_split_family *family, const tb_product *product, tb_target target,
                    tb_schedule *schedule)
{
    const tb_split_layout l = lay_out(family, product, target);
    schedule->clocks = clocks(counted_as(family, product), product, &l.schedule, target);
    schedule->clocks_of_a = split_clocks(family, product, rows_read(product, TB_A), target);
    schedule->workspace = l.workspace;
    TB_SET_DEAL(schedule, tb_split_layout, l);
}

/* The catalog's callbacks of a row. */
#define CALLBACK(row, family)                                                                                \
    void tb_##row##_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,            \
                            tb_schedule *schedule)                                                           \
    {                                                                                                        \
        (void)kernel;                                                                                        \
        prepare(&family, product, target, schedule);                                                         \
    }
CALLBACK(bf16x6, tb_split_bf16x6)
CALLBACK(bf16x9, tb_split_bf16x9)
CALLBACK(fp16x3, tb_split_fp16x3)
CALLBACK(split, tb_split_mixed)
