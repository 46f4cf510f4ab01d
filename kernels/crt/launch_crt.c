/* Launching dgemm_crt: how many moduli are worth it, what that is forecast to take, and its launches.
 *
 * Residues take a byte for every modulus and element of A, B and C. Where that is more than WORKSPACE_MOST, C is computed a
 * rectangle at a time; the survey is of all of A and B.
 */
#include "kernels/crt/launch_crt.h"

#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/launch.h"
#include "kernels/triangular/inner.h"
#include "words/integers.h"

#include <math.h>

/* In clocks of a multiprocessor, by an H100; see docs/lab/crt.md. */
#define STAGE_CLOCKS 1090.0 /* of a tile, and one modulus */
#define ROUND_CLOCKS 2000.0 /* to begin a tile, and to store its residues */
#define START_CLOCKS 3000.0
/* Shares of the memory's rate that the passes reach. */
#define SURVEY_SHARE   0.85
#define RESIDUES_SHARE 0.85
#define JOIN_SHARE     0.8
/* To join the residues of an element, for each modulus, if memory is faster. */
#define JOIN_CLOCKS 0.19

/* What random numbers need, of most distributions: as many moduli are counted with. */
#define USUAL_MODULI 15

#define ELEMENT_BYTES 8.0

/* An eighth of the memory that chips of 9.0 have at least, 80 GB. */
#define WORKSPACE_MOST ((size_t)10 << 30)
#define ALIGNMENT      256
#define PAIR_M         (TB_CRT_CLUSTER_BLOCKS * TB_CRT_TILE_M)

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

static int64_t stages_of(const tb_product *product)
{
    return tb_pieces(product->k, TB_CRT_STAGE_K);
}

/* Bytes of an operand's plane; of C's, with whole tiles. */
static size_t plane_bytes(int64_t rows, int64_t multiple, int64_t stages)
{
    return (size_t)tb_round_up(rows, multiple) * (size_t)stages * TB_CRT_STAGE_K;
}
static size_t plane_bytes_of_c(int64_t rows, int64_t columns)
{
    return (size_t)tb_round_up(rows, PAIR_M) * (size_t)tb_round_up(columns, TB_CRT_TILE_N);
}

static size_t residue_bytes(const deal *deal, const tb_product *product)
{
    const int64_t stages = stages_of(product);
    return (size_t)deal->moduli_most *
           (plane_bytes(deal->rows, PAIR_M, stages) + plane_bytes(deal->columns, TB_CRT_TILE_N, stages) +
            plane_bytes_of_c(deal->rows, deal->columns));
}

static size_t census_bytes(const deal *deal, const tb_product *product)
{
    return (size_t)(product->m + product->n) * (size_t)tb_pieces(product->k, deal->survey_k) *
           sizeof(tb_crt_census);
}

/* The larger of the rectangle's sides is halved until there is room for it. */
static void cut(deal *deal, const tb_product *product)
{
    deal->rows = product->m;
    deal->columns = product->n;
    while (residue_bytes(deal, product) > WORKSPACE_MOST &&
           (deal->rows > PAIR_M || deal->columns > TB_CRT_TILE_N)) {
        int64_t *side = deal->rows > deal->columns ? &deal->rows : &deal->columns;
        *side = tb_round_up(tb_pieces(*side, 2), PAIR_M);
    }
}

/* As short as it takes to fill the device. */
static int32_t survey_k_of(const tb_product *product, tb_target target)
{
    const int64_t rows = tb_pieces(product->m, TB_CRT_BLOCK_ROWS) + tb_pieces(product->n, TB_CRT_BLOCK_ROWS);
    int32_t steps = TB_CRT_SURVEY_K_MOST;
    while (steps > TB_CRT_SURVEY_K_LEAST &&
           rows * tb_pieces(product->k, steps) < 4 * (int64_t)target.multiprocessors)
        steps /= 2;
    return steps;
}

/* Those that can be told not to run (tb_launcher.unless). */
static const tb_kernel *choose_native(const tb_product *product, tb_target target)
{
    const tb_kernel *best = NULL;
    double least = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (kernel->launch != tb_launch_dgemm_mma || !tb_kernel_runs_on(kernel, target.architecture))
            continue;
        const double clocks = tb_prepare(kernel, product, target).clocks;
        if (!best || clocks < least) {
            best = kernel;
            least = clocks;
        }
    }
    return best ? best : tb_any_row(TB_FP64);
}

