/* The schedule of a product in the SIMT family: what each way to deal its tiles to blocks is forecast to take, and the way that
 * takes least.
 */
#include "kernels/simt/schedule_simt.h"

#include "kernels/forecast.h"
#include "kernels/launch.h"
#include "kernels/simt/simt.h"
#include "kernels/zeros.h"
#include "words/integers.h"

#include <math.h>

/* Forecasts below are in clocks of a multiprocessor, so that they hold at any clock rate. The constants and the rows'
 * efficiencies in the catalog were fitted together to what all rows took of 356 products on two H200s (bench/kernels
 * --regret), some of them again to all schedules of 185 and of 64, and the rows' to 320 on an H200 and an H100: they say which
 * row is faster, and one of them alone may be off. */
/* Starting a launch: what is unrolled takes longer to be fetched than a simple kernel. Such that the naive kernel gets the
 * products that it is faster at (bench/regret). */
#define START_CLOCKS 5200.0
/* Share of an H200's memory rate at which operands arrive that are used hardly more than once; less where a slice reads
 * less than a line of them at a time, and word by word, the more so in deep slices, most of all along k. */
#define MEMORY_SHARE            0.9
#define MEMORY_SHARE_SHORT      0.64
#define MEMORY_SHARE_WORDS      0.85
#define MEMORY_SHARE_WORDS_DEEP 0.74
#define MEMORY_SHARE_WORDS_K    0.59
#define LINE_BYTES              128
/* Starting a block; the rates at which its stages fill, 16 bytes at a time and word by word, and its tile is written, and
 * also read if beta asks; what it waits for that reading. */
#define BLOCK_CLOCKS         300.0
#define STAGE_BYTES_A_CLOCK  300.0
#define STAGE_BYTES_BY_WORDS 27.5
#define TILE_BYTES_A_CLOCK   16.3
#define OLD_TILE_CLOCKS      1270.0
/* What blocks of a second and of a third round wait for their operands, as blocks that began together also end together; by then
 * they have drifted apart, and one waits while others multiply. Such that products with a short k get the rows that are faster
 * for them on an H100 (bench/kernels --regret, group random). */
#define ROUND_CLOCKS 2000.0
#define ROUNDS_APART 2
/* The rate at which the second launch reads parts of tiles. */
#define PARTS_BYTES_A_CLOCK 15.4
/* With more than a warp for each of a multiprocessor's four schedulers, its pipelines hardly ever run empty:
 * the multiplications of a thread are independent. */
#define SATURATING_THREADS 134.0
/* What an operand that is contiguous along k costs of the efficiency where it moves word by word. */
#define WORDS_ALONG_K_SHARE 0.018
/* A step takes so much longer for each byte a multiply-add of operands along k whose lines begin within sectors: what a copy
 * brings of a line is in one sector more than it has bytes for, and mostly in two lines of the caches. 76 x 4262 x 4692 by
 * 16x128_2 takes 140 us NN and 105 NT, on an H200. */
#define SPLIT_SECTORS 1.1
#define SECTOR_BYTES  32
/* In a batch, whose tiles keep coming, what a tile takes beside its steps takes this much of that from the second round on, where
 * blocks follow each other, and where another block multiplies meanwhile. Most rows' warps have so many rows and columns of C.
 * Measured on squares from 32 to 512 on an H200. */
#define BATCH_ALONE   3.0
#define BATCH_BESIDE  0.8
#define BATCH_ROWS    64
#define BATCH_COLUMNS 32
/* What it takes longer where pieces do not end with tiles. */
#define UNEVEN_CLOCKS 1500.0

static bool a_along_k(const tb_product *product)
{
    return product->a.transposed;
}

static bool b_along_k(const tb_product *product)
{
    return !product->b.transposed;
}

