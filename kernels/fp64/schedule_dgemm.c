/* How products are dealt to the blocks of dgemm_mma: what a schedule is forecast to take, and the schedule of a product that is
 * forecast to take least.
 */
#include "kernels/fp64/schedule_dgemm.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "kernels/mask.h"
#include "kernels/zeros.h"
#include "words/integers.h"

#include <math.h>

/* Forecasts are in clocks of a multiprocessor. On 8.0 and 9.0 its FP64 tensor cores do as many
 * multiply-adds in a clock as its FP32 lanes (data sheets: 19.5 and 67 TFLOP/s of either), so that
 * TB_FMA_A_CLOCK is the rate of both, and forecasts of 8.0 hold in the clocks that tb_share_of_lanes makes
 * of its own.
 *
 * The constants are those with which what is chosen for 70 products on an H200 takes least, and forecasts are nearest to what
 * was measured (docs/lab/fp64.md). They were fitted together, so that no one of them is a measurement; but MEMORY_SHARE is the
 * other families', OLD_TILE_CLOCKS an earlier fit's, and what is said of 8 bytes was set by hand afterwards, but for
 * L2_BYTES_A_CLOCK_BY_8: that and the efficiency of 64x64_3 fit 268 products on an H100. The clock is the one that
 * FP32 multiply-adds sustain: FP64's tensor cores have a higher one, so that a row's efficiency may be above 1. */
#define START_CLOCKS        200.0
#define MEMORY_SHARE        0.9 /* of the memory's rate, where operands are used hardly more than once */
#define MEMORY_SHARE_BY_8   0.8 /* the same, copied 8 bytes at a time */
#define BLOCK_CLOCKS        2350.0
#define STAGE_BYTES_A_CLOCK 33.0 /* at which the ring is filled first */
#define STAGE_BYTES_BY_8    25.0 /* the same 8 bytes at a time */
#define TILE_BYTES_A_CLOCK  69.0 /* at which tiles of C are written, or read */
#define OLD_TILE_CLOCKS     1780.0
#define PARTS_BYTES_A_CLOCK 10.8 /* at which the second launch reads parts of tiles */
/* Each further chain of a run. */
#define CHAIN_CLOCKS 1400.0
/* What a multiprocessor gets of L2 while all read, and of what its blocks have in common; and of lines that begin anywhere,
 * which are five sectors instead of four. */
#define L2_BYTES_A_CLOCK      39.9
#define L2_BYTES_A_CLOCK_BY_8 32.0
/* What a multiprocessor reads at most where its blocks compute tiles of 32 x 32 and operands come from the memory: 28 bytes a
 * nanosecond on an H200, where other tiles get 33; on an H100 all get some 22. */
#define SMALL_TILE_ELEMENTS      (32 * 32)
#define SMALL_TILE_BYTES_A_CLOCK 15.0
/* What a block's only warp waits in a step, if no other block covers it; more warps wait so much less. */
#define WAITING_CLOCKS 945.0
/* Blocks of fewer warps than a multiprocessor has quarters: what comes beside steps takes so much longer, or, after some
 * rounds, when others cover it, so much unless an old C is waited for; and a step takes so many clocks for each of the blocks
 * that are not there to cover it. */
#define QUARTERS            4
#define MANY_BLOCKS         4
#define FEW_WARPS_BESIDE    1.6
#define FEW_WARPS_AMONG     1.2
#define FEW_WARPS_UNCOVERED 25.0
/* Computing and reading are done at a time: the shorter one delays the longer one by this share. */
#define HIDDEN_SHARE 0.02
/* Batches: most rows' warps have so many columns of C, and half of the tile's rows. What a tile takes beside its steps takes so
 * much longer where fewer blocks than this are there to cover it: squares of 64 to 512 on an H200 and an H100. */
#define BATCH_COLUMNS   32
#define BATCH_UNCOVERED 2.0
#define BATCH_COVERING  3

/* Shared memory of a multiprocessor of 8.0; and what each of its blocks takes beside what it asks for (CUDA C++ Programming
 * Guide, "Compute Capability 8.x"). Rows say how many blocks a multiprocessor of 9.0 has room for. */
#define SHARED_BYTES_OF_80    (164 << 10)
#define SHARED_BYTES_OF_BLOCK (1 << 10)

/* That fit a multiprocessor at a time. */
static int blocks_on(const tb_kernel *kernel, tb_target target)
{
    const int room = SHARED_BYTES_OF_80 / (kernel->shared_bytes + SHARED_BYTES_OF_BLOCK);
    return target.architecture < 90 && room < kernel->blocks ? room : kernel->blocks;
}

