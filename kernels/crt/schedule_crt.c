/* The schedule of dgemm_crt: how many moduli are worth it, what that is forecast to take, how much of C is computed at a time,
 * and the workspace.
 */
#include "kernels/crt/schedule_crt.h"

#include "kernels/forecast.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/launch.h"

#include <math.h>

/* A stage by wgmma, in clocks of a multiprocessor: measured on an H100; see docs/lab/crt.md. */
static double wgmma_stage_clocks(tb_target target)
{
    (void)target;
    return 1090;
}

/* A stage by mma.sync, with so many multiply-adds of INT8 a clock by the data sheet, of which a share is reached. A forecast's
 * clock does 128 multiply-adds of FP32 (tb_share_of_lanes). */
static double mma_stage_clocks(tb_target target, double multiply_adds, double share)
{
    const double volume = TB_CRT_TILE_M * TB_CRT_MMA_TILE_N * TB_CRT_STAGE_K;
    return volume / multiply_adds / share * tb_share_of_lanes(target.architecture);
}

/* The rates are those of 624 TOPS of an A100, 661 of an RTX 4090, 250 of an A10. */
static double sm80_stage_clocks(tb_target target)
{
    const bool is_large = target.architecture % 10 == 0 && target.architecture < 120;
    return mma_stage_clocks(target, is_large ? 2048 : 1024, 0.75);
}

/* The rate is that of 130 TOPS of a T4, with 40 multiprocessors and 1.59 GHz. That half of it is reached is an assumption: it
 * has run on no such chip. */
static double sm75_stage_clocks(tb_target target)
{
    return mma_stage_clocks(target, 1024, 0.5);
}

/* An eighth of the memory that chips of 9.0 have at least, 80 GB; and of 16 GB. */
const tb_crt_family tb_crt_sm90 = {TB_CRT_SM90_TILE_N,     TB_CRT_SM90_CLUSTER, TB_CRT_SM90_THREADS,
                                   TB_CRT_SM90_RING_BYTES, wgmma_stage_clocks,  2000,
                                   (size_t)10 << 30};
/* Two blocks share a multiprocessor, so that one multiplies while the other begins. */
const tb_crt_family tb_crt_sm80 = {TB_CRT_MMA_TILE_N, 1,   TB_CRT_CONSUMERS, TB_CRT_SM80_RING_BYTES,
                                   sm80_stage_clocks, 700, (size_t)2 << 30};
const tb_crt_family tb_crt_sm75 = {TB_CRT_MMA_TILE_N, 1,   TB_CRT_CONSUMERS, TB_CRT_SM75_RING_BYTES,
                                   sm75_stage_clocks, 700, (size_t)2 << 30};

#define START_CLOCKS 3000.0

#define NATIVE_TILE (128 * 64)
/* Shares of the memory's rate that the passes reach. */
#define SURVEY_SHARE   0.85
#define RESIDUES_SHARE 0.78
#define JOIN_SHARE     0.8
/* What joining the residues of an element takes, for each modulus, if memory is faster. */
#define JOIN_CLOCKS 0.135

#define ELEMENT_BYTES 8.0

static size_t residue_bytes(const tb_crt_deal *deal, const tb_product *product)
{
    const int64_t stages = tb_crt_stages_of(product);
    const int64_t rows = deal->rows / tb_crt_parts_of(product);
    return (size_t)deal->moduli_most *
           ((size_t)tb_crt_sets_of(product) *
                (tb_crt_plane_bytes(rows, stages) + tb_crt_plane_bytes(deal->columns, stages)) +
            (size_t)tb_crt_parts_of(product) * tb_crt_plane_bytes_of_c(rows, deal->columns));
}

size_t tb_crt_census_bytes(const tb_crt_deal *deal, const tb_product *product)
{
    return (size_t)(tb_crt_numbers_m(product) + product->n) *
           (size_t)tb_ceil_div(product->k, deal->survey_k) * sizeof(tb_crt_census);
}