static double efficiency(const tb_kernel *kernel, const tb_product *product, bool vectors)
{
    const double a = vectors ? kernel->a_along_k_share : WORDS_ALONG_K_SHARE;
    const double b = vectors ? kernel->b_along_k_share : WORDS_ALONG_K_SHARE;
    return kernel->efficiency * (1 - (a_along_k(product) ? a : 0) - (b_along_k(product) ? b : 0));
}

static bool splits_sectors(const tb_operand *operand)
{
    return ((uintptr_t)operand->data | (size_t)operand->ld * sizeof(float)) % SECTOR_BYTES != 0;
}

/* How many times as long steps take for sectors that lines share. */
static double split_sectors(const tb_kernel *kernel, const tb_product *product)
{
    const int rows = a_along_k(product) && splits_sectors(&product->a) ? kernel->tile_m : 0,
              columns = b_along_k(product) && splits_sectors(&product->b) ? kernel->tile_n : 0;
    return 1 + SPLIT_SECTORS * (double)sizeof(float) * (rows + columns) / (kernel->tile_m * kernel->tile_n);
}

/* Where the sums of a tile fit into shared memory, in code for 9.0 and later. */
static bool knows_clusters(const tb_kernel *kernel, tb_target target)
{
    return target.architecture >= 90 && kernel->entries[0].early &&
           tb_tile_bytes(kernel) <= (double)kernel->shared_bytes;
}

/* What the schedules of a product have in common, in clocks. */
typedef struct costs {
    const tb_kernel *kernel;
    const tb_product *product;
    tb_target target;
    int multiprocessors;
    int blocks;    /* that fit a multiprocessor */
    bool clusters; /* may share tiles */
    int64_t tiles;
    double step;    /* of a block, at the full rate of its multiprocessor */
    double tile;    /* filling the stages and writing the tile */
    double reading; /* reading all operands once */
    bool is_batch;
} costs;

/* Reading one operand once, by one multiprocessor. What keeps copies from reaching the memory's rate is in the multiprocessors,
 * so that they fall less behind a slower one. */
static double reading_clocks(const tb_kernel *kernel, const tb_product *product, int64_t outer, bool along_k,
                             bool vectors, tb_target target)
{
    const bool is_deep = kernel->segment_k * (int)sizeof(float) >= LINE_BYTES;
    const double by_words = along_k   ? MEMORY_SHARE_WORDS_K
                            : is_deep ? MEMORY_SHARE_WORDS_DEEP
                                      : MEMORY_SHARE_WORDS;
    const double by_vectors = along_k && !is_deep ? MEMORY_SHARE_SHORT : MEMORY_SHARE;
    const double share = fmin(vectors ? by_vectors : by_words, MEMORY_SHARE * tb_memory_ratio(target));
    return (double)sizeof(float) * (double)product->k * (double)outer / (TB_BYTES_A_CLOCK * share);
}

static costs costs_of(const tb_kernel *kernel, const tb_product *product, int64_t tiles, tb_target target)
{
    const bool vectors = tb_moves_vectors(product);
    const double of_a = reading_clocks(kernel, product, product->m, a_along_k(product), vectors, target),
                 of_b = tb_has_one_operand(product) ? 0
                                                    : reading_clocks(kernel, product, product->n,
                                                                     b_along_k(product), vectors, target);
    double tile = kernel->shared_bytes / (vectors ? STAGE_BYTES_A_CLOCK : STAGE_BYTES_BY_WORDS) +
                  tb_tile_bytes(kernel) / TILE_BYTES_A_CLOCK;
    if (!tb_is_zero(product->beta))
        tile += OLD_TILE_CLOCKS + tb_tile_bytes(kernel) / TILE_BYTES_A_CLOCK;
    return (costs){
        .kernel = kernel,
        .product = product,
        .target = target,
        .multiprocessors = target.multiprocessors,
        .blocks =
            vectors && a_along_k(product) && b_along_k(product) ? kernel->blocks_along_k : kernel->blocks,
        .clusters = knows_clusters(kernel, target),
        .tiles = tiles,
        .step = (double)kernel->tile_m * kernel->tile_n * kernel->tile_k /
                (TB_FMA_A_CLOCK * efficiency(kernel, product, vectors)) *
                (vectors ? split_sectors(kernel, product) : 1) *
                tb_share_of_batch(kernel, product, BATCH_ROWS, BATCH_COLUMNS),
        .tile = tile,
        .reading = (double)tb_members_of(product) * (of_a + of_b) / target.multiprocessors,
        .is_batch = tb_is_batch(product),
    };
}

