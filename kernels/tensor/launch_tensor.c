#include "kernels/tensor/launch_tensor.h"

#include "kernels/launch.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/tensor/split.h"

/* What computes C when the pre-pass finds Inf, NaN or exponents that BF16 parts cannot hold. */
#define FALLBACK_KERNEL "sgemm_simt_128x128"

/* Forecasts, in clocks of a multiprocessor at 1.76 GHz, of six products of BF16 parts: measured on an H200 from n = 256
 * to 16384. A stage of either tile, a tile's beginning and end, the three launches beside the main one with the main
 * one's start, and the pre-pass, which reads 4 bytes of an element and writes 6 at 3.8 TB/s. Of a stage, MULTIPLY_CLOCKS
 * a product and column of the tile are the tensor cores' own; the rest is once a stage. */
#define WIDE_STAGE_CLOCKS   2580.0
#define NARROW_STAGE_CLOCKS 1780.0
#define MULTIPLY_CLOCKS     2.0
#define TILE_CLOCKS         5000.0
#define LAUNCHES_CLOCKS     23000.0
#define SPLIT_BYTES_A_CLOCK 16.4

/* At 16384, where the power limit rules, the wide tile is 10% faster per column; it is not left for less. */
#define NARROW_ADVANTAGE 0.97

#define SPLIT_THREADS (TB_SPLIT_BLOCK_ROWS * TB_SPLIT_STAGE_K / 8)

/* What makes a row of the catalog. */
typedef struct family {
    int parts, products, last_order;
    double launches_clocks, split_bytes; /* that the passes before the product read and write, an element */
    bool scales;
} family;

static const family bf16x6 = {TB_SPLIT_BF16_PARTS, 6, 2, LAUNCHES_CLOCKS, 10, false};
static const family bf16x9 = {TB_SPLIT_BF16_PARTS, 9, 4, LAUNCHES_CLOCKS, 10, false};
/* One more launch, and one more reading. */
static const family fp16x3 = {TB_SPLIT_FP16_PARTS, 3, 1, LAUNCHES_CLOCKS * 4 / 3, 12, true};

/* Where everything lies, and how the work is cut. */
typedef struct layout {
    int tile_n;
    int64_t stages, panels_a, panels_b, blocks;
    size_t offset_largest, offset_used, offset_a, offset_b, offset_segments,
        offset_fallback; /* within the workspace */
} layout;

static int64_t even(int64_t panels)
{
    return tb_pieces(panels, TB_SPLIT_CLUSTER_BLOCKS) * TB_SPLIT_CLUSTER_BLOCKS;
}

/* Tiles that the busiest multiprocessor works through. */
static int64_t count_turns(const tb_problem *problem, int tile_n, int multiprocessors)
{
    int64_t tiles = even(tb_pieces(problem->m, TB_SPLIT_TILE_M)) * tb_pieces(problem->n, tile_n);
    return tb_pieces(tiles, multiprocessors / TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_CLUSTER_BLOCKS);
}

static double stage_clocks(const family *family, int tile_n)
{
    double six = tile_n == TB_SPLIT_WIDE ? WIDE_STAGE_CLOCKS : NARROW_STAGE_CLOCKS;
    return six + (family->products - 6) * MULTIPLY_CLOCKS * tile_n;
}

/* The narrow tile takes more time for the same work; it gains where the last wave has few wide ones. */
static int choose_width(const family *family, const tb_problem *problem, int multiprocessors)
{
    double narrow = (double)count_turns(problem, TB_SPLIT_NARROW, multiprocessors) *
                    stage_clocks(family, TB_SPLIT_NARROW);
    double wide =
        (double)count_turns(problem, TB_SPLIT_WIDE, multiprocessors) * stage_clocks(family, TB_SPLIT_WIDE);
    return narrow < NARROW_ADVANTAGE * wide ? TB_SPLIT_NARROW : TB_SPLIT_WIDE;
}

static double clocks(const family *family, const tb_problem *problem, int multiprocessors)
{
    const int tile_n = choose_width(family, problem, multiprocessors);
    double stages = (double)tb_pieces(problem->k, TB_SPLIT_STAGE_K);
    double elements = (double)(problem->m + problem->n) * (double)problem->k;
    return family->launches_clocks + elements * family->split_bytes / SPLIT_BYTES_A_CLOCK / multiprocessors +
           (double)count_turns(problem, tile_n, multiprocessors) *
               (TILE_CLOCKS + stages * stage_clocks(family, tile_n));
}

