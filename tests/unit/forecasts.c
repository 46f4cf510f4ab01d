/* Forecasts of every row of the catalog for plain products are numbers, and launches have blocks, on chips of any architecture
 * and of few multiprocessors, whatever of their memory is known. Of batches, what a tile has beyond C's edges takes less time,
 * and what comes beside its steps takes more unless other blocks cover it. A batch whose tiles keep coming goes to a row of
 * which two blocks share a multiprocessor, so that one multiplies while the other begins or ends.
 */
#include "dispatch/schedule.h"
#include "kernels/catalog.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/schedule_simt.h"
#include "sequences/sequence.h"
#include "tests/check.h"
#include "words/members.h"

#include <math.h>

enum { PAGES = 4096 }; /* operands lie at its multiples, so that all rows take them */

static const int architectures[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120};
static const int multiprocessors[] = {1, 2, 3, 14, 132};
static const double memories[] = {0, 1e-3, 18.8, INFINITY};
static const int64_t extents[][3] = {{1, 1, 1},           {129, 65, 1},          {1024, 1024, 1024},
                                     {4, 3000000, 40},    {3000000, 4, 40},      {100, 100, 65536},
                                     {1024, 1024, 70000}, {20000, 20000, 20000}, {100000, 20, 3000}};
#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const char *current;

static tb_status note_load(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)threads, (void)shared_bytes, (void)argument;
    CHECK(blocks > 0, "%s: %lld blocks of %s, with %d multiprocessors", current, (long long)blocks,
          entry->symbol, launcher->target.multiprocessors);
    return TB_OK;
}
static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    CHECK(blocks % cluster == 0, "%s: %lld blocks in clusters of %d", current, (long long)blocks, cluster);
    return note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

static void look_at(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    static char workspace[1]; /* which nothing is written to */
    const tb_launcher launcher = {
        .target = target, .load = note_load, .launch = note_launch, .launch_clusters = note_clusters};
    const tb_schedule schedule = tb_make_schedule(kernel, product, target);
    current = kernel->name;
    CHECK(schedule.clocks >= 0 && schedule.clocks_of_a >= 0 && schedule.clocks_of_a <= schedule.clocks &&
              schedule.clocks_at_risk >= 0 && isfinite(schedule.clocks_at_risk) &&
              (isfinite(schedule.clocks) || schedule.clocks_at_risk == 0),
          "%s on %d, %d multiprocessors, memory %g, %lld x %lld x %lld: %g clocks, %g of A, %g at risk",
          kernel->name, target.architecture, target.multiprocessors, target.memory_bytes_a_clock,
          (long long)product->m, (long long)product->n, (long long)product->k, schedule.clocks,
          schedule.clocks_of_a, schedule.clocks_at_risk);
    (void)tb_launch_row(&launcher, kernel, product, &schedule, workspace);
}

static tb_product product_of(const tb_kernel *kernel, int number, bool embedded)
{
    const int64_t parts = embedded ? 2 : 1, m = extents[number][0] * parts, n = extents[number][1],
                  k = extents[number][2] * parts, ld = (m + n + k + 7) / 8 * 8;
    tb_product product = tb_gemm(kernel->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, m, n, k, 1,
                                 (void *)(intptr_t)PAGES, ld, (void *)(intptr_t)(2 * PAGES), ld, 0,
                                 (void *)(intptr_t)(3 * PAGES), ld);
    product.expanded[TB_A].embedded = embedded;
    return product;
}

static tb_product batch_of_squares(int64_t n, int64_t count)
{
    void *matrices = (void *)(uintptr_t)PAGES;
    tb_product batch = tb_gemm(TB_SGEMM, false, false, n, n, n, 1, matrices, n, matrices, n, 0, matrices, n);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&batch, role, count, n * n, NULL);
    return batch;
}

static void batches_go_to_blocks_beside_each_other(void)
{
    const tb_target h200 = {.architecture = 90, .multiprocessors = 132, .memory_bytes_a_clock = 18.8};
    static const int64_t sides[] = {384, 448, 512};
    for (int i = 0; i < COUNT(sides); i++) {
        const tb_product batch = batch_of_squares(sides[i], 1000);
        const tb_kernel *best = NULL;
        double least = INFINITY;
        for (size_t row = 0; row < tb_catalog_size; row++) {
            const tb_kernel *kernel = &tb_catalog[row];
            const double clocks =
                kernel->launch == tb_launch_simt ? tb_prepare(kernel, &batch, h200).clocks : INFINITY;
            best = clocks < least ? kernel : best;
            least = fmin(clocks, least);
        }
        CHECK(best && best->blocks > 1, "1000 products of %lld: %s", (long long)sides[i], best->name);
    }
}

/* So many products, whose C is so many of the row's tiles high and across. */
static tb_product product_of_tiles(const tb_kernel *kernel, double down, double across, int64_t k,
                                   int64_t count)
{
    void *matrices = (void *)(uintptr_t)PAGES;
    const int64_t m = (int64_t)(down * kernel->tile_m), n = (int64_t)(across * kernel->tile_n), ld = 1 << 16;
    tb_product product = tb_gemm(kernel->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, m, n, k, 1,
                                 matrices, ld, matrices, ld, 0, matrices, ld);
    for (tb_role role = TB_A; role < TB_ROLES && count > 1; role++)
        tb_spread(&product, role, count, ld * ld, NULL);
    return product;
}

