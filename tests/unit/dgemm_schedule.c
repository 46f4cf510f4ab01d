/* How dgemm_mma deals a product to blocks: whatever the shape, every step of every tile is in exactly one chain of one block
 * (where steps are left out that multiply zeros alone, every one that the tile needs),
 * no two pieces write to one slot, the workspace holds all slots, and 16 bytes are copied at a time where both operands allow
 * it. Blocks of a cluster have one tile between them, and nothing else. A long k of a small C is cut, of a large one it is not;
 * alpha changes nothing in that. Where a triangle's diagonal comes first, its steps are chains by themselves. Forecasts: chains
 * take time, few tiles are dealt to many blocks, and copies of 8 bytes are no faster than those of 16. Every row's ring fits
 * into the shared memory of 8.0.
 */
#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/simt/simt.h"
#include "kernels/zeros.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES = 2000, SHAPES_WITH_ZEROS = 200, BLOCKS_WALKED = 3, SHARED_BYTES_OF_80 = 163 * 1024 };

static tb_dgemm_arguments launched;
static const char *symbol;
static int64_t blocks_launched, reduce_blocks;
static int launches;
static int with_clusters;    /* products */
static int alternated;       /* products whose tiles' pieces have steps in turn */
static int cluster_launched; /* blocks of a cluster; 0: no clusters */
static int cut_beside_c;     /* products in chains, where C is to be added and would hold the totals */

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher, (void)threads;
    CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%s: %d bytes of shared memory", entry->symbol,
          shared_bytes);
    if (launches++ == 0) {
        memcpy(&launched, argument, sizeof launched);
        blocks_launched = blocks;
        symbol = entry->symbol;
    } else {
        CHECK(entry == &tb_entry_dgemm_mma_reduce, "%s comes second", entry->symbol);
        memcpy(&launched, argument, sizeof launched);
        reduce_blocks = blocks;
    }
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    cluster_launched = cluster;
    return note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

static const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132},
                                     .load = note_nothing,
                                     .launch = note_launch,
                                     .launch_clusters = note_clusters};

/* A block of a cluster has a part of the cluster's tile, and a single chain of it where totals would be kept in C. */
static void clusters_have_a_tile_each(const tb_kernel *kernel)
{
    CHECK(cluster_launched == (launched.cluster > 1 ? launched.cluster : 0), "%s: clusters of %d, of %d",
          kernel->name, cluster_launched, launched.cluster);
    if (launched.cluster <= 1)
        return;
    with_clusters++;
    CHECK(kernel->shares_tiles && launched.whole == 0 && blocks_launched % launched.cluster == 0,
          "%s: clusters of %d, %lld blocks, %lld whole", kernel->name, launched.cluster,
          (long long)blocks_launched, (long long)launched.whole);
    CHECK(launched.chains == 1 || !kernel->chains_in_c, "%s: %d chains in clusters", kernel->name,
          launched.chains);
    for (int64_t block = 0; block < blocks_launched; block++) {
        const int64_t tile = block / launched.cluster,
                      first = tb_first_step_of_piece(block, launched.dealt, launched.pieces),
                      end = tb_first_step_of_piece(block + 1, launched.dealt, launched.pieces);
        if (first >= end || first / launched.steps != tile || (end - 1) / launched.steps != tile ||
            end - first == launched.steps)
            CHECK(false, "%s: block %lld of clusters of %d has steps %lld to %lld", kernel->name,
                  (long long)block, launched.cluster, (long long)first, (long long)end);
    }
}