/* All of A's panels, then all of B's. */
static int64_t outer_indices(const layout *l)
{
    return l->panels_a * TB_SPLIT_TILE_M + l->panels_b * l->tile_n;
}

static layout lay_out(const family *family, const tb_launcher *launcher, const tb_problem *problem)
{
    layout l;
    l.tile_n = choose_width(family, problem, launcher->multiprocessors);
    l.stages = tb_pieces(problem->k, TB_SPLIT_STAGE_K);
    l.panels_a = even(tb_pieces(problem->m, TB_SPLIT_TILE_M));
    l.panels_b = tb_pieces(problem->n, l.tile_n);
    l.offset_largest = tb_split_align(sizeof(tb_split_findings));
    l.offset_used = l.offset_largest;
    if (family->scales)
        l.offset_used += (size_t)outer_indices(&l) * sizeof(uint32_t);
    l.offset_a = tb_split_align(l.offset_used + (size_t)(outer_indices(&l) / TB_SPLIT_BLOCK_ROWS * l.stages));
    l.offset_b =
        l.offset_a + (size_t)(l.panels_a * l.stages * TB_SPLIT_CHUNK_BYTES(family->parts, TB_SPLIT_TILE_M));
    l.offset_segments =
        l.offset_b + (size_t)(l.panels_b * l.stages * TB_SPLIT_CHUNK_BYTES(family->parts, l.tile_n));
    l.blocks = launcher->multiprocessors / TB_SPLIT_CLUSTER_BLOCKS * TB_SPLIT_CLUSTER_BLOCKS;
    if (l.panels_a * l.panels_b < l.blocks)
        l.blocks = l.panels_a * l.panels_b;
    l.offset_fallback = l.offset_segments;
    if (l.stages > TB_SPLIT_SEGMENT_STAGES)
        l.offset_fallback += (size_t)(l.blocks * TB_SPLIT_TILE_M * l.tile_n) * sizeof(float);
    return l;
}

size_t tb_split_fallback_bytes(const tb_launcher *launcher, const tb_problem *problem)
{
    const tb_kernel *kernel = tb_find_kernel(FALLBACK_KERNEL);
    return kernel && kernel->workspace ? kernel->workspace(launcher, kernel, problem) : 0;
}

static size_t workspace_bytes(const family *family, const tb_launcher *launcher, const tb_problem *problem)
{
    return lay_out(family, launcher, problem).offset_fallback + tb_split_fallback_bytes(launcher, problem);
}

tb_status tb_launch_split(const tb_launcher *launcher, tb_entry *entries, const tb_split_arguments *arguments)
{
    int64_t rows_a = (int64_t)arguments->panels_a * arguments->panel_a;
    int64_t rows_b = (int64_t)arguments->panels_b * arguments->panel_b;
    int64_t blocks = tb_split_blocks(rows_a + rows_b, arguments->stages);
    const tb_kernel *fallback = tb_find_kernel(FALLBACK_KERNEL);
    if (!fallback)
        return TB_UNSUPPORTED;
    TB_TRY(tb_prepare_simt(launcher, fallback, &arguments->problem));
    int64_t clearing = arguments->largest_a ? tb_pieces(rows_a + rows_b, 4 * TB_SPLIT_BEGIN_THREADS) : 1;
    TB_TRY(
        launcher->launch(launcher, &entries[TB_SPLIT_BEGIN], clearing, TB_SPLIT_BEGIN_THREADS, 0, arguments));
    if (blocks == 0) /* k is 0 */
        return TB_OK;
    if (arguments->largest_a)
        TB_TRY(
            launcher->launch(launcher, &entries[TB_SPLIT_FIND_LARGEST], blocks, SPLIT_THREADS, 0, arguments));
    return launcher->launch(launcher, &entries[TB_SPLIT_SPLIT], blocks, SPLIT_THREADS, 0, arguments);
}

