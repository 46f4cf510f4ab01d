/* How the SIMT family deals a product to blocks: whatever the shape, every step of every tile is computed exactly
 * once, no two pieces write to one slot, and the workspace holds all slots; and which blocks can cut their chains.
 */
#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/simt.h"
#include "words/members.h"
#include "words/integers.h"
#include "tests/check.h"
#include "tests/clusters_h200.h"
#include "tests/unit/products.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES = 300, SHAPES_WITH_ZEROS = 60, SHAPES_OF_LONG_K = 60 };

static const int multiprocessors[] = {132, 132, 1, 2, 33};

static tb_simt_arguments launched;
static int64_t blocks_launched;
static int launches, cluster_launched;
static int shared_launched, shared_most; /* bytes: asked for, and what the entry may ask for */
static int cut_chains;                   /* products with totals */
static int clusters;                     /* launched in all */
static int together, alternated,
    alternated_clusters; /* products with pieces whose steps follow each other, or are a tile's in turn */
static int shared_waves,
    uneven_shared_waves; /* of whole tiles and pieces; uneven ones on a device with nothing else to do */

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

/* Stands in for a device: keeps what the first launch was given. */
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher, (void)threads;
    CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%s: %d bytes of shared memory", entry->symbol,
          shared_bytes);
    if (launches++ == 0) {
        shared_launched = shared_bytes;
        shared_most = entry->dynamic_shared_bytes;
        memcpy(&launched, argument, sizeof launched);
        blocks_launched = blocks;
        cluster_launched = 1;
    }
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *from, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    CHECK(blocks % cluster == 0, "%s: %lld blocks in clusters of %d", entry->symbol, (long long)blocks,
          cluster);
    tb_status status = note_launch(from, entry, blocks, threads, shared_bytes, argument);
    cluster_launched = cluster;
    clusters++;
    return status;
}

static tb_launcher launcher = {.target = {.architecture = 90},
                               .load = note_nothing,
                               .launch = note_launch,
                               .launch_clusters = note_clusters};

/* What the second launch takes a tile's parts to be: the pieces from that of its first step to that of its last one,
 * where it looks in a slot of each, that of the beginning in the first one. */
static int64_t first_part(int64_t tile)
{
    return tb_piece_of_step(tile * launched.steps, launched.dealt, launched.pieces);
}

static int64_t last_part(int64_t tile)
{
    return tb_piece_of_step((tile + 1) * launched.steps - 1, launched.dealt, launched.pieces);
}

/* Pieces that have a tile's steps in turn: among them each step once, and they are its parts. */
static void alternating_pieces_share_tiles(const tb_kernel *kernel)
{
    const int64_t pieces = launched.alternating, tiles = launched.pieces / pieces, steps = launched.steps;
    CHECK(launched.whole == 0 && launched.pieces % pieces == 0 && launched.dealt == tiles * steps,
          "%s: %lld alternating pieces of %lld, %lld whole tiles", kernel->name, (long long)pieces,
          (long long)launched.pieces, (long long)launched.whole);
    int64_t wrong = 0;
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t dealt = 0;
        for (int64_t i = 0; i < pieces; i++) {
            const tb_simt_segment part = tb_simt_begin(&launched, tile * pieces + i);
            const int64_t last = part.first + (part.count - 1) * pieces;
            wrong += part.tile != tile || part.first != i || part.count < 1 || part.count >= steps ||
                     last >= steps || last + pieces < steps || part.left_out != 0 || part.behind != 0;
            dealt += part.count;
        }
        wrong +=
            dealt != steps || first_part(tile) != tile * pieces || last_part(tile) != (tile + 1) * pieces - 1;
    }
    CHECK(wrong == 0, "%s: %lld things are wrong of %lld tiles in %lld alternating pieces of %lld steps",
          kernel->name, (long long)wrong, (long long)tiles, (long long)pieces, (long long)steps);
    alternated++;
    alternated_clusters += launched.cluster > 1;
}