/* How many run at a time, as many blocks sharing a multiprocessor as there is room for. */
static int64_t most_clusters(const costs *costs, int cluster)
{
    return tb_clusters_at_a_time(cluster, costs->blocks, costs->target);
}

/* A round of blocks, so many sharing a multiprocessor, of so many steps each; a block has so many tiles, or parts of tiles. With
 * too few threads the pipelines run partly empty. */
static double round_clocks(const costs *costs, int64_t blocks, double steps, int64_t tiles_a_block)
{
    const double resident = (double)blocks;
    const double filled = fmin(resident * costs->kernel->threads / SATURATING_THREADS, 1);
    return BLOCK_CLOCKS + steps * resident * costs->step / filled + (double)tiles_a_block * costs->tile;
}

/* Rounds of tiles that blocks take as others end. */
static double batch_clocks(const costs *costs, int64_t blocks, double steps, int64_t tiles_a_block)
{
    const double own = fmax(1, (double)blocks / costs->multiprocessors),
                 rounds = fmax(1, own / costs->blocks),
                 filled = fmin(costs->blocks * costs->kernel->threads / SATURATING_THREADS, 1);
    const double beside_steps = BLOCK_CLOCKS + (double)tiles_a_block * costs->tile;
    return own * steps * costs->step / filled +
           beside_steps * (1 + (rounds - 1) * (costs->blocks > 1 ? BATCH_BESIDE : BATCH_ALONE));
}

/* All rounds, as the busiest multiprocessor sees them: whole ones, and one of what is left. */
static double wave_clocks(const costs *costs, int64_t blocks, int cluster, double steps,
                          int64_t tiles_a_block)
{
    if (blocks == 0)
        return 0;
    if (costs->is_batch && cluster == 1)
        return batch_clocks(costs, blocks, steps, tiles_a_block);
    const int64_t share = tb_busiest_share(blocks, cluster, costs->blocks, costs->target);
    const int64_t full = share / costs->blocks, rest = share % costs->blocks;
    double clocks = ROUND_CLOCKS * (double)tb_smaller(full + (rest > 0) - 1, ROUNDS_APART);
    if (full > 0)
        clocks += (double)full * round_clocks(costs, costs->blocks, steps, tiles_a_block);
    if (rest > 0)
        clocks += round_clocks(costs, rest, steps, tiles_a_block);
    return clocks;
}

static double schedule_clocks(const costs *costs, const tb_simt_schedule *schedule)
{
    const double tile = tb_tile_bytes(costs->kernel);
    double clocks = wave_clocks(costs, schedule->whole, 1, (double)schedule->steps, 1);
    if (schedule->pieces == 0)
        return clocks;
    int64_t dealt = costs->tiles - schedule->whole;
    double pieces = (double)schedule->pieces;
    /* Where pieces do not end with tiles, some block begins one more than it ends, and the others wait for it. */
    const bool even = schedule->pieces % dealt == 0;
    double parts = pieces + (even ? 0 : (double)dealt);
    const double scattered =
        even ? 0 : tb_scattered_readings(costs->kernel, costs->product, dealt, TB_SIMT_GROUP);
    const double waves =
        wave_clocks(costs, schedule->pieces, schedule->cluster, (double)(dealt * schedule->steps) / pieces,
                    even ? 1 : tb_ceil_div(dealt, schedule->pieces) + 1);
    clocks += fmax(waves, scattered * costs->reading);
    if (!even)
        clocks += UNEVEN_CLOCKS;
    if (schedule->cluster > 1)
        return clocks + TB_CLUSTER_CLOCKS + TB_CLUSTER_BLOCK_CLOCKS * schedule->cluster +
               tile / TB_CLUSTER_BYTES_A_CLOCK;
    return clocks + TB_SECOND_LAUNCH_CLOCKS + 2 * parts * tile / PARTS_BYTES_A_CLOCK / costs->multiprocessors;
}