/* The larger of the rectangle's sides is halved until there is room for it. */
static void cut(const tb_crt_family *family, tb_crt_deal *deal, const tb_product *product)
{
    deal->rows = product->m;
    deal->columns = product->n;
    const int64_t least = tb_crt_parts_of(product) * TB_CRT_SIDE;
    while (residue_bytes(deal, product) > family->workspace_most &&
           (deal->rows > least || deal->columns > least)) {
        int64_t *side = deal->rows > deal->columns ? &deal->rows : &deal->columns;
        *side = tb_round_up(tb_ceil_div(*side, 2), least);
    }
}

/* Steps are as few as it takes to have work for the device several times over: where the scout gives up, what has begun is
 * still done. They are fewer than TB_CRT_SURVEY_K_SHORT, which costs more, only to fill it at all. */
static int32_t survey_k_of(const tb_product *product, tb_target target)
{
    const int64_t rows = tb_ceil_div(tb_crt_numbers_m(product), TB_CRT_BLOCK_ROWS) +
                         tb_ceil_div(product->n, TB_CRT_BLOCK_ROWS);
    int32_t steps = TB_CRT_SURVEY_K_MOST;
    while (steps > TB_CRT_SURVEY_K_LEAST &&
           rows * tb_ceil_div(product->k, steps) <
               (steps > TB_CRT_SURVEY_K_SHORT ? 12 : 4) * (int64_t)target.multiprocessors)
        steps /= 2;
    return steps;
}

bool tb_crt_is_in_range(const tb_product *product)
{
    const int64_t most = TB_BLOCKS_MAXIMUM / TB_CRT_STAGE_K / 8;
    return tb_crt_numbers_k(product) <= TB_CRT_K_MOST && product->m <= most && product->n <= most;
}

/* Chooses among kernels that can be told not to run (tb_launcher.unless) and are for large products, which alone are for
 * integers. */
static const tb_kernel *choose_native(const tb_kernel *others, const tb_product *product, tb_target target)
{
    const tb_kernel *best = NULL, *naive = NULL;
    double least = 0;
    for (const tb_kernel *kernel = others; kernel->name; kernel++) {
        if (kernel->launch == tb_launch_tiles && kernel->element == TB_FP64)
            naive = kernel;
        if (kernel->launch != tb_launch_dgemm_mma || kernel->tile_m * kernel->tile_n < NATIVE_TILE ||
            !tb_kernel_runs_on(kernel, target.architecture))
            continue;
        const double clocks = tb_prepare(kernel, product, target).clocks;
        if (!best || clocks < least) {
            best = kernel;
            least = clocks;
        }
    }
    return best ? best : naive;
}