/* Pieces that have a tile's steps in turn: among them each step once, and they are those in which the second launch looks. */
static void alternating_pieces_share_tiles(const tb_kernel *kernel)
{
    const int pieces = launched.alternating;
    const int64_t tiles = launched.pieces / pieces, steps = launched.steps;
    CHECK(launched.whole == 0 && launched.pieces % pieces == 0 && launched.dealt == tiles * steps,
          "%s: %d alternating pieces of %lld, %lld whole tiles", kernel->name, pieces,
          (long long)launched.pieces, (long long)launched.whole);
    int64_t wrong = 0;
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t dealt = 0;
        for (int64_t piece = tile * pieces; piece < (tile + 1) * pieces; piece++) {
            const tb_dgemm_segment part = tb_dgemm_segment_after(&launched, piece, 0);
            const int64_t last = part.run_first + (int64_t)(part.run_count - 1) * pieces;
            wrong += part.piece != piece || part.tile != tile || part.run_first != piece - tile * pieces ||
                     last >= steps || last + pieces < steps || tb_dgemm_has_tile(&launched, &part);
            dealt += part.run_count;
        }
        wrong += dealt != steps ||
                 tb_piece_of_step(tile * steps, launched.dealt, launched.pieces) != tile * pieces ||
                 tb_piece_of_step((tile + 1) * steps - 1, launched.dealt, launched.pieces) !=
                     (tile + 1) * pieces - 1;
    }
    CHECK(wrong == 0, "%s: %lld things are wrong of %lld tiles in %d alternating pieces of %lld steps",
          kernel->name, (long long)wrong, (long long)tiles, pieces, (long long)steps);
    alternated++;
}

/* Walks through the pieces as the kernel does where their steps follow each other. */
static void every_step_is_dealt_once(const tb_kernel *kernel, size_t workspace)
{
    int64_t expected = 0;
    unsigned char *slots = calloc(2 * (size_t)launched.pieces + 1, 1);
    for (int64_t piece = 0; piece < launched.pieces; piece++) {
        int64_t step = tb_first_step_of_piece(piece, launched.dealt, launched.pieces);
        const int64_t end = tb_first_step_of_piece(piece + 1, launched.dealt, launched.pieces);
        CHECK(step == expected && end > step, "%s: piece %lld has steps %lld to %lld, expected from %lld",
              kernel->name, (long long)piece, (long long)step, (long long)end, (long long)expected);
        while (step < end) {
            const int64_t within = step % launched.steps, left = launched.steps - within;
            const int64_t count = left < end - step ? left : end - step;
            const int64_t slot = tb_workspace_slot(piece, within == 0);
            CHECK(count == launched.steps || slots[slot]++ == 0, "%s: slot %lld is written twice",
                  kernel->name, (long long)slot);
            step += count;
        }
        expected = end;
    }
    CHECK(expected == launched.dealt, "%s: steps are left over", kernel->name);
    CHECK(launched.cluster > 1 || workspace == 2 * (size_t)launched.pieces *
                                                   (size_t)(kernel->tile_m * kernel->tile_n) * sizeof(double),
          "%s: %zu bytes of workspace for %lld pieces", kernel->name, workspace, (long long)launched.pieces);
    free(slots);
}

/* The chains that a block does have each of its steps once, and keep no totals in a C that is to be added. */
static void every_step_is_in_one_chain(const tb_kernel *kernel, int64_t block)
{
    const int64_t piece = block - launched.whole;
    const int64_t pieces = launched.alternating;
    const int64_t first = piece < 0    ? 0
                          : pieces > 1 ? piece / pieces * launched.steps + piece % pieces
                                       : tb_first_step_of_piece(piece, launched.dealt, launched.pieces);
    const int64_t end = piece < 0    ? launched.steps
                        : pieces > 1 ? (piece / pieces + 1) * launched.steps
                                     : tb_first_step_of_piece(piece + 1, launched.dealt, launched.pieces);
    const int64_t first_tile = piece < 0 ? block : launched.whole;
    unsigned char *done_before = calloc((size_t)(end - first), 1);
    int32_t done = 0;
    for (;;) {
        const tb_dgemm_segment part = tb_dgemm_segment_after(&launched, block, done);
        if (part.count == 0)
            break;
        CHECK(part.chain < part.chains && part.chains <= launched.chains && part.count > 0, "chain %d of %d",
              part.chain, part.chains);
        CHECK(part.chains == 1 || !kernel->chains_in_c || launched.problem.beta == 0 ||
                  !tb_dgemm_has_tile(&launched, &part),
              "%s: %d chains where beta is %g", kernel->name, part.chains, launched.problem.beta);
        for (int32_t i = 0; i < part.count; i++) {
            const int64_t step = part.first + (int64_t)i * launched.apart;
            const int64_t place = (part.tile - first_tile) * launched.steps + step - first;
            if (step >= launched.steps || place < 0 || place >= end - first || place % pieces > 0 ||
                done_before[place]++ > 0)
                CHECK(false, "%s: block %lld does step %lld of tile %lld, beyond its own or again",
                      kernel->name, (long long)block, (long long)step, (long long)part.tile);
        }
        done += part.count;
    }
    CHECK(done == tb_ceil_div(end - first, pieces), "%s: block %lld does %d steps of %lld", kernel->name,
          (long long)block, done, (long long)tb_ceil_div(end - first, pieces));
    free(done_before);
}

