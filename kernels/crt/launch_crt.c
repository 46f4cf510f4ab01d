/* Launching dgemm_crt: how many moduli are worth it, what that is forecast to take, and its launches.
 *
 * Residues take a byte for every modulus and element of A, B and C. Where that is more than a family allows, C is computed a
 * rectangle at a time; the survey is of all of A and B.
 */
#include "kernels/catalog.h"
#include "kernels/crt/crt.h"
#include "kernels/forecast.h"
#include "kernels/forwarder.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/launch.h"
#include "words/integers.h"

#include <math.h>

/* What the two rows differ in. */
typedef struct family {
    int32_t tile_n;
    int32_t
        cluster; /* tiles one above the other that blocks take together, one after the other; 1: a block for each tile and modulus */
    int threads, shared_bytes;
    double (*stage_clocks)(tb_target target); /* of a tile, and one modulus */
    double round_clocks;                      /* to begin a tile, and to store its residues */
    size_t workspace_most;                    /* bytes of residues */
} family;

/* In clocks of a multiprocessor. By an H100; see docs/lab/crt.md. */
static double wgmma_stage_clocks(tb_target target)
{
    (void)target;
    return 1090;
}

/* INT8 multiply-adds a clock by data sheets: 624 TOPS of an A100, 661 of an RTX 4090, 250 of an A10; of which EFFICIENCY is reached. A
 * forecast's clock does 128 multiply-adds of FP32 (tb_share_of_lanes). */
static double mma_stage_clocks(tb_target target)
{
    const double EFFICIENCY = 0.75, volume = TB_CRT_TILE_M * TB_CRT_SM80_TILE_N * TB_CRT_STAGE_K;
    const bool is_large = target.architecture % 10 == 0 && target.architecture < 120;
    return volume / (is_large ? 2048 : 1024) / EFFICIENCY * tb_share_of_lanes(target.architecture);
}

/* An eighth of the memory that chips of 9.0 have at least, 80 GB; and of 16 GB. */
static const family sm90 = {TB_CRT_SM90_TILE_N,     TB_CRT_SM90_CLUSTER, TB_CRT_SM90_THREADS,
                            TB_CRT_SM90_RING_BYTES, wgmma_stage_clocks,  2000,
                            (size_t)10 << 30};
/* Two blocks share a multiprocessor, so that one multiplies while the other begins. */
static const family sm80 = {TB_CRT_SM80_TILE_N, 1,   TB_CRT_CONSUMERS, TB_CRT_SM80_RING_BYTES,
                            mma_stage_clocks,   700, (size_t)2 << 30};

#define START_CLOCKS 3000.0

#define NATIVE_TILE (128 * 64)
/* Shares of the memory's rate that the passes reach. */
#define SURVEY_SHARE   0.85
#define RESIDUES_SHARE 0.78
#define JOIN_SHARE     0.8
/* To join the residues of an element, for each modulus, if memory is faster. */
#define JOIN_CLOCKS 0.135

/* What random numbers need, of most distributions: as many moduli are counted with. */
#define USUAL_MODULI 16

#define ELEMENT_BYTES 8.0

#define ALIGNMENT 256
#define TAKEN     9 /* pieces that the workspace is cut into */
/* A multiple of the sides of all tiles, and of pairs of them. */
#define SIDE 256

/* What is decided before anything is known of the operands. */
typedef struct deal {
    const tb_kernel *native; /* the row that multiplies them as they are */
    int32_t moduli_most;
    int32_t survey_k;
    int64_t rows, columns; /* of C that are computed at a time */
} deal;

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Where numbers are complex three products of theirs make one, rather than the four that the real product has for them. */
static bool has_pairs(const tb_product *product)
{
    return product->a.embedded && !product->a.transposed && !product->b.transposed;
}
static int64_t parts_of(const tb_product *product)
{
    return has_pairs(product) ? 2 : 1;
}
static int64_t sets_of(const tb_product *product)
{
    return has_pairs(product) ? TB_CRT_SETS : 1;
}

/* Outer indices of A, and steps of k, in numbers. */
static int64_t numbers_m(const tb_product *product)
{
    return product->m / parts_of(product);
}
static int64_t numbers_k(const tb_product *product)
{
    return product->k / parts_of(product);
}

static int64_t stages_of(const tb_product *product)
{
    return tb_pieces(numbers_k(product), TB_CRT_STAGE_K);
}