/* Walks through the pieces as the kernel does where their steps follow each other. */
static void every_step_is_dealt_once(const tb_kernel *kernel)
{
    int64_t expected = 0, wrong = 0;
    for (int64_t piece = 0; piece < launched.pieces; piece++) {
        bool left_beginning = false, missed_beginning = false; /* its slots are taken */
        tb_simt_segment part = tb_simt_begin(&launched, piece);
        while (true) {
            const int64_t tile = part.tile - launched.whole, has_beginning = part.first == 0;
            wrong += tile * launched.steps + part.first != expected || part.count < 1 ||
                     part.first + part.count > launched.steps || part.left_out != 0 || part.behind < 0 ||
                     (launched.cluster > 1 && (part.behind > 0 || piece / launched.cluster != tile));
            if (part.count < launched.steps) {
                bool *taken = has_beginning ? &left_beginning : &missed_beginning;
                wrong += *taken || piece < first_part(tile) || piece > last_part(tile) ||
                         (piece == first_part(tile)) != has_beginning;
                *taken = true;
            }
            expected += part.count;
            if (part.behind == 0)
                break;
            part = tb_simt_continue(&launched, &part);
        }
    }
    CHECK(wrong == 0, "%s: %lld things are wrong of %lld pieces of %lld steps", kernel->name,
          (long long)wrong, (long long)launched.pieces, (long long)launched.dealt);
    CHECK(expected == (launched.pieces > 0 ? launched.dealt : 0), "%s: steps are left over", kernel->name);
    together += launched.pieces > 0;
}

static void workspace_holds_slots(const tb_kernel *kernel, size_t workspace)
{
    const int64_t slots = 2 * launched.pieces;
    CHECK(launched.cluster > 1 ||
              workspace >= (size_t)slots * (size_t)(kernel->tile_m * kernel->tile_n) * sizeof(float),
          "%s: %zu bytes of workspace for %lld slots", kernel->name, workspace, (long long)slots);
}

/* Where totals leave room for all blocks, every block with a chain to cut has them. */
static void long_chains_are_cut(const tb_kernel *kernel)
{
    const int64_t stages = launched.whole > 0 ? launched.steps : tb_ceil_div(launched.dealt, launched.pieces);
    const bool is_long = stages * kernel->segment_k > TB_SIMT_CHAIN_LEAST;
    CHECK(launched.totals == (is_long && shared_most > kernel->shared_bytes), "%s: totals %d, %lld stages",
          kernel->name, launched.totals, (long long)stages);
    CHECK(shared_launched == (launched.totals ? shared_most : kernel->shared_bytes),
          "%s: %d bytes of shared memory", kernel->name, shared_launched);
    CHECK(!launched.totals || kernel->blocks * (shared_launched + 1024) <= 228 * 1024,
          "%s: totals leave no room for %d blocks", kernel->name, kernel->blocks);
    cut_chains += launched.totals;
}

/* Nothing is read, so that ld, of A and B, tells no more than whether they are aligned. */
static tb_product product_with(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                               int64_t ld, double beta)
{
    return tb_gemm(TB_SGEMM, transpose_a, transpose_b, m, n, k, 1, NULL, ld, NULL, ld, beta, NULL, 0);
}

/* Multiprocessors of other chips have less shared memory. */
static void chains_are_not_cut_everywhere(void)
{
    static const int architectures[] = {75, 80, 86, 100, 120};
    const tb_product product = product_with(false, false, 500, 500, 5000, 4, 0);
    tb_launcher other = launcher;
    for (int i = 0; i < 5; i++) {
        other.target.architecture = architectures[i];
        launches = 0;
        const tb_kernel *kernel = tb_find_kernel("sgemm_simt_32x32_4");
        const tb_schedule schedule = tb_prepare(kernel, &product, other.target);
        CHECK(tb_launch_simt(&other, kernel, &product, &schedule, NULL) == TB_OK, "not launched");
        CHECK(!launched.totals, "totals on %d", architectures[i]);
    }
}