static double bytes_clocks(double bytes, double share, tb_target target)
{
    return bytes / (share * TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

static double survey_clocks(const tb_product *product, tb_target target)
{
    const double elements = (double)product->k * (double)(product->m + product->n);
    return START_CLOCKS + 2 * TB_SECOND_LAUNCH_CLOCKS +
           bytes_clocks(ELEMENT_BYTES * elements, SURVEY_SHARE, target);
}

/* All that comes after the survey. */
static double moduli_clocks(const tb_product *product, int moduli, tb_target target)
{
    const double pairs = (double)tb_masked_tiles_of(product, PAIR_M, TB_CRT_TILE_N, TB_CRT_GROUP).count;
    const double clusters = (double)tb_clusters_at_a_time(TB_CRT_CLUSTER_BLOCKS, 1, target);
    const double rounds = ceil(pairs * moduli / fmax(1, clusters));
    const double elements = (double)product->k * (double)(product->m + product->n),
                 elements_of_c = tb_masked_elements(product);
    const double bytes_of_c = moduli + ELEMENT_BYTES * (tb_is_zero(product->beta) ? 1 : 2);
    return 4 * TB_SECOND_LAUNCH_CLOCKS +
           bytes_clocks((ELEMENT_BYTES + moduli) * elements, RESIDUES_SHARE, target) +
           rounds * ((double)stages_of(product) * STAGE_CLOCKS + ROUND_CLOCKS) +
           fmax(bytes_clocks(bytes_of_c * elements_of_c, JOIN_SHARE, target),
                JOIN_CLOCKS * moduli * elements_of_c / target.multiprocessors);
}

/* Who has it computed where no number of moduli pays has forced it, and gets as many as it takes. */
static int32_t most_moduli(const tb_product *product, double native, tb_target target)
{
    int32_t most = 0;
    while (most < TB_CRT_MODULI && moduli_clocks(product, most + 1, target) < native)
        most++;
    return most > 0 ? most : TB_CRT_MODULI;
}

void tb_crt_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                    tb_schedule *schedule)
{
    (void)kernel;
    deal own = {.native = choose_native(product, target), .survey_k = survey_k_of(product, target)};
    const tb_schedule native = tb_prepare(own.native, product, target);
    own.moduli_most = most_moduli(product, native.clocks, target);
    cut(&own, product);
    schedule->clocks =
        survey_clocks(product, target) +
        (own.moduli_most >= USUAL_MODULI ? moduli_clocks(product, USUAL_MODULI, target) : native.clocks);
    schedule->workspace = ALIGNMENT + aligned((size_t)(product->m + product->n) * sizeof(tb_crt_record)) +
                          aligned((size_t)(product->m + product->n) * sizeof(int32_t)) +
                          aligned(census_bytes(&own, product)) + residue_bytes(&own, product) +
                          3 * ALIGNMENT + native.workspace;
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
static void narrow(tb_crt_operand *x, const tb_crt_operand *all, int64_t first, int64_t rows,
                   int64_t multiple, int64_t stages)
{
    x->rows = rows;
    x->elements = all->elements + first * (all->k_contiguous ? all->leading_dimension : 1);
    x->quantum = all->quantum + first;
    x->panels = (int32_t)(tb_round_up(rows, multiple) / x->panel);
    x->plane = (int64_t)plane_bytes(rows, multiple, stages);
}

static int64_t pass_blocks(const tb_crt_operand *x, int64_t stages)
{
    return (int64_t)x->panels * x->panel / TB_CRT_BLOCK_ROWS * stages * (TB_CRT_STAGE_K / TB_CRT_PASS_K);
}

static tb_status launch_survey(const tb_launcher *launcher, tb_entry *entries,
                               const tb_crt_arguments *arguments)
{
    const tb_dgemm *p = &arguments->problem;
    const int64_t rows = tb_pieces(p->m, TB_CRT_BLOCK_ROWS) + tb_pieces(p->n, TB_CRT_BLOCK_ROWS);
    TB_TRY(launcher->launch(launcher, &entries[TB_CRT_SURVEY], rows * tb_pieces(p->k, arguments->survey_k),
                            TB_CRT_PASS_THREADS, 0, arguments));
    TB_TRY(launcher->launch(launcher, &entries[TB_CRT_GATHER], tb_pieces(p->m + p->n, TB_CRT_PASS_THREADS),
                            TB_CRT_PASS_THREADS, 0, arguments));
    return launcher->launch(launcher, &entries[TB_CRT_DECIDE], 1, TB_CRT_DECIDE_THREADS, 0, arguments);
}

/* A rectangle of C, from residues that are there or are made. */
static tb_status launch_rectangle(const tb_launcher *launcher, tb_entry *entries,
                                  const tb_crt_arguments *arguments)
{
    const int64_t passes = (int64_t)arguments->passes[0] + arguments->passes[1];
    const int64_t clusters = tb_smaller((int64_t)arguments->tiles * arguments->moduli_most,
                                        tb_clusters_at_a_time(TB_CRT_CLUSTER_BLOCKS, 1, launcher->target));
    if (passes > 0)
        TB_TRY(
            launcher->launch(launcher, &entries[TB_CRT_RESIDUES], passes, TB_CRT_PASS_THREADS, 0, arguments));
    if (arguments->tiles == 0)
        return TB_OK;
    TB_TRY(launcher->launch_clusters(launcher, &entries[TB_CRT_MULTIPLY], clusters * TB_CRT_CLUSTER_BLOCKS,
                                     TB_CRT_CLUSTER_BLOCKS, TB_CRT_THREADS, TB_CRT_RING_BYTES, arguments));
    return launcher->launch(launcher, &entries[TB_CRT_JOIN],
                            (int64_t)arguments->tiles * TB_CRT_CLUSTER_BLOCKS * TB_CRT_VECTORS,
                            TB_CRT_CONSUMERS, 0, arguments);
}

static tb_status launch_rectangles(const tb_launcher *launcher, tb_entry *entries, const deal *own,
                                   const tb_product *product, const tb_crt_arguments *all)
{
    const int64_t stages = stages_of(product);
    for (int64_t row = 0; row < product->m; row += own->rows)
        for (int64_t column = 0; column < product->n; column += own->columns) {
            const tb_range rows = {row, tb_smaller(own->rows, product->m - row)},
                           columns = {column, tb_smaller(own->columns, product->n - column)};
            const tb_product part = tb_subproduct(product, rows, columns, (tb_range){0, product->k});
            tb_crt_arguments arguments = *all;
            arguments.problem = tb_dgemm_of(&part);
            narrow(&arguments.a, &all->a, row, rows.count, PAIR_M, stages);
            narrow(&arguments.b, &all->b, column, columns.count, TB_CRT_TILE_N, stages);
            arguments.masked = tb_masked_tiles_of(&part, PAIR_M, TB_CRT_TILE_N, TB_CRT_GROUP);
            arguments.tiles = (int32_t)arguments.masked.count;
            const bool keeps_a = column > 0, keeps_b = row > 0 && own->columns >= product->n;
            arguments.passes[0] = keeps_a ? 0 : (int32_t)pass_blocks(&arguments.a, stages);
            arguments.passes[1] = keeps_b ? 0 : (int32_t)pass_blocks(&arguments.b, stages);
            TB_TRY(launch_rectangle(launcher, entries, &arguments));
        }
    return TB_OK;
}

tb_status tb_launch_crt(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                        const tb_schedule *schedule, void *workspace)
{
    const deal *own = TB_DEAL(schedule, deal);
    const tb_schedule native = tb_prepare(own->native, product, launcher->target);
    if (product->k == 0 || product->m == 0 || product->n == 0)
        return own->native->launch(launcher, own->native, product, &native, workspace);
    if (product->k > TB_CRT_K_MOST || product->m > TB_BLOCKS_MAXIMUM / TB_CRT_STAGE_K / 8 ||
        product->n > TB_BLOCKS_MAXIMUM / TB_CRT_STAGE_K / 8)
        return TB_UNSUPPORTED;
    const size_t outer = (size_t)(product->m + product->n);
    const int64_t stages = stages_of(product), blocks_k = tb_pieces(product->k, own->survey_k);
    char *left = workspace;
    tb_crt_arguments arguments = {
        .problem = tb_dgemm_of(product),
        .a = operand_of(&product->a, product->m, product->k, product->a.transposed, TB_CRT_TILE_M),
        .b = operand_of(&product->b, product->n, product->k, !product->b.transposed, TB_CRT_TILE_N),
        .stages = (int32_t)stages,
        .survey_k = own->survey_k,
        .moduli_most = own->moduli_most,
    };
    arguments.decision = take(&left, sizeof(tb_crt_decision));
    arguments.a.records = take(&left, outer * sizeof(tb_crt_record));
    arguments.b.records = arguments.a.records + product->m;
    arguments.a.quantum = take(&left, outer * sizeof(int32_t));
    arguments.b.quantum = arguments.a.quantum + product->m;
    arguments.a.census = take(&left, census_bytes(own, product));
    arguments.b.census = arguments.a.census + product->m * blocks_k;
    const size_t moduli = (size_t)own->moduli_most;
    arguments.a.residues = take(&left, moduli * plane_bytes(own->rows, PAIR_M, stages));
    arguments.b.residues = take(&left, moduli * plane_bytes(own->columns, TB_CRT_TILE_N, stages));
    arguments.residues_c = take(&left, moduli * plane_bytes_of_c(own->rows, own->columns));

    /* The first launch that writes is one of several: from there on nothing may fail that can be seen to before. */
    for (int entry = 0; entry < TB_CRT_ENTRIES; entry++)
        TB_TRY(launcher->load(launcher, &kernel->entries[entry]));
    tb_forwarder loading = tb_forward_to(launcher), otherwise = tb_forward_to(launcher);
    loading.only_loads = true;
    otherwise.interface.unless = &arguments.decision->moduli;
    TB_TRY(own->native->launch(&loading.interface, own->native, product, &native, left));

    TB_TRY(launch_survey(launcher, kernel->entries, &arguments));
    TB_TRY(launch_rectangles(launcher, kernel->entries, own, product, &arguments));
    return own->native->launch(&otherwise.interface, own->native, product, &native, left);
}