/* Bytes of an operand's plane; of C's, with whole tiles. */
static size_t plane_bytes(int64_t rows, int64_t stages)
{
    return (size_t)tb_round_up(rows, SIDE) * (size_t)stages * TB_CRT_STAGE_K;
}
static size_t plane_bytes_of_c(int64_t rows, int64_t columns)
{
    return (size_t)tb_round_up(rows, SIDE) * (size_t)tb_round_up(columns, SIDE);
}

static size_t residue_bytes(const deal *deal, const tb_product *product)
{
    const int64_t stages = stages_of(product);
    const int64_t rows = deal->rows / parts_of(product);
    return (size_t)deal->moduli_most *
           ((size_t)sets_of(product) * (plane_bytes(rows, stages) + plane_bytes(deal->columns, stages)) +
            (size_t)parts_of(product) * plane_bytes_of_c(rows, deal->columns));
}

static size_t census_bytes(const deal *deal, const tb_product *product)
{
    return (size_t)(numbers_m(product) + product->n) * (size_t)tb_pieces(product->k, deal->survey_k) *
           sizeof(tb_crt_census);
}

/* The larger of the rectangle's sides is halved until there is room for it. */
static void cut(const family *family, deal *deal, const tb_product *product)
{
    deal->rows = product->m;
    deal->columns = product->n;
    const int64_t least = parts_of(product) * SIDE;
    while (residue_bytes(deal, product) > family->workspace_most &&
           (deal->rows > least || deal->columns > least)) {
        int64_t *side = deal->rows > deal->columns ? &deal->rows : &deal->columns;
        *side = tb_round_up(tb_pieces(*side, 2), least);
    }
}

static bool is_whole(const deal *deal, const tb_product *product)
{
    return deal->rows >= product->m && deal->columns >= product->n;
}

/* As short as it takes to fill the device. */
static int32_t survey_k_of(const tb_product *product, tb_target target)
{
    const int64_t rows =
        tb_pieces(numbers_m(product), TB_CRT_BLOCK_ROWS) + tb_pieces(product->n, TB_CRT_BLOCK_ROWS);
    int32_t steps = TB_CRT_SURVEY_K_MOST;
    while (steps > TB_CRT_SURVEY_K_LEAST &&
           rows * tb_pieces(product->k, steps) < 4 * (int64_t)target.multiprocessors)
        steps /= 2;
    return steps;
}

/* What counts blocks and rows in 32 bits. */
static bool is_in_range(const tb_product *product)
{
    const int64_t most = TB_BLOCKS_MAXIMUM / TB_CRT_STAGE_K / 8;
    return numbers_k(product) <= TB_CRT_K_MOST && product->m <= most && product->n <= most;
}

/* Of those that can be told not to run (tb_launcher.unless) the ones for large products, which alone are for integers. */
static const tb_kernel *choose_native(const tb_product *product, tb_target target)
{
    const tb_kernel *best = NULL;
    double least = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (kernel->launch != tb_launch_dgemm_mma || kernel->tile_m * kernel->tile_n < NATIVE_TILE ||
            !tb_kernel_runs_on(kernel, target.architecture))
            continue;
        const double clocks = tb_prepare(kernel, product, target).clocks;
        if (!best || clocks < least) {
            best = kernel;
            least = clocks;
        }
    }
    return best ? best : tb_find_kernel("dgemm_naive");
}