/* Where the memory sets the pace all schedules take as long, and the simplest one is best: fewer blocks read longer
 * pieces. */
static double clocks_of(const costs *costs, const tb_simt_schedule *schedule)
{
    return fmax(schedule_clocks(costs, schedule), costs->reading);
}

static int64_t at_a_time(const costs *costs)
{
    return (int64_t)costs->multiprocessors * costs->blocks;
}

/* Before a device has anything to do, each multiprocessor gets neighbouring blocks: as many as there are for each of them,
 * or as it has room for; only what is left over is spread one by one. So pieces that come with less than a whole wave of
 * tiles have to be fewer than multiprocessors, or some of these would get whole tiles only, and others pieces only:
 * 896 x 896 x 896 by 132 tiles and 128 pieces of 64x64_2 takes 41 us, by 132 tiles and 132 pieces 51. */
static bool spreads(const costs *costs, int64_t whole, int64_t pieces)
{
    return whole == 0 || whole >= at_a_time(costs) || pieces < costs->multiprocessors;
}

/* The schedule that deals all but the first `whole` tiles to so many pieces; the other one if that takes no longer. */
static tb_simt_schedule deal(const costs *costs, int64_t whole, int64_t pieces, int cluster,
                             tb_simt_schedule other)
{
    tb_simt_schedule dealt = other;
    const int64_t pieces_most = tb_pieces_most((costs->tiles - whole) * other.steps, costs->kernel);
    dealt.whole = whole;
    dealt.pieces = cluster > 1 ? pieces : tb_smaller(pieces, pieces_most);
    dealt.cluster = cluster;
    if (dealt.pieces == 0 || dealt.pieces == costs->tiles - whole || dealt.pieces > pieces_most ||
        !spreads(costs, whole, dealt.pieces))
        return other;
    dealt.clocks = clocks_of(costs, &dealt);
    return dealt.clocks < other.clocks ? dealt : other;
}

/* Each of the tiles behind the first `whole` is cut into the same number of pieces, so that no block has parts of two: into
 * what fills the room, or into one for each multiprocessor, or into a few. */
static tb_simt_schedule deal_evenly(const costs *costs, int64_t whole, int64_t room, tb_simt_schedule best)
{
    const int multiprocessors = costs->multiprocessors;
    const int64_t rest = costs->tiles - whole;
    if (rest <= room / 2)
        best = deal(costs, whole, room / rest * rest, 1, best);
    if (rest <= multiprocessors / 2 && room > multiprocessors)
        best = deal(costs, whole, multiprocessors / rest * rest, 1, best);
    const int64_t parts_most = tb_smaller(tb_pieces_most(best.steps, costs->kernel), TB_PARTS_MOST);
    for (int parts = 2; parts <= parts_most && rest * parts <= room; parts++)
        best = deal(costs, whole, rest * parts, 1, best);
    return best;
}

/* The same, each tile's pieces a cluster. Whole waves fit in pairs. */
static tb_simt_schedule deal_to_clusters(const costs *costs, int64_t whole, int64_t room,
                                         tb_simt_schedule best)
{
    const int64_t rest = costs->tiles - whole;
    for (int cluster = 2; costs->clusters && cluster <= TB_CLUSTER_BLOCKS_MAXIMUM; cluster++) {
        if (whole > 0 && (cluster > 2 || whole % 2 != 0))
            break;
        if (rest <= tb_smaller(room / cluster, most_clusters(costs, cluster)))
            best = deal(costs, whole, rest * cluster, cluster, best);
    }
    return best;
}