static void a_product_is_dealt(const tb_kernel *kernel, const tb_product *given, int64_t batches)
{
    tb_product batch = *given;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&batch, role, batches, 0, NULL);
    const tb_product *product = &batch;
    const bool aligned_along_k =
        product->a.transposed && !product->b.transposed && product->a.ld % 4 == 0 && product->b.ld % 4 == 0;
    const int64_t wave = (int64_t)launcher.target.multiprocessors *
                         (aligned_along_k ? kernel->blocks_along_k : kernel->blocks);
    tb_schedule schedule;
    tb_simt_prepare(kernel, product, launcher.target, &schedule);
    launches = 0;
    CHECK(tb_launch_simt(&launcher, kernel, product, &schedule, NULL) == TB_OK, "%s: not launched",
          kernel->name);
    const int64_t tiles = product_tiles(product, kernel->tile_m, kernel->tile_n) * batches;
    CHECK((launches == 0) == (tiles == 0), "%s: %d launches for %lld tiles", kernel->name, launches,
          (long long)tiles);
    if (tiles == 0)
        return;
    CHECK(launched.masked.count * batches == tiles && launched.problem.mask == (int32_t)product->mask &&
              launched.masked.mask == launched.problem.mask && launched.problem.diagonal == product->diagonal,
          "%s: %lld tiles of %lld", kernel->name, (long long)launched.masked.count, (long long)tiles);
    CHECK(launched.tiles_m * kernel->tile_m >= product->m && launched.tiles_n * kernel->tile_n >= product->n,
          "%s: tiles do not cover C", kernel->name);
    CHECK(launched.steps >= 1 && launched.steps * kernel->tile_k >= product->k, "%s: steps do not cover k",
          kernel->name);
    CHECK(launched.pieces > 0 || launched.whole == tiles, "%s: tiles are left over", kernel->name);
    CHECK(launched.dealt == (tiles - launched.whole) * launched.steps, "%s: dealt steps", kernel->name);
    CHECK(launched.dealt * kernel->tile_k >= launched.pieces * TB_PIECE_MINIMUM_K,
          "%s: %lld pieces of %lld steps", kernel->name, (long long)launched.pieces,
          (long long)launched.dealt);
    CHECK(blocks_launched == launched.whole + launched.pieces, "%s: blocks", kernel->name);
    CHECK(launches == (launched.pieces > 0 && launched.cluster == 1 ? 2 : 1), "%s: %d launches", kernel->name,
          launches);
    CHECK(cluster_launched == launched.cluster, "%s: launched in clusters of %d, not %d", kernel->name,
          cluster_launched, launched.cluster);
    const int64_t blocks = wave / launcher.target.multiprocessors; /* of one multiprocessor */
    CHECK(launched.cluster == 1 || launched.whole > 0 || !launcher.target.clusters ||
              blocks > TB_CLUSTER_LEVELS ||
              launched.pieces / launched.cluster <= clusters_h200.at_a_time[blocks - 1][launched.cluster],
          "%s: %lld clusters of %d", kernel->name, (long long)launched.pieces / launched.cluster,
          launched.cluster);
    CHECK(launched.whole % launched.cluster == 0, "%s: a cluster has whole tiles and pieces", kernel->name);
    CHECK(launched.whole == 0 || launched.whole >= wave || launched.pieces < launcher.target.multiprocessors,
          "%s: %lld pieces share a wave with %lld whole tiles", kernel->name, (long long)launched.pieces,
          (long long)launched.whole);
    const bool shares =
        launched.whole > 0 && launched.pieces > 0 && launched.cluster == 1 && launched.whole % wave != 0;
    shared_waves += shares;
    uneven_shared_waves += shares && launched.whole < wave && launched.pieces % (tiles - launched.whole) != 0;
    long_chains_are_cut(kernel);
    const int64_t apart = (int64_t)launched.alternating * kernel->tile_k * (int64_t)sizeof(float);
    CHECK(launched.jump_a == apart * (product->a.transposed ? 1 : product->a.ld) &&
              launched.jump_b == apart * (product->b.transposed ? product->b.ld : 1),
          "%s: %lld and %lld bytes from step to step", kernel->name, (long long)launched.jump_a,
          (long long)launched.jump_b);
    const bool along_k = product->a.transposed || !product->b.transposed, vectors = product->a.ld % 4 == 0;
    CHECK(launched.ascending == !(vectors && along_k && product->k % 4 != 0), "%s: k %lld, ascending %d",
          kernel->name, (long long)product->k, launched.ascending);
    CHECK(launched.alternating == (launched.ascending && launched.whole == 0 && launched.pieces % tiles == 0
                                       ? launched.pieces / tiles
                                       : 1),
          "%s: %lld tiles, %lld of them whole, %lld pieces, %d in turn", kernel->name, (long long)tiles,
          (long long)launched.whole, (long long)launched.pieces, launched.alternating);
    if (launched.alternating > 1)
        alternating_pieces_share_tiles(kernel);
    else
        every_step_is_dealt_once(kernel);
    workspace_holds_slots(kernel, schedule.workspace);
}