static double bytes_clocks(double bytes, double share, tb_target target)
{
    return bytes / (share * TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

/* Of A and B; where numbers are complex every other column of A says it all. */
static double elements_read(const tb_product *product)
{
    const int64_t n = tb_has_one_operand(product) ? 0 : product->n;
    return (double)product->k * (double)(numbers_m(product) + n);
}
static double residues_made(const tb_product *product)
{
    return elements_read(product) / (double)parts_of(product) * (double)sets_of(product);
}

static double survey_clocks(const tb_product *product, tb_target target)
{
    const double elements = elements_read(product);
    return START_CLOCKS + 2 * TB_SECOND_LAUNCH_CLOCKS +
           bytes_clocks(ELEMENT_BYTES * elements, SURVEY_SHARE, target);
}

/* Rows of C, of tiles that are taken together. */
static int32_t rows_of_tiles(const family *family, const tb_product *product)
{
    return (int32_t)parts_of(product) * family->cluster * TB_CRT_TILE_M;
}

static tb_masked_tiles tiles_of(const family *family, const tb_product *product)
{
    return tb_masked_tiles_of(product, rows_of_tiles(family, product), family->tile_n, TB_CRT_GROUP);
}

/* Tiles, or pairs of them, that are multiplied at a time. */
static int64_t at_a_time(const family *family, tb_target target)
{
    return family->cluster > 1 ? tb_clusters_at_a_time(family->cluster, 1, target) : target.multiprocessors;
}

/* What comes after the survey, in clocks: of any number of moduli, and of each. */
typedef struct costs {
    double fixed, each;              /* bytes that are read and written, launches */
    double join;                     /* arithmetic of joining residues, for each */
    double join_fixed, join_each;    /* bytes of the same */
    double tiles, at_a_time, a_tile; /* to multiply */
} costs;

static costs costs_of(const family *family, const tb_product *product, tb_target target)
{
    const double elements = elements_read(product), elements_of_c = tb_masked_elements(product);
    const double of_c = ELEMENT_BYTES * (tb_is_zero(product->beta) ? 1 : 2);
    return (costs){
        .fixed = 4 * TB_SECOND_LAUNCH_CLOCKS + bytes_clocks(ELEMENT_BYTES * elements, RESIDUES_SHARE, target),
        .each = bytes_clocks(residues_made(product), RESIDUES_SHARE, target),
        .join = JOIN_CLOCKS * elements_of_c / target.multiprocessors,
        .join_fixed = bytes_clocks(of_c * elements_of_c, JOIN_SHARE, target),
        .join_each = bytes_clocks(elements_of_c, JOIN_SHARE, target),
        .tiles = (double)tiles_of(family, product).count,
        .at_a_time = fmax(1, (double)at_a_time(family, target)),
        .a_tile = (double)sets_of(product) *
                  ((double)stages_of(product) * family->stage_clocks(target) + family->round_clocks),
    };
}

static double moduli_clocks(const costs *costs, int moduli)
{
    return costs->fixed + moduli * costs->each +
           ceil(costs->tiles * moduli / costs->at_a_time) * costs->a_tile +
           fmax(costs->join_fixed + moduli * costs->join_each, moduli * costs->join);
}

/* Who has it computed where no number of moduli pays has forced it, and gets as many as it takes. */
static int32_t most_moduli(const costs *costs, double native)
{
    int32_t most = 0;
    while (most < TB_CRT_MODULI && moduli_clocks(costs, most + 1) < native)
        most++;
    return most > 0 ? most : TB_CRT_MODULI;
}

static void prepare(const family *family, const tb_product *product, tb_target target, tb_schedule *schedule)
{
    deal own = {.native = choose_native(product, target), .survey_k = survey_k_of(product, target)};
    const tb_schedule native = tb_prepare(own.native, product, target);
    /* A row without a forecast is that of chips with hardly any units of FP64. */
    const costs costs = costs_of(family, product, target);
    own.moduli_most = most_moduli(&costs, own.native->prepare ? native.clocks : HUGE_VAL);
    cut(family, &own, product);
    schedule->clocks =
        survey_clocks(product, target) +
        (own.moduli_most >= USUAL_MODULI ? moduli_clocks(&costs, USUAL_MODULI) : native.clocks);
    if (!is_in_range(product))
        schedule->clocks = HUGE_VAL;
    if (is_whole(&own, product) && own.moduli_most >= USUAL_MODULI)
        schedule->clocks_of_a = bytes_clocks(2 * ELEMENT_BYTES + USUAL_MODULI * (double)sets_of(product) /
                                                                     (double)parts_of(product),
                                             RESIDUES_SHARE, target) *
                                (double)numbers_m(product) * (double)product->k;
    schedule->workspace =
        (size_t)(numbers_m(product) + product->n) * (sizeof(tb_crt_record) + sizeof(int32_t)) +
        census_bytes(&own, product) + residue_bytes(&own, product) + TAKEN * ALIGNMENT + native.workspace;
    TB_SET_DEAL(schedule, deal, own);
}

/* ---- Launches ----------------------------------------------------------------------------------------------- */

static void *take(char **workspace, size_t bytes)
{
    void *taken = *workspace;
    *workspace += aligned(bytes);
    return taken;
}

static tb_crt_operand operand_of(const tb_operand *operand, int64_t rows, int64_t k, bool k_contiguous,
                                 int32_t panel)
{
    return (tb_crt_operand){.elements = operand->data,
                            .rows = rows,
                            .k = k,
                            .leading_dimension = operand->ld,
                            .k_contiguous = k_contiguous,
                            .panel = panel};
}

/* Outer indices from one on, as many as the product has. */
static void narrow(tb_crt_operand *x, const tb_crt_operand *all, int parts, int64_t first, int64_t rows,
                   int64_t stages)
{
    x->rows = rows;
    x->elements = all->elements + first * (all->k_contiguous ? all->leading_dimension : parts);
    x->quantum = all->quantum + first;
    x->panels = (int32_t)(tb_round_up(rows, SIDE) / x->panel);
    x->plane = (int64_t)plane_bytes(rows, stages);
}

static int32_t pieces_of(const tb_crt_operand *x, int64_t stages)
{
    return (int32_t)(x->panels * (x->panel / TB_CRT_PIECE_ROWS) * stages * (TB_CRT_STAGE_K / TB_CRT_PIECE_K));
}

static tb_status launch_survey(const tb_launcher *launcher, tb_entry *entries,
                               const tb_crt_arguments *arguments)
{
    const tb_dgemm *p = &arguments->problem;
    const int64_t m = arguments->keeps_a ? 0 : arguments->a.rows, n = arguments->same ? 0 : p->n,
                  rows = tb_pieces(m, TB_CRT_BLOCK_ROWS) + tb_pieces(n, TB_CRT_BLOCK_ROWS);
    if (rows > 0) {
        TB_TRY(launcher->launch(launcher, &entries[TB_CRT_SURVEY],
                                rows * tb_pieces(p->k, arguments->survey_k), TB_CRT_PASS_THREADS, 0,
                                arguments));
        TB_TRY(launcher->launch(launcher, &entries[TB_CRT_GATHER], tb_pieces(m + n, TB_CRT_PASS_THREADS),
                                TB_CRT_PASS_THREADS, 0, arguments));
    }
    return launcher->launch(launcher, &entries[TB_CRT_DECIDE], 1, TB_CRT_DECIDE_THREADS, 0, arguments);
}

static tb_status launch_multiply(const family *family, const tb_launcher *launcher, tb_entry *entry,
                                 const tb_crt_arguments *arguments)
{
    const int64_t works = (int64_t)arguments->tiles * arguments->moduli_most;
    if (family->cluster == 1)
        return launcher->launch(launcher, entry, works, family->threads, family->shared_bytes, arguments);
    const int64_t clusters = tb_smaller(works, at_a_time(family, launcher->target));
    return launcher->launch_clusters(launcher, entry, clusters * family->cluster, family->cluster,
                                     family->threads, family->shared_bytes, arguments);
}

/* A rectangle of C, from residues that are there or are made. */
static tb_status launch_rectangle(const family *family, const tb_launcher *launcher, tb_entry *entries,
                                  const tb_crt_arguments *arguments)
{
    const bool pairs = arguments->parts > 1;
    tb_entry *residues = &entries[pairs ? TB_CRT_RESIDUES_OF_PAIRS : TB_CRT_RESIDUES],
             *multiply = &entries[pairs ? TB_CRT_MULTIPLY_PAIRS : TB_CRT_MULTIPLY];
    const int64_t pieces = (int64_t)arguments->pieces_a + arguments->pieces_b,
                  most = (int64_t)launcher->target.multiprocessors * TB_CRT_PIECE_TURNS;
    if (pieces > 0)
        TB_TRY(launcher->launch(launcher, residues, tb_smaller(pieces, most), TB_CRT_PIECE_THREADS, 0,
                                arguments));
    if (arguments->tiles == 0)
        return TB_OK;
    TB_TRY(launch_multiply(family, launcher, multiply, arguments));
    const int64_t vectors =
        (int64_t)arguments->tiles * family->cluster * arguments->parts * TB_CRT_VECTORS(family->tile_n);
    return launcher->launch(launcher, &entries[TB_CRT_JOIN], vectors, TB_CRT_CONSUMERS, 0, arguments);
}

static tb_status launch_rectangles(const family *family, const tb_launcher *launcher, tb_entry *entries,
                                   const deal *own, const tb_product *product, const tb_crt_arguments *all)
{
    const int64_t stages = stages_of(product);
    for (int64_t row = 0; row < product->m; row += own->rows)
        for (int64_t column = 0; column < product->n; column += own->columns) {
            const tb_range rows = {row, tb_smaller(own->rows, product->m - row)},
                           columns = {column, tb_smaller(own->columns, product->n - column)};
            const tb_product part = tb_subproduct(product, rows, columns, (tb_range){0, product->k});
            tb_crt_arguments arguments = *all;
            arguments.problem = tb_dgemm_of(&part);
            narrow(&arguments.a, &all->a, all->parts, row / all->parts, rows.count / all->parts, stages);
            narrow(&arguments.b, &all->b, all->parts, column, columns.count, stages);
            arguments.masked = tiles_of(family, &part);
            arguments.tiles = (int32_t)arguments.masked.count;
            arguments.tiles_m = (int32_t)tb_pieces(part.m, rows_of_tiles(family, &part));
            arguments.tiles_n = (int32_t)tb_pieces(part.n, family->tile_n);
            /* What the launch before, or the rectangle before, has made. */
            const bool has_a = column > 0, has_b = row > 0 && own->columns >= product->n;
            arguments.pieces_a = has_a ? 0 : pieces_of(&arguments.a, stages);
            arguments.pieces_b = has_b || all->same ? 0 : pieces_of(&arguments.b, stages);
            TB_TRY(launch_rectangle(family, launcher, entries, &arguments));
        }
    return TB_OK;
}

static tb_status launch(const family *family, const tb_launcher *launcher, const tb_kernel *kernel,
                        const tb_product *product, const tb_schedule *schedule, void *workspace)
{
    const deal *own = TB_DEAL(schedule, deal);
    const tb_schedule native = tb_prepare(own->native, product, launcher->target);
    if (product->k == 0 || product->m == 0 || product->n == 0)
        return own->native->launch(launcher, own->native, product, &native, workspace);
    if (!is_in_range(product))
        return TB_UNSUPPORTED;
    const int64_t stages = stages_of(product), blocks_k = tb_pieces(product->k, own->survey_k);
    char *left = workspace;
    tb_crt_arguments arguments = {
        .problem = tb_dgemm_of(product),
        .a = operand_of(&product->a, numbers_m(product), numbers_k(product), product->a.transposed,
                        family->tile_n),
        .b = operand_of(&product->b, product->n, numbers_k(product), !product->b.transposed, family->tile_n),
        .parts = (int32_t)parts_of(product),
        .stages = (int32_t)stages,
        .cluster = family->cluster,
        .survey_k = own->survey_k,
        .moduli_most = own->moduli_most,
        .keeps_a = launcher->same_a && is_whole(own, product),
        .leaves_a = is_whole(own, product),
        .same = is_whole(own, product) && tb_has_one_operand(product),
    };
    /* What is known of A comes first, where the next launch finds it. Planes of A that this one has no use for may be written over. */
    const size_t m = (size_t)numbers_m(product), n = (size_t)product->n,
                 planes = (size_t)own->moduli_most * (size_t)sets_of(product);
    arguments.decision = take(&left, sizeof(tb_crt_decision));
    arguments.a.records = take(&left, m * sizeof(tb_crt_record));
    arguments.a.quantum = take(&left, m * sizeof(int32_t));
    arguments.a.residues = take(&left, planes * plane_bytes(own->rows / arguments.parts, stages));
    arguments.b.records = take(&left, n * sizeof(tb_crt_record));
    arguments.b.quantum = take(&left, n * sizeof(int32_t));
    arguments.b.residues = take(&left, planes * plane_bytes(own->columns, stages));
    arguments.residues_c = take(&left, (size_t)own->moduli_most * (size_t)arguments.parts *
                                           plane_bytes_of_c(own->rows / arguments.parts, own->columns));
    arguments.a.census = take(&left, census_bytes(own, product));
    arguments.b.census = arguments.a.census + arguments.a.rows * blocks_k;
    if (arguments.same)
        arguments.b = arguments.a;

    /* The first launch that writes is one of several: from there on nothing may fail that can be seen to before. */
    for (int entry = 0; entry < TB_CRT_ENTRIES; entry++)
        TB_TRY(launcher->load(launcher, &kernel->entries[entry]));
    tb_forwarder loading = tb_forward_to(launcher), otherwise = tb_forward_to(launcher);
    loading.only_loads = true;
    otherwise.interface.unless = &arguments.decision->moduli;
    TB_TRY(own->native->launch(&loading.interface, own->native, product, &native, left));

    TB_TRY(launch_survey(launcher, kernel->entries, &arguments));
    TB_TRY(launch_rectangles(family, launcher, kernel->entries, own, product, &arguments));
    return own->native->launch(&otherwise.interface, own->native, product, &native, left);
}

/* The catalog's callbacks of a row. */
#define TB_CRT_CALLBACKS(family)                                                                             \
    void tb_crt_##family##_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,     \
                                   tb_schedule *schedule)                                                    \
    {                                                                                                        \
        (void)kernel;                                                                                        \
        prepare(&family, product, target, schedule);                                                         \
    }                                                                                                        \
    tb_status tb_launch_crt_##family(const tb_launcher *launcher, const tb_kernel *kernel,                   \
                                     const tb_product *product, const tb_schedule *schedule,                 \
                                     void *workspace)                                                        \
    {                                                                                                        \
        return launch(&family, launcher, kernel, product, schedule, workspace);                              \
    }

TB_CRT_CALLBACKS(sm90)
TB_CRT_CALLBACKS(sm80)
