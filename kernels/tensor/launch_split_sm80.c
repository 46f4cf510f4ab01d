#include "kernels/tensor/launch_split_sm80.h"

#include "kernels/mask.h"
#include "kernels/tensor/launch_tensor.h"

/* Forecasts, in clocks in which a multiprocessor does 128 FP32 multiply-adds: two of an A100's own. Nothing here has been
 * measured. A stage is what an A100's tensor cores, 1024 multiply-adds a clock of its own, take for six products of a
 * tile, at 85% of their rate; the pre-pass moves 10 bytes an element at 85% of memory's rate: where that is unknown, of an
 * A100's 1555 GB/s, 108 multiprocessors at 1.41 GHz. The rest is half of an H200's. */
#define PRODUCTS             6.0
#define TENSOR_FMA_A_CLOCK   (0.85 * 2 * 1024)
#define TILE_CLOCKS          2500.0
#define LAUNCHES_CLOCKS      3600.0
#define SPLIT_BYTES          10.0
#define MEMORY_SHARE         0.85
#define MEMORY_BYTES_A_CLOCK 20.4

#define TILE TB_SPLIT_SM80_TILE

/* Where everything lies, and how the work is cut. */
typedef struct layout {
    int64_t stages, panels_a, panels_b, blocks;
    tb_masked_tiles tiles;
    size_t offset_a, offset_b, offset_segments, workspace; /* offsets within that */
} layout;

static layout lay_out(const tb_product *product, tb_target target)
{
    layout l;
    l.stages = tb_ceil_div(product->k, TB_SPLIT_STAGE_K);
    l.panels_a = tb_ceil_div(product->m, TILE);
    l.panels_b = tb_ceil_div(product->n, TILE);
    l.offset_a = tb_split_align(sizeof(tb_split_findings));
    l.offset_b = l.offset_a + (size_t)(l.panels_a * l.stages * TB_SPLIT_SM80_CHUNK_BYTES);
    l.offset_segments = l.offset_b + (size_t)(l.panels_b * l.stages * TB_SPLIT_SM80_CHUNK_BYTES);
    l.tiles = tb_masked_tiles_of(product, TILE, TILE, TB_SPLIT_SM80_GROUP);
    l.blocks = tb_smaller(l.tiles.count, target.multiprocessors);
    l.workspace = l.offset_segments;
    if (l.stages > TB_SPLIT_SEGMENT_STAGES)
        l.workspace += (size_t)(l.blocks * TILE * TILE) * sizeof(float);
    return l;
}

static double split_clocks(double elements, tb_target target)
{
    const double rate = target.memory_bytes_a_clock > 0 ? target.memory_bytes_a_clock : MEMORY_BYTES_A_CLOCK;
    return elements * SPLIT_BYTES / (MEMORY_SHARE * rate) / target.multiprocessors;
}

static double clocks(const layout *l, const tb_product *product, tb_target target)
{
    const double stage_clocks = PRODUCTS * TILE * TILE * TB_SPLIT_STAGE_K / TENSOR_FMA_A_CLOCK;
    const double elements = (double)(product->m + product->n) * (double)product->k;
    return LAUNCHES_CLOCKS + split_clocks(elements, target) +
           (double)tb_ceil_div(l->tiles.count, target.multiprocessors) *
               (TILE_CLOCKS + (double)l->stages * stage_clocks);
}

void tb_split_sm80_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                           tb_schedule *schedule)
{
    (void)kernel;
    const layout l = lay_out(product, target);
    schedule->clocks = clocks(&l, product, target);
    schedule->clocks_of_a = split_clocks((double)product->m * (double)product->k, target);
    schedule->workspace = l.workspace;
    TB_SET_DEAL(schedule, layout, l);
}

tb_status tb_launch_split_sm80(const tb_launcher *launcher, const tb_kernel *kernel,
                               const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const layout l = *TB_DEAL(schedule, layout);
    const int64_t rows_a = l.panels_a * TILE, rows_b = l.panels_b * TILE;
    char *memory = workspace;
    if (l.stages > INT32_MAX || rows_a > TB_BLOCKS_MAXIMUM || rows_b > TB_BLOCKS_MAXIMUM ||
        l.panels_a > TB_BLOCKS_MAXIMUM / l.panels_b ||
        tb_split_blocks(rows_a + rows_b, l.stages, 1) > TB_BLOCKS_MAXIMUM)
        return TB_UNSUPPORTED;
    const int64_t block_stages =
        tb_split_block_stages(launcher, launcher->same_a ? rows_b : rows_a + rows_b, l.stages);
    const int64_t split_blocks_a = tb_split_blocks(rows_a, l.stages, block_stages);
    const tb_split_arguments arguments = {
        .problem = tb_sgemm_of(product),
        .parts_a = memory + l.offset_a,
        .parts_b = memory + l.offset_b,
        .segments = (float *)(void *)(memory + l.offset_segments),
        .findings = workspace,
        .stages = l.stages,
        .last_order = 2,
        .block_stages = (int32_t)block_stages,
        .split_blocks_a = split_blocks_a,
        .first_split_block = launcher->same_a ? split_blocks_a : 0,
        .turns_a = launcher->same_a ? 0 : split_blocks_a,
        .panel_a = TILE,
        .panel_b = TILE,
        .panels_a = (int32_t)l.panels_a,
        .panels_b = (int32_t)l.panels_b,
        .tiles = (int32_t)l.tiles.count,
        .masked = l.tiles,
        .masked_plainly = tb_split_plain_tiles(product),
    };
    TB_TRY(tb_launch_split_passes(launcher, kernel->entries, &arguments));
    if (l.blocks == 0) /* but another launch may count on what was made of A */
        return TB_OK;
    return launcher->launch(launcher, &kernel->entries[TB_SPLIT_SM80_MULTIPLY], l.blocks,
                            TB_SPLIT_SM80_THREADS, TB_SPLIT_SM80_RING_BYTES, &arguments);
}