tb_tile_order tb_dgemm_order_of(const tb_kernel *kernel, const tb_dgemm_schedule *schedule,
                                const tb_product *product, tb_target target)
{
    return tb_order_tiles(tb_zeros_of(product), schedule->tiles_m, schedule->tiles_n, TB_DGEMM_GROUP,
                          (int64_t)target.multiprocessors * blocks_on(kernel, target));
}

/* What the schedules of a product have in common, in clocks. */
typedef struct costs {
    const tb_kernel *kernel;
    const tb_product *product;
    tb_target target;
    int multiprocessors, blocks; /* blocks that fit one */
    int warps;                   /* of a block */
    int64_t tiles;
    double beside;  /* by which what comes beside steps takes longer */
    double step;    /* multiplying a block's step, with all of a multiprocessor's tensor cores */
    double fetch;   /* reading it from L2 */
    double tile;    /* filling the ring and writing the tile */
    double chain;   /* beginning another chain, and where C has the totals writing and reading it */
    double reading; /* reading all operands once, at the memory's rate */
} costs;

static double beside(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    if (kernel->threads / 32 < QUARTERS)
        return FEW_WARPS_BESIDE;
    return tb_is_batch(product) && blocks_on(kernel, target) < BATCH_COVERING ? BATCH_UNCOVERED : 1;
}

static costs costs_of(const tb_kernel *kernel, const tb_product *product, int64_t tiles, tb_target target)
{
    const bool vectors = tb_moves_vectors(product);
    const double filling = vectors ? STAGE_BYTES_A_CLOCK : STAGE_BYTES_BY_8;
    const double step_bytes = (double)sizeof(double) * kernel->tile_k *
                              ((double)tb_smaller(kernel->tile_m, product->m) / tb_dgemm_reals_of(kernel) +
                               (double)tb_smaller(kernel->tile_n, product->n));
    const double columns = tb_has_one_operand(product) ? 0 : (double)product->n;
    const double operands = (double)sizeof(double) * (double)product->k *
                            ((double)product->m / tb_dgemm_reals_of(kernel) + columns) *
                            (double)tb_members_of(product);
    const double memory_share = (vectors ? MEMORY_SHARE : MEMORY_SHARE_BY_8) * tb_memory_ratio(target);
    const bool is_small = kernel->tile_m * kernel->tile_n <= SMALL_TILE_ELEMENTS;
    const double read = fmin(TB_BYTES_A_CLOCK * memory_share, is_small ? SMALL_TILE_BYTES_A_CLOCK : HUGE_VAL);
    double tile = kernel->shared_bytes / filling + tb_tile_bytes(kernel) / TILE_BYTES_A_CLOCK;
    if (!tb_is_zero(product->beta))
        tile += OLD_TILE_CLOCKS + tb_tile_bytes(kernel) / TILE_BYTES_A_CLOCK;
    return (costs){
        .kernel = kernel,
        .product = product,
        .target = target,
        .multiprocessors = target.multiprocessors,
        .blocks = blocks_on(kernel, target),
        .warps = kernel->threads / 32,
        .tiles = tiles,
        .beside = beside(kernel, product, target),
        .step = (double)kernel->tile_m * kernel->tile_n * kernel->tile_k /
                (TB_FMA_A_CLOCK * kernel->efficiency) *
                tb_share_of_batch(kernel, product, kernel->tile_m / 2, BATCH_COLUMNS),
        .fetch = step_bytes / (vectors ? L2_BYTES_A_CLOCK : L2_BYTES_A_CLOCK_BY_8),
        .tile = tile,
        .chain = CHAIN_CLOCKS + (kernel->chains_in_c ? 2 * tb_tile_bytes(kernel) / TILE_BYTES_A_CLOCK : 0),
        .reading = operands / read / target.multiprocessors,
    };
}

/* A round of blocks, so many sharing a multiprocessor, of so many steps and runs, in tiles or parts of tiles, each. */
static double round_clocks(const costs *costs, int64_t blocks, double steps, int64_t runs, int32_t chains)
{
    const double uncovered =
        costs->warps < QUARTERS ? (double)(costs->blocks - blocks) * FEW_WARPS_UNCOVERED : 0;
    const double step = uncovered + fmax((double)blocks * fmax(costs->step, costs->fetch),
                                         costs->step + WAITING_CLOCKS / costs->warps);
    const double beside = BLOCK_CLOCKS + (double)runs * (costs->tile + (chains - 1) * costs->chain);
    return steps * step + beside * costs->beside;
}