tb_masked_tiles tb_simt_tiles_of(const tb_kernel *kernel, const tb_product *product)
{
    return tb_masked_tiles_of(product, kernel->tile_m, kernel->tile_n, TB_SIMT_GROUP);
}

tb_tile_order tb_simt_order_of(const tb_kernel *kernel, const tb_simt_schedule *schedule,
                               const tb_product *product, tb_target target)
{
    const int32_t zeros = target.architecture >= TB_SIMT_ZEROS_FIRST ? tb_zeros_of(product) : 0;
    return tb_order_tiles(zeros, schedule->tiles_m, schedule->tiles_n, TB_SIMT_GROUP,
                          (int64_t)target.multiprocessors * kernel->blocks);
}

/* Where steps are left out, every tile has a block, and blocks take them in turn, the longest first: what all take together, but
 * the longest one at least. */
static tb_simt_schedule plan_with_zeros(const costs *costs, double share, tb_simt_schedule own)
{
    const double steps = (double)own.steps, tiles = (double)own.tiles;
    const int64_t sharing = tb_smaller(costs->blocks, tb_ceil_div(own.tiles, costs->multiprocessors));
    own.clocks = fmax(round_clocks(costs, 1, steps, 1), tiles / costs->multiprocessors / (double)sharing *
                                                            round_clocks(costs, sharing, share * steps, 1));
    own.clocks = fmax(own.clocks, costs->reading);
    return own;
}

/* Either every tile has a block of its own; or the tiles behind the whole waves, or those of the last wave too, are dealt evenly
 * to as many blocks as run at a time; or each of those behind the whole waves to the same number of blocks. Or every
 * multiprocessor has fewer whole tiles than it has room for, and pieces beside them. */
static tb_simt_schedule plan(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    tb_simt_schedule best = {.tiles_m = tb_ceil_div(product->m, kernel->tile_m),
                             .tiles_n = tb_ceil_div(product->n, kernel->tile_n),
                             .tiles = tb_simt_tiles_of(kernel, product).count * tb_members_of(product),
                             .cluster = 1};
    const int64_t tiles = best.tiles;
    const int multiprocessors = target.multiprocessors;
    const costs costs = costs_of(kernel, product, tiles, target);
    best.steps = product->k > 0 ? tb_ceil_div(product->k, kernel->tile_k) : 1;
    best.whole = tiles;
    const tb_tile_order order = tb_simt_order_of(kernel, &best, product, target);
    if (order.zeros && tiles > 0)
        return plan_with_zeros(&costs, tb_needed_share(&order), best);
    best.clocks = clocks_of(&costs, &best);

    const int64_t wave = at_a_time(&costs);
    if (tiles == 0 || tiles % wave == 0)
        return best;
    const int64_t whole = tiles / wave * wave;
    best = deal(&costs, whole, wave, 1, best);
    if (whole > 0)
        best = deal(&costs, whole - wave, wave, 1, best);
    best = deal_evenly(&costs, whole, wave, best);
    best = deal_to_clusters(&costs, whole, wave, best);
    const int64_t rounds = tiles / multiprocessors * multiprocessors;
    if (rounds == whole || rounds == tiles)
        return best;
    /* In the first wave there are fewer pieces than multiprocessors: see spreads. */
    best = deal(&costs, rounds, rounds < wave ? multiprocessors - 1 : multiprocessors, 1, best);
    best = deal_evenly(&costs, rounds, whole + wave - rounds, best);
    return deal_to_clusters(&costs, rounds, whole + wave - rounds, best);
}

void tb_simt_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                     tb_schedule *schedule)
{
    const tb_simt_schedule own = plan(kernel, product, target);
    schedule->clocks = START_CLOCKS + own.clocks * (tb_is_batch(product) ? 1 : kernel->by_itself);
    schedule->workspace = own.cluster > 1 ? 0 : 2 * (size_t)own.pieces * (size_t)tb_tile_bytes(kernel);
    TB_SET_DEAL(schedule, tb_simt_schedule, own);
}