/* Every tile has a block, which does the panels that the tile needs: the last one of k first, if that is among them. */
static void needed_panels_are_done(const tb_kernel *kernel, int kind, int64_t m, int64_t n)
{
    tb_product product = product_with(false, false, m, n, kind % 4 < 2 ? m : n, 4, 0);
    const double all = tb_prepare(kernel, &product, launcher.target).clocks;
    *(kind % 4 < 2 ? &product.a_nonzero : &product.b_nonzero) = kind % 2 ? TB_UPPER : TB_LOWER;
    const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
    launches = 0;
    CHECK(tb_launch_simt(&launcher, kernel, &product, &schedule, NULL) == TB_OK, "%s: not launched",
          kernel->name);
    const int64_t tiles = launched.tiles_m * launched.tiles_n;
    CHECK(launches == 1 && blocks_launched == tiles && launched.whole == tiles && launched.pieces == 0 &&
              launched.cluster == 1 && launched.order.zeros == tb_zeros_of(&product),
          "%s: %lld blocks for %lld tiles", kernel->name, (long long)blocks_launched, (long long)tiles);
    CHECK(!launched.ascending && launched.alternating == 1, "%s: ascending %d, %d in turn", kernel->name,
          launched.ascending, launched.alternating);
    int64_t wrong = 0;
    for (int64_t number = 0; number < tiles; number++) {
        const tb_needed needed =
            tb_needed_steps(launched.order.zeros, tb_locate_tile(&launched.order, (uint32_t)number),
                            kernel->tile_m, kernel->tile_n, kernel->tile_k, (int32_t)launched.steps);
        const tb_simt_segment run = tb_simt_needed(&launched, (int32_t)number);
        wrong += run.tile != number || run.behind != 0 || run.count != needed.end - needed.first ||
                 (run.first > 0 && run.left_out > 0);
        wrong += (run.first == 0) != (needed.end == launched.steps);
        if (run.count > (run.first == 0)) /* the panel behind the last one, or the first one */
            wrong += run.left_out != needed.first;
    }
    CHECK(wrong == 0, "%s: kind %d, %lld x %lld: %lld tiles have other panels than they need", kernel->name,
          kind, (long long)m, (long long)n, (long long)wrong);
    if (m > 4000 && n > 4000)
        CHECK(schedule.clocks < 0.7 * all && schedule.clocks > 0.45 * all, "%s: %g clocks, without zeros %g",
              kernel->name, schedule.clocks, all);
}

/* No int has k, nor the bytes from step to step, nor a piece's number times the steps. */
static void long_k_is_dealt(const tb_kernel *kernel, int i)
{
    static const int64_t sides[] = {1, 100, 1000, 1500, 5000};
    static const int64_t ks[] = {INT32_MAX, (INT64_C(1) << 31) + 4, (INT64_C(1) << 33) + 3};
    const int64_t side = sides[i % 5], ld = INT32_MAX - 3 + i / 4 % 2; /* aligned or not */
    const tb_product product = product_with(i % 2, i / 2 % 2, side, side / 2 + 1, ks[i % 3], ld, 0);
    launcher.target.multiprocessors = 132;
    launcher.target.clusters = i / 8 % 2 ? &clusters_h200 : NULL;
    a_product_is_dealt(kernel, &product, i % 4 == 3 ? 3 : 1);
}

static int64_t draw(int64_t most)
{
    return 1 + (int64_t)((double)rand() / RAND_MAX * (double)(rand() % 4 ? most / 8 : most - 1));
}

int main(void)
{
    srand(1);
    for (size_t row = 0; row < tb_catalog_size; row++) {
        if (tb_catalog[row].launch != tb_launch_simt)
            continue;
        for (int i = 0; i < SHAPES; i++) {
            const int64_t m = draw(8192), n = draw(8192), k = i % 7 ? draw(100000) : draw(100) - 1;
            const int64_t ld = 4 + i / 8 % 2; /* aligned or not */
            const tb_product product =
                product_masked(product_with(i / 2 % 2, i / 4 % 2, m, n, k, ld, i % 2), i / 3, draw(m + n));
            launcher.target.multiprocessors = multiprocessors[i % 5];
            launcher.target.clusters = i % 5 == 0 ? &clusters_h200 : NULL;
            a_product_is_dealt(&tb_catalog[row], &product, i % 3 ? 1 : draw(40));
        }
        for (int i = 0; i < SHAPES_OF_LONG_K; i++)
            long_k_is_dealt(&tb_catalog[row], i);
        for (int i = 0; i < SHAPES_WITH_ZEROS; i++)
            needed_panels_are_done(&tb_catalog[row], i, i < 4 ? 8000 : draw(2000), i < 4 ? 8000 : draw(2000));
    }
    chains_are_not_cut_everywhere();
    CHECK(cut_chains > 0, "no chain is cut");
    CHECK(clusters > 0, "no clusters");
    CHECK(together > 0 && alternated > alternated_clusters && alternated_clusters > 0,
          "%d products in pieces, %d in alternating ones, %d of these in clusters", together, alternated,
          alternated_clusters);
    CHECK(shared_waves > 0 && uneven_shared_waves > 0, "%d shared waves, %d uneven ones", shared_waves,
          uneven_shared_waves);
    return check_result();
}