static double bytes_clocks(double bytes, double share, tb_target target)
{
    return bytes / (share * TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

/* Elements of A and B; where numbers are complex every other column of A says it all. */
static double elements_read(const tb_product *product)
{
    const int64_t n = tb_has_one_operand(product) ? 0 : product->n;
    return (double)product->k * (double)(tb_crt_numbers_m(product) + n);
}
static double residues_made(const tb_product *product)
{
    return elements_read(product) / (double)tb_crt_parts_of(product) * (double)tb_crt_sets_of(product);
}

static double survey_clocks(const tb_product *product, tb_target target)
{
    const double elements = elements_read(product);
    return START_CLOCKS + 2 * TB_SECOND_LAUNCH_CLOCKS +
           bytes_clocks(ELEMENT_BYTES * elements, SURVEY_SHARE, target);
}

int32_t tb_crt_rows_of_tiles(const tb_crt_family *family, const tb_product *product)
{
    return (int32_t)tb_crt_parts_of(product) * family->cluster * TB_CRT_TILE_M;
}

tb_masked_tiles tb_crt_tiles_of(const tb_crt_family *family, const tb_product *product)
{
    return tb_masked_tiles_of(product, tb_crt_rows_of_tiles(family, product), family->tile_n, TB_CRT_GROUP);
}

int64_t tb_crt_at_a_time(const tb_crt_family *family, tb_target target)
{
    const int64_t at_a_time =
        family->cluster > 1 ? tb_clusters_at_a_time(family->cluster, 1, target) : target.multiprocessors;
    return tb_larger(1, at_a_time);
}

/* What comes after the survey, in clocks: of any number of moduli, and of each. */
typedef struct costs {
    double fixed, each;              /* bytes that are read and written, launches */
    double join;                     /* arithmetic of joining residues, for each */
    double join_fixed, join_each;    /* bytes of the same */
    double tiles, at_a_time, a_tile; /* to multiply */
} costs;

static costs costs_of(const tb_crt_family *family, const tb_product *product, tb_target target)
{
    const double elements = elements_read(product), elements_of_c = tb_masked_elements(product);
    const double of_c = ELEMENT_BYTES * (tb_is_zero(product->beta) ? 1 : 2);
    return (costs){
        .fixed = 4 * TB_SECOND_LAUNCH_CLOCKS + bytes_clocks(ELEMENT_BYTES * elements, RESIDUES_SHARE, target),
        .each = bytes_clocks(residues_made(product), RESIDUES_SHARE, target),
        .join = JOIN_CLOCKS * elements_of_c / target.multiprocessors,
        .join_fixed = bytes_clocks(of_c * elements_of_c, JOIN_SHARE, target),
        .join_each = bytes_clocks(elements_of_c, JOIN_SHARE, target),
        .tiles = (double)tb_crt_tiles_of(family, product).count,
        .at_a_time = (double)tb_crt_at_a_time(family, target),
        .a_tile = (double)tb_crt_sets_of(product) *
                  ((double)tb_crt_stages_of(product) * family->stage_clocks(target) + family->round_clocks),
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

/* Forecasts, once it is known how many moduli are worth it. A native row without a forecast is that of chips which have no
 * better one for doubles as they are: there operands that do not suit take many times as long. */
static void forecast(const costs *costs, const tb_crt_deal *deal, const tb_kernel *row,
                     const tb_schedule *native, const tb_product *product, tb_target target,
                     tb_schedule *schedule)
{
    const bool is_slow = !row->prepare, pays = deal->moduli_most >= TB_CRT_USUAL_MODULI;
    const double of_native = is_slow ? tb_row_clocks(row, product, target) : native->clocks,
                 usual = pays ? moduli_clocks(costs, TB_CRT_USUAL_MODULI) : of_native;
    const bool is_in_range = tb_crt_is_in_range(product);
    schedule->clocks = is_in_range ? survey_clocks(product, target) + usual : HUGE_VAL;
    if (is_slow && is_in_range && !product->like_magnitudes)
        schedule->clocks_at_risk = fmax(0, of_native - usual);
}

static void prepare(const tb_crt_family *family, const tb_kernel *kernel, const tb_product *product,
                    tb_target target, tb_schedule *schedule)
{
    const tb_kernel *row = choose_native(kernel->others, product, target);
    tb_crt_deal own = {.native = (uint32_t)(row - kernel->others), .survey_k = survey_k_of(product, target)};
    const tb_schedule native = tb_prepare(row, product, target);
    const costs costs = costs_of(family, product, target);
    own.moduli_most = most_moduli(&costs, row->prepare ? native.clocks : HUGE_VAL);
    cut(family, &own, product);
    forecast(&costs, &own, row, &native, product, target, schedule);
    if (tb_crt_is_whole(&own, product) && own.moduli_most >= TB_CRT_USUAL_MODULI)
        schedule->clocks_of_a =
            (bytes_clocks(ELEMENT_BYTES, SURVEY_SHARE, target) +
             bytes_clocks(ELEMENT_BYTES + TB_CRT_USUAL_MODULI * (double)tb_crt_sets_of(product) /
                                              (double)tb_crt_parts_of(product),
                          RESIDUES_SHARE, target)) *
            (double)tb_crt_numbers_m(product) * (double)product->k;
    schedule->workspace =
        (size_t)(tb_crt_numbers_m(product) + product->n) * (sizeof(tb_crt_record) + sizeof(int32_t)) +
        tb_crt_census_bytes(&own, product) + residue_bytes(&own, product) + TB_CRT_TAKEN * TB_CRT_ALIGNMENT +
        native.workspace;
    TB_SET_DEAL(schedule, tb_crt_deal, own);
}

/* The catalog's callbacks of a row. */
#define CALLBACK(family)                                                                                     \
    void family##_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,              \
                          tb_schedule *schedule)                                                             \
    {                                                                                                        \
        prepare(&family, kernel, product, target, schedule);                                                 \
    }
CALLBACK(tb_crt_sm90)
CALLBACK(tb_crt_sm80)
CALLBACK(tb_crt_sm75)
