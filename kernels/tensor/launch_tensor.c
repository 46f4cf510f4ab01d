/* Launching the tensor-core families as their schedules say (schedule_tensor.c): the passes that split operands, the product, and
 * what adds up its shares of k.
 */
#include "kernels/tensor/launch_tensor.h"

#include "kernels/launch.h"
#include "words/integers.h"

/* Blocks of a survey, where there are enough stages; and stages of a block, multiples of what it reads at a time where an operand
 * runs along k. */
#define SURVEY_BLOCKS       1500
#define SURVEY_STAGES_LEAST 4
#define SURVEY_STAGES_MOST  32

#define SPLIT_THREADS (TB_SPLIT_BLOCK_ROWS * TB_SPLIT_STAGE_K / 8)

/* How many stages a block splits: so few that there are blocks for all the room there is, as a block waits for its stages one
 * after the other. */
int64_t tb_split_block_stages(const tb_launcher *launcher, int64_t rows, int64_t stages)
{
    int64_t each = TB_SPLIT_BLOCK_STAGES_MOST;
    while (each > 1 &&
           tb_split_blocks(rows, stages, each) < TB_SPLIT_BLOCKS * launcher->target.multiprocessors)
        each /= 2;
    return each;
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

static bool is_small_enough(const tb_split_layout *l)
{
    return l->stages <= INT32_MAX && l->panels_a * TB_SPLIT_TILE_M <= TB_BLOCKS_MAXIMUM &&
           l->panels_b * l->schedule.tile_n <= TB_BLOCKS_MAXIMUM &&
           l->panels_a <= TB_BLOCKS_MAXIMUM / l->panels_b &&
           tb_split_blocks(l->panels_a * TB_SPLIT_TILE_M + l->panels_b * l->schedule.tile_n, l->stages, 1) <=
               TB_BLOCKS_MAXIMUM;
}

/* Gives a place to what is found out by outer index: the largest magnitudes, the sums of a survey, and its finished blocks. */
static void set_found(const tb_split_family *family, const tb_split_layout *l, char *memory,
                      tb_split_arguments *arguments)
{
    const tb_sgemm *p = &arguments->problem;
    const bool once = arguments->b_is_a;
    const int64_t rows_a = l->panels_a * TB_SPLIT_TILE_M,
                  rows_b = once ? rows_a : l->panels_b * l->schedule.tile_n;
    char *of_a = memory + l->offset[TB_SPLIT_FOUND_A],
         *of_b = memory + l->offset[once ? TB_SPLIT_FOUND_A : TB_SPLIT_FOUND_B];
    const bool surveyed = family->surveys && !arguments->order.zeros && p->k >= TB_SPLIT_SURVEY_LEAST &&
                          p->k < TB_SPLIT_SURVEY_MOST;
    if (!family->scales || (family->surveys && !surveyed))
        return;
    arguments->largest_a = (uint32_t *)(void *)of_a;
    arguments->largest_b = (uint32_t *)(void *)of_b;
    arguments->found_words_a = (int64_t)(tb_split_found_bytes(family, rows_a) / sizeof(uint32_t));
    arguments->found_words_b = once ? 0 : (int64_t)(tb_split_found_bytes(family, rows_b) / sizeof(uint32_t));
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

static tb_split_arguments arguments_of(const tb_split_family *family, const tb_split_layout *l,
                                       const tb_launcher *launcher, const tb_product *product,
                                       void *workspace)
{
    char *memory = workspace;
    const tb_masked_tiles tiles = tb_split_pairs_of_tiles(product, l->schedule.tile_n);
    const bool split_once = tb_is_split_once(product, l->schedule.tile_n);
    const int64_t rows_b = split_once ? 0 : l->panels_b * l->schedule.tile_n;
    const int64_t rows_to_read = launcher->same_a ? rows_b : rows_b + l->panels_a * TB_SPLIT_TILE_M;
    const int64_t block_stages = tb_split_block_stages(launcher, rows_to_read, l->stages);
    const int64_t split_blocks_a = tb_split_blocks(l->panels_a * TB_SPLIT_TILE_M, l->stages, block_stages);
    tb_split_arguments arguments = {
        .problem = tb_sgemm_of(product),
        .parts_a = memory + l->offset[TB_SPLIT_PARTS_A],
        .parts_b = memory + l->offset[split_once ? TB_SPLIT_PARTS_A : TB_SPLIT_PARTS_B],
        .used_a = (uint8_t *)memory + l->offset[TB_SPLIT_USED_A],
        .used_b = (uint8_t *)memory + l->offset[split_once ? TB_SPLIT_USED_A : TB_SPLIT_USED_B],
        .pace = (uint32_t *)(void *)(memory + l->offset[TB_SPLIT_PACE]),
        .pace_words = (int64_t)(l->bytes[TB_SPLIT_PACE] / sizeof(uint32_t)),
        .segments = (float *)(void *)(memory + l->offset[TB_SPLIT_SEGMENTS]),
        .shares = (float *)(void *)(memory + l->offset[TB_SPLIT_SHARES]),
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
        .order = tb_split_order_of(product, l->schedule.tile_n, launcher->target.multiprocessors),
        .masked = tiles,
        .masked_plainly = tb_split_plain_tiles(product),
    };
    set_found(family, l, memory, &arguments);
    return arguments;
}

static tb_status launch(const tb_split_family *family, const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const tb_split_layout *l = TB_DEAL(schedule, tb_split_layout);
    if (!is_small_enough(l))
        return TB_UNSUPPORTED;
    const tb_split_arguments arguments = arguments_of(family, l, launcher, product, workspace);
    TB_TRY(tb_launch_split_passes(launcher, kernel->entries, &arguments));
    if (l->blocks == 0) /* but another launch may count on what was made of A */
        return TB_OK;
    return launch_multiply(launcher, kernel->entries, family->row_bytes, l->blocks, &arguments);
}

/* The catalog's callbacks of a row. */
#define CALLBACK(row, family)                                                                                \
    tb_status tb_launch_##row(const tb_launcher *launcher, const tb_kernel *kernel,                          \
                              const tb_product *product, const tb_schedule *schedule, void *workspace)       \
    {                                                                                                        \
        return launch(&family, launcher, kernel, product, schedule, workspace);                              \
    }
CALLBACK(bf16x6, tb_split_bf16x6)
CALLBACK(bf16x9, tb_split_bf16x9)
CALLBACK(fp16x3, tb_split_fp16x3)
CALLBACK(split, tb_split_mixed)