tb_status tb_launch_split_fallback(const tb_launcher *launcher, const tb_split_arguments *arguments,
                                   void *workspace)
{
    const tb_kernel *kernel = tb_find_kernel(FALLBACK_KERNEL);
    return kernel ? tb_launch_simt_if(launcher, kernel, &arguments->problem, workspace,
                                      &arguments->findings->declined)
                  : TB_UNSUPPORTED;
}

static tb_status launch_multiply(const tb_launcher *launcher, tb_entry *entries, int parts, int64_t blocks,
                                 const tb_split_arguments *arguments)
{
    if (arguments->panel_b == TB_SPLIT_WIDE)
        return launcher->launch(launcher, &entries[TB_SPLIT_MULTIPLY_WIDE], blocks, TB_SPLIT_THREADS,
                                TB_SPLIT_RING_BYTES(parts, TB_SPLIT_WIDE), arguments);
    return launcher->launch(launcher, &entries[TB_SPLIT_MULTIPLY_NARROW], blocks, TB_SPLIT_THREADS,
                            TB_SPLIT_RING_BYTES(parts, TB_SPLIT_NARROW), arguments);
}

static tb_status launch(const family *family, const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_problem *problem, void *workspace)
{
    const layout l = lay_out(family, launcher, problem);
    char *memory = workspace;
    if (l.stages > INT32_MAX || l.panels_a * TB_SPLIT_TILE_M > TB_BLOCKS_MAXIMUM ||
        l.panels_b * l.tile_n > TB_BLOCKS_MAXIMUM || l.panels_a > TB_BLOCKS_MAXIMUM / l.panels_b ||
        tb_split_blocks(outer_indices(&l), l.stages) > TB_BLOCKS_MAXIMUM)
        return TB_UNSUPPORTED;
    uint32_t *largest = family->scales ? (uint32_t *)(void *)(memory + l.offset_largest) : NULL;
    uint8_t *used = (uint8_t *)memory + l.offset_used;
    const tb_split_arguments arguments = {
        .problem = *problem,
        .parts_a = memory + l.offset_a,
        .parts_b = memory + l.offset_b,
        .used_a = used,
        .used_b = used + l.panels_a * (TB_SPLIT_TILE_M / TB_SPLIT_BLOCK_ROWS) * l.stages,
        .largest_a = largest,
        .largest_b = largest ? largest + l.panels_a * TB_SPLIT_TILE_M : NULL,
        .segments = (float *)(void *)(memory + l.offset_segments),
        .findings = workspace,
        .stages = l.stages,
        .last_order = family->last_order,
        .split_blocks_a = tb_split_blocks(l.panels_a * TB_SPLIT_TILE_M, l.stages),
        .panel_a = TB_SPLIT_TILE_M,
        .panel_b = l.tile_n,
        .panels_a = (int32_t)l.panels_a,
        .panels_b = (int32_t)l.panels_b,
    };
    TB_TRY(tb_launch_split(launcher, kernel->entries, &arguments));
    TB_TRY(launch_multiply(launcher, kernel->entries, family->parts, l.blocks, &arguments));
    return tb_launch_split_fallback(launcher, &arguments, memory + l.offset_fallback);
}

/* The catalog's callbacks of a row. */
#define TB_SPLIT_CALLBACKS(family)                                                                           \
    size_t tb_##family##_workspace(const tb_launcher *launcher, const tb_kernel *kernel,                     \
                                   const tb_problem *problem)                                                \
    {                                                                                                        \
        (void)kernel;                                                                                        \
        return workspace_bytes(&family, launcher, problem);                                                  \
    }                                                                                                        \
    double tb_##family##_clocks(const tb_kernel *kernel, const tb_problem *problem, int multiprocessors)     \
    {                                                                                                        \
        (void)kernel;                                                                                        \
        return clocks(&family, problem, multiprocessors);                                                    \
    }                                                                                                        \
    tb_status tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                       \
                                 const tb_problem *problem, void *workspace)                                 \
    {                                                                                                        \
        return launch(&family, launcher, kernel, problem, workspace);                                        \
    }

TB_SPLIT_CALLBACKS(bf16x6)
TB_SPLIT_CALLBACKS(bf16x9)
TB_SPLIT_CALLBACKS(fp16x3)