static tb_product product_with(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, double beta)
{
    return tb_gemm(TB_DGEMM, false, false, m, n, k, 1, NULL, lda, NULL, ldb, beta, NULL, m);
}

static void a_product_is_dealt(const tb_kernel *kernel, const tb_product *product, check_random *random)
{
    launches = cluster_launched = 0;
    reduce_blocks = 0;
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, NULL) == TB_OK, "%s: not launched",
          kernel->name);
    const int64_t tiles = product_tiles(product, kernel->tile_m, kernel->tile_n);
    CHECK((launches == 0) == (tiles == 0), "%s: %d launches for %lld tiles", kernel->name, launches,
          (long long)tiles);
    if (tiles == 0)
        return;
    CHECK(launched.masked.count == tiles && launched.masked.mask == (int32_t)product->mask &&
              launched.problem.mask == (int32_t)product->mask &&
              launched.problem.diagonal == product->diagonal,
          "%s: %lld tiles of %lld", kernel->name, (long long)launched.masked.count, (long long)tiles);
    CHECK(schedule.clocks > 0 && launched.whole + launched.pieces == blocks_launched &&
              launched.whole * launched.steps + launched.dealt == tiles * launched.steps,
          "%s: %lld blocks", kernel->name, (long long)blocks_launched);
    CHECK(launched.steps * kernel->tile_k >= product->k, "%s: %lld steps", kernel->name,
          (long long)launched.steps);
    CHECK(launched.dealt * kernel->tile_k >= launched.pieces * TB_PIECE_MINIMUM_K,
          "%s: %lld pieces of %lld steps", kernel->name, (long long)launched.pieces,
          (long long)launched.dealt);
    const bool reduces = launched.pieces > 0 && launched.cluster == 1;
    clusters_have_a_tile_each(kernel);
    CHECK(launches == (reduces ? 2 : 1) &&
              reduce_blocks * launched.reduce_lanes * 2 ==
                  (reduces ? launched.dealt / launched.steps * kernel->tile_m * kernel->tile_n : 0),
          "%s: %d launches, the second of %lld blocks", kernel->name, launches, (long long)reduce_blocks);
    const bool aligned = product->a.ld % 2 == 0 && product->b.ld % 2 == 0;
    CHECK((aligned && kernel->alignment == 1) == (strstr(symbol, "_vector") != NULL),
          "%s with leading dimensions of %lld and %lld", symbol, (long long)product->a.ld,
          (long long)product->b.ld);
    const int64_t chain_k = (int64_t)launched.apart * kernel->tile_k * (int64_t)sizeof(double);
    CHECK(launched.chains >= 1 && launched.apart == launched.chains * launched.alternating &&
              launched.jump_a == chain_k * (product->a.transposed ? 1 : product->a.ld) &&
              launched.jump_b == chain_k * (product->b.transposed ? product->b.ld : 1),
          "%s: %d chains, %lld and %lld bytes from step to step", kernel->name, launched.chains,
          (long long)launched.jump_a, (long long)launched.jump_b);
    if (launched.alternating > 1)
        alternating_pieces_share_tiles(kernel);
    every_step_is_dealt_once(kernel, schedule.workspace);
    for (int i = 0; i < BLOCKS_WALKED; i++)
        every_step_is_in_one_chain(kernel, check_between(random, 0, blocks_launched - 1));
    cut_beside_c += kernel->chains_in_c && !tb_is_zero(product->beta) && launched.chains > 1;
}

/* The chains of all blocks have each step that a tile needs once; and whoever has a part of a tile alone writes to the slot from
 * which it is added up. */