/* Whether a tile has more rows than a warp, and reading its operands takes less time than multiplying them. */
static bool has_edges(const tb_kernel *kernel)
{
    return kernel->element == TB_FP64 ? kernel->tile_m >= 64 && kernel->tile_n >= 64 : kernel->tile_m >= 128;
}

/* What a tile has beyond C's edges takes a batch less time, in units of a warp's rows; and a product by itself no less, as it
 * ends with its longest tile. */
static void edges_take_batches_less_time(const tb_kernel *kernel, tb_target target)
{
    enum { K = 4096, MEMBERS = 1000, TILES = 4 };
    for (int is_batch = 0; is_batch < 2; is_batch++) {
        double clocks[3];
        for (int quarters = 0; quarters < 3; quarters++) {
            const tb_product product =
                product_of_tiles(kernel, TILES - 0.25 * quarters, TILES, K, is_batch ? MEMBERS : 1);
            clocks[quarters] = tb_prepare(kernel, &product, target).clocks;
        }
        const bool takes_less = is_batch && has_edges(kernel);
        CHECK(!takes_less || (clocks[1] > 0.99 * clocks[0] && clocks[2] < 0.93 * clocks[0]),
              "%s: a batch takes %g clocks, with edges %g and %g", kernel->name, clocks[0], clocks[1],
              clocks[2]);
        CHECK(is_batch || clocks[2] > 0.94 * clocks[0], "%s: a product takes %g clocks, with edges %g",
              kernel->name, clocks[0], clocks[2]);
    }
}

/* What comes beside the steps of a batch's tiles is covered where enough blocks share a multiprocessor; else it takes longer
 * than of one product that has as many tiles. */
static void enough_blocks_cover_a_batch(const tb_kernel *kernel, tb_target target)
{
    enum { SIDE = 4, STEPS = 16 };
    const int64_t count = target.multiprocessors, k = STEPS * kernel->tile_k;
    const tb_product batch = product_of_tiles(kernel, SIDE, SIDE, k, count),
                     one = product_of_tiles(kernel, (double)(SIDE * count), SIDE, k, 1);
    const double ratio = tb_prepare(kernel, &batch, target).clocks / tb_prepare(kernel, &one, target).clocks;
    const bool are_enough = kernel->blocks >= (kernel->element == TB_FP64 ? 3 : 2);
    CHECK(are_enough ? ratio < 1.02 : ratio > 1.05, "%s: a batch takes %g times as long as one product",
          kernel->name, ratio);
}

static void batches_are_forecast(const tb_kernel *kernel)
{
    const tb_target h200 = {.architecture = 90, .multiprocessors = 132, .memory_bytes_a_clock = 18.8};
    if (kernel->prepare != tb_dgemm_mma_prepare && kernel->prepare != tb_simt_prepare)
        return;
    edges_take_batches_less_time(kernel, h200);
    enough_blocks_cover_a_batch(kernel, h200);
}

/* A product by itself takes longer with the rows for batches, and one of a batch with none. */
static void products_by_themselves_take_longer(void)
{
    const tb_target target = {.architecture = 90, .multiprocessors = 132};
    int longer = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        tb_kernel alike = *kernel;
        alike.by_itself = 1;
        if (kernel->prepare != tb_simt_prepare)
            continue;
        for (int count = 1; count <= 300; count += 299) {
            const tb_product product = batch_of_squares(300, count);
            const double clocks = tb_prepare(kernel, &product, target).clocks,
                         as_forecast = tb_prepare(&alike, &product, target).clocks;
            const bool takes_longer = count == 1 && kernel->by_itself > 1;
            CHECK(takes_longer ? clocks > as_forecast : clocks == as_forecast,
                  "%s: %d products take %g clocks, forecast %g", kernel->name, count, clocks, as_forecast);
            longer += takes_longer;
        }
    }
    CHECK(longer > 0, "no row is for batches");
}

int main(void)
{
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        batches_are_forecast(kernel);
        for (int j = 0; j < COUNT(architectures) * COUNT(multiprocessors) * COUNT(memories); j++) {
            const tb_target target = {
                .architecture = architectures[j % COUNT(architectures)],
                .multiprocessors = multiprocessors[j / COUNT(architectures) % COUNT(multiprocessors)],
                .memory_bytes_a_clock = memories[j / COUNT(architectures) / COUNT(multiprocessors)]};
            if (!tb_kernel_runs_on(kernel, target.architecture) || kernel->in_place != TB_OUT_OF_PLACE ||
                kernel->reads != TB_READS_PLAIN)
                continue;
            for (int number = 0; number < COUNT(extents); number++)
                for (int embedded = 0; embedded <= (kernel->element == TB_FP64); embedded++) {
                    const tb_product product = product_of(kernel, number, embedded);
                    look_at(kernel, &product, target);
                }
        }
    }
    batches_go_to_blocks_beside_each_other();
    products_by_themselves_take_longer();
    return check_result();
}