/* A round behind others, whose blocks begin and end beside those of this one. */
static double later_round_clocks(const costs *costs, double steps, int64_t runs, int32_t chains)
{
    struct costs among = *costs;
    if (costs->warps < QUARTERS && tb_is_zero(costs->product->beta))
        among.beside = FEW_WARPS_AMONG;
    return round_clocks(&among, costs->blocks, steps, runs, chains);
}

/* All rounds, as the busiest multiprocessor sees them: full ones, and one of what is left. After two full ones, or three of
 * four blocks each, blocks no longer begin and end together, and those that are left run beside others. Before, multiprocessors
 * of four blocks that end first are filled with what is left: they have a full round more, and the others nothing. */
static double wave_clocks(const costs *costs, int64_t blocks, int cluster, double steps, int64_t runs,
                          int32_t chains)
{
    const int64_t share = tb_busiest_share(blocks, cluster, costs->blocks, costs->target);
    const bool many = costs->blocks >= MANY_BLOCKS;
    const int64_t full = share / costs->blocks, rest = share % costs->blocks;
    double clocks = 0;
    if (full > (many ? 2 : 1))
        return (double)share / costs->blocks * later_round_clocks(costs, steps, runs, chains);
    if (full > 0)
        clocks += (double)full * round_clocks(costs, costs->blocks, steps, runs, chains);
    if (rest > 0)
        clocks += round_clocks(costs, many && full > 0 ? costs->blocks : rest, steps, runs, chains);
    return clocks;
}

/* Adding up the parts of tiles. */
static double adding_clocks(const costs *costs, const tb_dgemm_schedule *schedule, double parts)
{
    const double tile = tb_tile_bytes(costs->kernel);
    if (schedule->cluster > 1)
        return TB_CLUSTER_CLOCKS + TB_CLUSTER_BLOCK_CLOCKS * schedule->cluster +
               tile / TB_CLUSTER_BYTES_A_CLOCK;
    return TB_SECOND_LAUNCH_CLOCKS + 2 * parts * tile / PARTS_BYTES_A_CLOCK / costs->multiprocessors;
}

/* Steps of the longest run. */
static double longest_run(const tb_dgemm_schedule *own)
{
    const double dealt = (double)(own->tiles - own->whole) * (double)own->steps;
    return own->piece_steps > 0 ? (double)own->piece_steps
           : own->whole > 0     ? (double)own->steps
                                : ceil(dealt / (double)own->pieces);
}

/* Whether a run may be more than one chain: cuBLAS does not cut k where C has more elements than this. Where C itself is to be
 * added, it has no room for totals; parts of tiles go to slots, which have. */
static bool may_be_cut(const tb_kernel *kernel, const tb_product *product, bool has_tiles)
{
    enum { CUT_ELEMENTS = 3000000 };
    return product->terms < 2 && product->m * product->n <= CUT_ELEMENTS &&
           !(kernel->chains_in_c && !tb_is_zero(product->beta) && has_tiles);
}

/* Into how many chains a block's steps of a tile are cut. The rms error of a sum of k numbers of one sign grows as
 * k to the power of 1.5, so that c chains, each of every c-th step, have a c-th of it. cuBLAS cuts k in about so many
 * where C is small, in half as many where it has a short side. Beyond LONG_ROOT squared of k chains grow no longer: one more
 * takes next to no time there, and those of all pieces of a tile count. */
int32_t tb_dgemm_chains_of(const tb_kernel *kernel, const tb_product *product, const tb_dgemm_schedule *own)
{
    enum { SHORT_SIDE = 128, LONG_ROOT = 128 };
    const double longest = longest_run(own);
    if (!may_be_cut(kernel, product, own->piece_steps > 0 || longest >= (double)own->steps))
        return 1;
    double roots = kernel->chain_roots * (tb_smaller(product->m, product->n) < SHORT_SIDE ? 2 : 1);
    const double longest_k = longest * kernel->tile_k;
    const bool is_long = product->k > LONG_ROOT * LONG_ROOT;
    const double of_run = is_long ? longest_k / LONG_ROOT : sqrt(longest_k);
    return (int32_t)fmax(1, floor(0.25 + of_run / roots));
}