static void needed_steps_are_done_once(const tb_kernel *kernel, const tb_product *product)
{
    launches = 0;
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, NULL) == TB_OK, "%s: not launched",
          kernel->name);
    const int64_t tiles = launched.order.lines * launched.order.length, steps = launched.steps,
                  slots = tb_workspace_slot(tiles * launched.tile_pieces, 0);
    CHECK(launched.order.zeros == tb_zeros_of(product) && tiles * launched.tile_pieces == blocks_launched &&
              launched.whole + launched.pieces == blocks_launched &&
              (launched.pieces == 0 || schedule.workspace >= (size_t)slots * sizeof(double) *
                                                                 (size_t)(kernel->tile_m * kernel->tile_n)),
          "%s: %lld blocks for %lld tiles in %d pieces", kernel->name, (long long)blocks_launched,
          (long long)tiles, launched.tile_pieces);
    unsigned char *times = calloc((size_t)(tiles * steps), 1), *written = calloc((size_t)slots + 1, 1);
    int64_t wrong = 0;
    for (int64_t block = 0; block < blocks_launched; block++)
        for (int32_t done = 0;;) {
            const tb_dgemm_segment part = tb_dgemm_segment_after(&launched, block, done);
            if (part.count == 0)
                break;
            const tb_needed needed = tb_dgemm_needed(&launched, part.tile);
            const bool has_all =
                part.run_first == needed.first && part.run_count == needed.end - needed.first;
            wrong += part.tile < 0 || part.tile >= tiles || tb_dgemm_has_tile(&launched, &part) != has_all ||
                     (has_all && part.chains > 1 && kernel->chains_in_c && !tb_is_zero(product->beta)) ||
                     part.chains > launched.chains + (part.run_first == needed.first ? launched.alone : 0);
            if (!has_all && part.chain == 0)
                written[tb_workspace_slot(part.piece, part.run_first == 0)]++;
            for (int32_t i = 0; i < part.count; i++)
                times[part.tile * steps + part.first + i * launched.apart]++;
            done += part.count;
        }
    for (int64_t tile = 0; tile < tiles; tile++) {
        const tb_needed needed = tb_dgemm_needed(&launched, tile);
        for (int64_t step = 0; step < steps; step++)
            wrong += times[tile * steps + step] != (step >= needed.first && step < needed.end);
        const int64_t first = tile * launched.tile_pieces,
                      parts = tb_ceil_div(needed.end - needed.first, launched.piece_steps);
        for (int64_t part = 0; part < parts && parts > 1; part++)
            wrong += written[tb_workspace_slot(first + part, part == 0 && needed.first == 0)] != 1;
    }
    CHECK(wrong == 0, "%s: %lld x %lld x %lld, zeros %d, pieces of %d steps of %lld: %lld things are wrong",
          kernel->name, (long long)product->m, (long long)product->n, (long long)product->k,
          launched.order.zeros, launched.piece_steps, (long long)steps, (long long)wrong);
    free(times);
    free(written);
}

/* op(A) or op(B) is a triangle, the lower or the upper one. Returns into how many pieces tiles are cut. */
static int a_product_with_zeros_is_dealt(const tb_kernel *kernel, int kind, check_random *random)
{
    const int64_t m = 2 * check_between(random, 1, 600), n = 2 * check_between(random, 1, 600);
    tb_product product = product_with(m, n, kind % 4 < 2 ? m : n, 10000, 10000, kind / 4 % 2);
    *(kind % 4 < 2 ? &product.a_nonzero : &product.b_nonzero) = kind % 2 ? TB_UPPER : TB_LOWER;
    needed_steps_are_done_once(kernel, &product);
    return launched.tile_pieces;
}

static int chains_of_scaled(const tb_kernel *kernel, int64_t m, int64_t n, int64_t k, double alpha)
{
    const tb_product product = tb_gemm(TB_DGEMM, false, false, m, n, k, alpha, NULL, m, NULL, k, 0, NULL, m);
    launches = cluster_launched = 0;
    reduce_blocks = 0;
    const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, &product, &schedule, NULL) == TB_OK, "%s: not launched",
          kernel->name);
    const int64_t longest =
        launched.whole > 0 ? launched.steps : (launched.dealt + launched.pieces - 1) / launched.pieces;
    return (int)(longest > 0 ? (launched.chains * (k / kernel->tile_k + 1) + longest - 1) / longest : 0);
}

static int chains_of(const tb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    return chains_of_scaled(kernel, m, n, k, 1);
}

/* Into chains and pieces together: a long k where C is small, and no k where it is large. */
static void a_long_k_is_cut(const tb_kernel *kernel)
{
    CHECK(chains_of(kernel, 1024, 1152, 200) <= 2 && chains_of(kernel, 1024, 1152, 4096) >= 3 &&
              chains_of(kernel, 1024, 1152, 16384) >= 4 && chains_of(kernel, 64, 64, 65536) >= 8,
          "%s: 200, 4096, 16384 and 65536 of k are cut into %d, %d, %d and %d", kernel->name,
          chains_of(kernel, 1024, 1152, 200), chains_of(kernel, 1024, 1152, 4096),
          chains_of(kernel, 1024, 1152, 16384), chains_of(kernel, 64, 64, 65536));
    CHECK(chains_of(kernel, 1024, 1152, 65536) >= 16, "%s: a very long k is cut into %d", kernel->name,
          chains_of(kernel, 1024, 1152, 65536));
    const int parts = chains_of(kernel, 128, 128, 131072), pieces = parts / launched.chains;
    CHECK(launched.chains == 1 || parts <= 131072 / 128 / kernel->chain_roots + pieces,
          "%s: %d pieces are cut into %d chains each", kernel->name, pieces, launched.chains);
    chains_of(kernel, 4096, 4096, 16384);
    CHECK(launched.chains == 1, "%s: %d chains of a large C", kernel->name, launched.chains);
    CHECK(chains_of_scaled(kernel, 1024, 1152, 16384, 2) == chains_of(kernel, 1024, 1152, 16384),
          "%s: alpha changes the chains", kernel->name);
}

/* The steps that have the diagonal, where it comes first along k: their sums take no others. */
static void the_diagonal_is_alone(const tb_kernel *kernel)
{
    enum { M = 700, N = 500 };
    for (int kind = 0; kind < 6; kind++) {
        const bool in_b = kind >= 2, in_pairs = kind >= 4;
        const int parts = in_pairs ? 2 : 1;
        tb_product product = product_with(M, N, in_b ? parts * N : M, M, 2 * N, 0);
        *(in_b ? &product.b_nonzero : &product.a_nonzero) = kind % 2 ? TB_UPPER : TB_LOWER;
        product.b_nonzero_pairs = in_pairs;
        const bool is_first = in_b == (kind % 2 == 0);
        needed_steps_are_done_once(kernel, &product);
        const int extent = in_b ? parts * kernel->tile_n : kernel->tile_m,
                  steps = is_first ? extent / kernel->tile_k : 0;
        CHECK(launched.alone == steps, "%s: %d steps are alone, not %d", kernel->name, launched.alone, steps);
        int together = 0;
        for (int64_t block = 0; block < blocks_launched; block++)
            for (int32_t done = 0;;) {
                const tb_dgemm_segment part = tb_dgemm_segment_after(&launched, block, done);
                if (part.count == 0)
                    break;
                const int32_t first = tb_dgemm_needed(&launched, part.tile).first;
                together += part.first < first + steps && part.count > 1 &&
                            part.run_first == first; /* a short piece may leave some to the next one */
                done += part.count;
            }
        CHECK(together == 0, "%s: %d chains have the diagonal and more", kernel->name, together);
        product.m = M + 3000000 / N; /* a large C is not cut */
        if (in_b) {
            needed_steps_are_done_once(kernel, &product);
            CHECK(launched.alone == 0, "%s: %d steps are alone", kernel->name, launched.alone);
        }
    }
}

static double forecast_of(const tb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    const tb_product product = product_with(m, n, k, 10000, 100000, 0);
    return tb_prepare(kernel, &product, launcher.target).clocks;
}

/* The same product, of which nothing but the leading dimensions is another. */
static void small_copies_are_not_forecast_faster(const tb_kernel *kernel, check_random *random)
{
    for (int i = 0; i < SHAPES_WITH_ZEROS; i++) {
        const int64_t m = check_between(random, 1, 5000), n = check_between(random, 1, i % 2 ? 5000 : 50),
                      k = check_between(random, 1, 10000);
        const tb_product by_16 = product_with(m, n, k, 10000, 10000, i / 2 % 2),
                         by_8 = product_with(m, n, k, 10001, 10001, i / 2 % 2);
        const double fast = tb_prepare(kernel, &by_16, launcher.target).clocks,
                     slow = tb_prepare(kernel, &by_8, launcher.target).clocks;
        CHECK(slow >= fast, "%s: %lld x %lld x %lld takes %g clocks by 16 bytes, %g by 8", kernel->name,
              (long long)m, (long long)n, (long long)k, fast, slow);
    }
}