/* How many of the first steps of a tile, with zeros before them, are those with the diagonal. */
int32_t tb_dgemm_alone_in(const tb_kernel *kernel, const tb_product *product)
{
    const int32_t zeros = tb_zeros_of(product);
    if (!(zeros & TB_ZEROS_BEFORE) || !may_be_cut(kernel, product, true))
        return 0;
    const int extent = zeros & TB_ZEROS_BY_COLUMN ? kernel->tile_n : kernel->tile_m;
    return (int32_t)tb_ceil_div(zeros & TB_ZEROS_BY_PAIRS ? 2 * extent : extent, kernel->tile_k);
}

/* Where pieces do not end with tiles, some block begins one more than it ends, and the others wait for it. */
static double clocks_of(const costs *costs, const tb_dgemm_schedule *schedule)
{
    const int32_t chains = tb_dgemm_chains_of(costs->kernel, costs->product, schedule);
    double computing = wave_clocks(costs, schedule->whole, 1, (double)schedule->steps, 1, chains), adding = 0;
    if (schedule->pieces > 0) {
        const int64_t dealt = costs->tiles - schedule->whole;
        const bool even = schedule->pieces % dealt == 0;
        const double pieces = (double)schedule->pieces, parts = pieces + (even ? 0 : (double)dealt);
        const double scattered =
            even ? 0 : tb_scattered_readings(costs->kernel, costs->product, dealt, TB_DGEMM_GROUP);
        const double waves = wave_clocks(costs, schedule->pieces, schedule->cluster,
                                         (double)(dealt * schedule->steps) / pieces,
                                         even ? 1 : tb_ceil_div(dealt, schedule->pieces) + 1, chains);
        computing += fmax(waves, scattered * costs->reading);
        adding = adding_clocks(costs, schedule, parts);
    }
    return fmax(computing, costs->reading) + HIDDEN_SHARE * fmin(computing, costs->reading) + adding;
}

/* The schedule that deals all but the first `whole` tiles to so many pieces; the other one if that takes no longer. */
static tb_dgemm_schedule deal(const costs *costs, int64_t whole, int64_t pieces, int cluster,
                              tb_dgemm_schedule other)
{
    const int64_t rest = costs->tiles - whole;
    const int64_t most = tb_pieces_most(rest * other.steps, costs->kernel);
    tb_dgemm_schedule dealt = other;
    dealt.whole = whole;
    dealt.pieces = cluster > 1 ? pieces : tb_smaller(pieces, most);
    dealt.cluster = cluster;
    if (dealt.pieces == 0 || dealt.pieces == rest || dealt.pieces > most)
        return other;
    dealt.clocks = clocks_of(costs, &dealt);
    return dealt.clocks < other.clocks ? dealt : other;
}

/* Each of the tiles behind the first `whole` is cut into the same number of pieces, so that no block has parts of two: into
 * what fills the room, or into a few. */
static tb_dgemm_schedule deal_evenly(const costs *costs, int64_t whole, int64_t room, tb_dgemm_schedule best)
{
    const int64_t rest = costs->tiles - whole;
    if (rest <= room / 2)
        best = deal(costs, whole, room / rest * rest, 1, best);
    const int64_t parts_most = tb_smaller(tb_pieces_most(best.steps, costs->kernel), TB_PARTS_MOST);
    for (int parts = 2; parts <= parts_most && rest * parts <= room; parts++)
        best = deal(costs, whole, rest * parts, 1, best);
    return best;
}

/* The same where no tile is whole, each one's pieces a cluster: if that leaves each of them one chain, or totals have
 * registers. */
static tb_dgemm_schedule deal_to_clusters(const costs *costs, int64_t room, tb_dgemm_schedule best)
{
    const tb_kernel *kernel = costs->kernel;
    if (!kernel->shares_tiles || costs->target.architecture < 90)
        return best;
    for (int cluster = 2; cluster <= TB_CLUSTER_BLOCKS_MAXIMUM; cluster++) {
        if (costs->tiles > room / cluster ||
            costs->tiles > tb_clusters_at_a_time(cluster, costs->blocks, costs->target))
            break;
        const tb_dgemm_schedule dealt = deal(costs, 0, costs->tiles * cluster, cluster, best);
        if (!kernel->chains_in_c || tb_dgemm_chains_of(kernel, costs->product, &dealt) == 1)
            best = dealt;
    }
    return best;
}

tb_masked_tiles tb_dgemm_tiles_of(const tb_kernel *kernel, const tb_product *product)
{
    return tb_masked_tiles_of(product, kernel->tile_m, kernel->tile_n, TB_DGEMM_GROUP);
}

/* Where steps are left out, tiles cut into pieces of so many of them, as blocks take them in turn, the longest first: what all
 * take together, but the longest one at least. */