/* The one of two C with as many tiles that has fewer elements is cut into chains; no more is different between them. */
static void chains_are_forecast_to_take_time(const tb_kernel *kernel)
{
    const double in_chains = forecast_of(kernel, 1732, 1732, 8192),
                 in_one = forecast_of(kernel, 1732, 1733, 8192);
    CHECK(in_chains > in_one, "%s: %g clocks in chains, %g in one", kernel->name, in_chains, in_one);
}

/* There are as many tiles as 9.0 has room for at a time: they take longer on 8.0 where its shared memory has not. */
static void blocks_without_room_wait(const tb_kernel *kernel)
{
    enum { BYTES_OF_80 = 164 << 10, BYTES_BESIDE_BLOCK = 1 << 10 };
    tb_target older = launcher.target;
    older.architecture = 80;
    const int64_t m = (int64_t)kernel->tile_m * kernel->blocks,
                  n = (int64_t)kernel->tile_n * launcher.target.multiprocessors;
    const tb_product product = product_with(m, n, 512, 10000, 100000, 0);
    const bool has_room = kernel->blocks * (kernel->shared_bytes + BYTES_BESIDE_BLOCK) <= BYTES_OF_80;
    const double here = tb_prepare(kernel, &product, launcher.target).clocks,
                 there = tb_prepare(kernel, &product, older).clocks;
    CHECK((there > here) == !has_room, "%s: %g clocks on 9.0, %g on 8.0, %s room", kernel->name, here, there,
          has_room ? "with" : "without");
}

/* What a few blocks would take long for is dealt to many, with zeros and without, and forecast so. */
static void few_tiles_are_dealt(const tb_kernel *kernel)
{
    chains_of(kernel, 64, 64, 65536);
    CHECK(launched.pieces >= 8, "%s: %lld pieces of a long k", kernel->name, (long long)launched.pieces);
    tb_product product = product_with(4096, 32, 4096, 4096, 4096, 0);
    product.a_nonzero = TB_LOWER;
    needed_steps_are_done_once(kernel, &product);
    CHECK(launched.tile_pieces > 1, "%s: few tiles of a triangle are not cut", kernel->name);
    const double whole = forecast_of(kernel, 64, 64, 4096), longer = forecast_of(kernel, 64, 64, 65536);
    CHECK(longer > whole && longer < 16 * whole, "%s: %g clocks for 4096 of k, %g for 65536", kernel->name,
          whole, longer);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    int kernels = 0, cut = 0, cut_with_zeros = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        if (tb_catalog[row].prepare != tb_dgemm_mma_prepare)
            continue;
        kernels++;
        CHECK(tb_catalog[row].shared_bytes < SHARED_BYTES_OF_80, "%s: %d bytes of shared memory",
              tb_catalog[row].name, tb_catalog[row].shared_bytes);
        a_long_k_is_cut(&tb_catalog[row]);
        the_diagonal_is_alone(&tb_catalog[row]);
        chains_are_forecast_to_take_time(&tb_catalog[row]);
        few_tiles_are_dealt(&tb_catalog[row]);
        blocks_without_room_wait(&tb_catalog[row]);
        small_copies_are_not_forecast_faster(&tb_catalog[row], &random);
        for (int i = 0; i < SHAPES; i++) {
            const int64_t m = check_between(&random, 1, i % 4 ? 800 : 9000),
                          n = check_between(&random, 1, i % 3 ? 800 : 9000),
                          k = check_between(&random, 0, i % 5 ? 5000 : 100000);
            const tb_product product =
                product_masked(product_with(m, n, k, 10000 + i % 2, 100000 + i / 2 % 2, i / 4 % 2), i,
                               check_between(&random, 0, m + n));
            a_product_is_dealt(&tb_catalog[row], &product, &random);
            cut += launched.pieces > 0;
        }
        for (int i = 0; i < SHAPES_WITH_ZEROS; i++)
            cut_with_zeros += a_product_with_zeros_is_dealt(&tb_catalog[row], i, &random) > 1;
    }
    CHECK(kernels > 0 && cut > alternated && alternated > 0 && cut_beside_c > 0 && cut_with_zeros > 0,
          "%d kernels, %d products cut, %d in turn, %d beside C, %d with zeros", kernels, cut, alternated,
          cut_beside_c, cut_with_zeros);
    return check_result();
}