static tb_dgemm_schedule cut(const costs *costs, int64_t pieces, double share, tb_dgemm_schedule other)
{
    tb_dgemm_schedule own = other;
    own.piece_steps = (int32_t)tb_ceil_div(own.steps, pieces);
    own.tile_pieces = (int32_t)tb_ceil_div(own.steps, own.piece_steps);
    own.whole = own.tile_pieces > 1 ? 0 : own.tiles;
    own.pieces = own.tiles * own.tile_pieces - own.whole;

    const double steps = share * (double)own.steps, longest = (double)own.piece_steps;
    /* Parts of a tile, on average: the last one is half as long as the others. */
    const double parts = own.pieces > 0 ? fmax(1, steps / longest + 0.5) : 1;
    const double blocks = parts * (double)own.tiles, room = (double)costs->multiprocessors;
    const int64_t sharing = tb_smaller(costs->blocks, tb_ceil_div((int64_t)blocks, costs->multiprocessors));
    const int32_t chains = tb_dgemm_chains_of(costs->kernel, costs->product, &own),
                  alone = tb_dgemm_alone_in(costs->kernel, costs->product);
    const double computing =
        fmax(round_clocks(costs, 1, longest, 1, chains + alone),
             blocks / room / (double)sharing *
                 round_clocks(costs, sharing, steps / parts, 1, chains + (int32_t)(alone / parts)));
    const double reading = share * costs->reading;
    own.clocks = fmax(computing, reading) + HIDDEN_SHARE * fmin(computing, reading);
    if (own.pieces > 0)
        own.clocks += TB_SECOND_LAUNCH_CLOCKS + 2 * blocks * tb_tile_bytes(costs->kernel) /
                                                    PARTS_BYTES_A_CLOCK / costs->multiprocessors;
    return other.tile_pieces > 0 && other.clocks <= own.clocks ? other : own;
}

/* Where tiles fill the device a few times, long ones and short ones make up for each other; fewer may be cut. */
static tb_dgemm_schedule plan_with_zeros(const costs *costs, double share, tb_dgemm_schedule best)
{
    best = cut(costs, 1, share, best);
    const int64_t most = tb_smaller(TB_PARTS_MOST, best.steps * costs->kernel->tile_k / TB_PIECE_MINIMUM_K);
    if (best.tiles < 2 * (int64_t)costs->multiprocessors * costs->blocks)
        for (int64_t pieces = 2; pieces <= most; pieces++)
            best = cut(costs, pieces, share, best);
    return best;
}

/* Either every tile has a block of its own; or the tiles behind the whole waves, or those of the last whole wave too, are dealt
 * to as many blocks as run at a time; or each of those behind the whole waves to the same number of blocks. */
static tb_dgemm_schedule plan(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    tb_dgemm_schedule best = {.tiles_m = tb_ceil_div(product->m, kernel->tile_m),
                              .tiles_n = tb_ceil_div(product->n, kernel->tile_n),
                              .tiles = tb_dgemm_tiles_of(kernel, product).count * tb_members_of(product),
                              .steps = product->k > 0 ? tb_ceil_div(product->k, kernel->tile_k) : 1,
                              .cluster = 1};
    const int64_t tiles = best.tiles;
    const costs costs = costs_of(kernel, product, tiles, target);
    const tb_tile_order order = tb_dgemm_order_of(kernel, &best, product, target);
    if (order.zeros && tiles > 0)
        return plan_with_zeros(&costs, tb_needed_share(&order), best);
    best.whole = tiles;
    best.clocks = clocks_of(&costs, &best);
    if (product->terms == 2)
        return best;

    const int64_t wave = (int64_t)costs.multiprocessors * costs.blocks;
    if (tiles == 0 || tiles % wave == 0)
        return best;
    const int64_t whole = tiles / wave * wave;
    best = deal(&costs, whole, wave, 1, best);
    if (whole > 0)
        best = deal(&costs, whole - wave, wave, 1, best);
    best = deal_evenly(&costs, whole, wave, best);
    return whole == 0 ? deal_to_clusters(&costs, wave, best) : best;
}

void tb_dgemm_mma_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                          tb_schedule *schedule)
{
    const tb_product all = tb_dgemm_all_terms(product);
    const tb_dgemm_schedule own = plan(kernel, &all, target);
    schedule->clocks = START_CLOCKS + own.clocks;
    schedule->workspace = own.cluster > 1 ? 0 : 2 * (size_t)own.pieces * (size_t)tb_tile_bytes(kernel);
    TB_SET_DEAL(schedule, tb_dgemm_schedule, own);
}
