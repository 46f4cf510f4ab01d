/* How sgemm_skinny and dgemm_skinny deal a product to blocks: whatever the shape, the tiles cover C once, the pieces cover k
 * once, the kernel launched is the one for the operands' order and alignment, the workspace holds every piece, and no lane adds
 * up more doubles than chains may be long.
 */
#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/simt/launch_skinny.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 4000 };

static tb_skinny_arguments launched;
static const char *symbol;
static int64_t blocks_launched, reduced;
static int threads_launched, shared_launched, launches;
static int cluster_launched;

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

/* Stands in for a device: keeps what the launches were given. */
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher;
    memcpy(&launched, argument, sizeof launched);
    if (launches++ == 0) {
        cluster_launched = 1;
        symbol = entry->symbol;
        blocks_launched = blocks;
        threads_launched = threads;
        shared_launched = shared_bytes;
        CHECK(shared_bytes <= entry->dynamic_shared_bytes, "%s: %d bytes of shared memory", symbol,
              shared_bytes);
    } else {
        CHECK(entry->symbol[0] == symbol[0] && strstr(entry->symbol, "_skinny_reduce"), "%s comes second",
              entry->symbol);
        reduced = blocks * launched.reduce_lanes;
    }
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    CHECK(launcher->target.architecture >= 90 && cluster > 1 && cluster <= 8 && blocks % cluster == 0,
          "%lld blocks in clusters of %d", (long long)blocks, cluster);
    tb_status status = note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
    cluster_launched = cluster;
    return status;
}

static int bytes_of(const tb_product *p)
{
    return (int)tb_bytes_of(tb_element_of(p));
}

static int smallest_extent(int64_t shorts, int bytes)
{
    int extent = 1;
    while (extent < shorts && extent < (bytes == 4 ? 16 : 8))
        extent *= 2;
    return extent;
}

static void the_kernel_fits_the_operands(const tb_product *p)
{
    bool tall = p->m >= p->n, k_contiguous = tall ? p->a.transposed : !p->b.transposed;
    const void *x = tall ? p->a.data : p->b.data;
    const int bytes = bytes_of(p), width = 16 / bytes;
    int64_t ld = tall ? p->a.ld : p->b.ld;
    /* A row has no second line. */
    const bool alone = (tall ? p->m : p->n) == 1 && (k_contiguous || ld == 1);
    k_contiguous |= alone;
    const bool is_aligned = (uintptr_t)x % 16 == 0 && (ld % width == 0 || alone);
    /* What 4 lines for each warp in turn have in common, and no more than is in a line of L2. */
    const int turns = launched.shorts > 1 ? threads_launched / 32 / launched.warps_k : 1;
    const int common = 4 * turns < 128 / bytes ? 4 * turns : 128 / bytes;
    const int sector = p->k >= TB_SKINNY_SECTORS_K ? common : width;
    const bool is_even = (uintptr_t)x % (size_t)(bytes * sector) == 0 && (ld % sector == 0 || alone);
    const bool vector = !k_contiguous && is_aligned && (tall ? p->m : p->n) % width == 0;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%cgemm_skinny_%s%s_%d", bytes == 4 ? 's' : 'd',
             k_contiguous ? "k" : "outer", vector ? "_vector" : "",
             smallest_extent(tall ? p->n : p->m, bytes));
    CHECK(strcmp(symbol, wanted) == 0, "%s is launched, not %s", symbol, wanted);
    CHECK(launched.shifts == (k_contiguous && !is_even ? sector : 1), "shifts below %d", launched.shifts);
}

static int slots_before(int extent, int bytes)
{
    return extent == 1 ? 4 : extent == 16 || bytes == 8 ? 16 : 32;
}

/* A block's: steps of the long operand, one used and at least one on its way, and the short operand twice. In words: a slot of
 * doubles is as one of twice as many floats. */
static int shared_words(int extent, int bytes, int architecture)
{
    const int words = extent * bytes / 4;
    const int steps = architecture < 80 ? 2 : 3, step = words == 16 ? 128 * 32 : 256 * 16;
    const int chunk = words < 8 ? 2048 / words : words < 16 || architecture >= 90 ? 256 : 128;
    const int slot = words < 8 ? words : words + 4;
    return steps * step + 2 * (chunk + slots_before(extent, bytes)) * slot;
}

/* A double's sum in one lane is short: what is longer loses more than in kernels that cut k. */
static void chains_are_short(const tb_product *p, int lane_k)
{
    const int64_t chain = (launched.piece_rounds + (launched.longer > 0)) * (int64_t)lane_k;
    CHECK(bytes_of(p) == 4 || (double)chain <= fmax(128, 4 * sqrt((double)p->k)),
          "%lld steps in a chain of %lld", (long long)chain, (long long)p->k);
}

static void everything_is_covered_once(const tb_product *p, int architecture)
{
    const tb_skinny_arguments *a = &launched;
    const bool k_contiguous = strstr(symbol, "gemm_skinny_k") != NULL,
               vector = k_contiguous || strstr(symbol, "_vector") != NULL;
    const int bytes = bytes_of(p), extent = smallest_extent(a->shorts, bytes);
    int64_t rows = threads_launched / 32 / a->warps_k * TB_SKINNY_ROWS(bytes, k_contiguous, vector, extent);
    chains_are_short(p, TB_SKINNY_LANE_K(bytes, k_contiguous, vector, extent));
    CHECK(shared_launched == 4 * shared_words(extent, bytes, architecture) &&
              shared_launched <= (architecture < 80 ? 64 : 99) * 1024,
          "%d bytes of shared memory on %d", shared_launched, architecture);
    /* Steps of a lane's lines lie where all of them have the same shift, and what is that much earlier has a slot. */
    const int64_t apart = k_contiguous && extent > 1 ? threads_launched / 32 / a->warps_k : 1;
    CHECK(!k_contiguous || a->x_lane_line == 4 * apart * a->x_line, "a lane's lines are not %lld rows apart",
          (long long)(4 * apart));
    CHECK(4 * apart % a->shifts == 0 && a->shifts <= slots_before(extent, bytes),
          "shifts below %d, in %lld rows", a->shifts, (long long)(4 * apart));
    CHECK(a->length * a->shorts == p->m * p->n && a->length >= a->shorts, "sides %lld and %lld",
          (long long)a->length, (long long)a->shorts);
    CHECK(threads_launched == 32 * TB_SKINNY_WARPS(bytes, extent) && rows > 0 &&
              rows <= TB_SKINNY_ROWS_MAXIMUM(bytes, extent),
          "%d threads, %lld rows", threads_launched, (long long)rows);
    CHECK(a->tiles_long * rows >= a->length && (a->tiles_long - 1) * rows < a->length,
          "tiles along the rows");
    CHECK(a->tiles_short * extent >= a->shorts && (a->tiles_short - 1) * extent < a->shorts, "tiles across");
    const int64_t positions = a->k + a->shifts - 1;
    const int64_t rounds = a->pieces * a->piece_rounds + a->longer;
    CHECK(rounds * a->round_k >= positions && (rounds - 1) * a->round_k < positions, "rounds of k");
    CHECK(a->round_k == a->warps_k * TB_SKINNY_STEP_K(bytes, k_contiguous, vector, extent) &&
              TB_SKINNY_CHUNK_K(bytes, extent, architecture) % a->round_k == 0,
          "rounds of %d", a->round_k);
    CHECK(a->pieces >= 1 && (a->pieces == 1 || a->piece_rounds >= 1) && a->longer >= 0 &&
              a->longer < a->pieces,
          "%lld pieces of %d rounds, %d longer", (long long)a->pieces, a->piece_rounds, a->longer);
    CHECK(blocks_launched == a->pieces * a->tiles_long * a->tiles_short, "%lld blocks",
          (long long)blocks_launched);
    CHECK(a->cluster == cluster_launched, "clusters of %d launched as %d", a->cluster, cluster_launched);
    CHECK((a->cluster == 1 || a->cluster == a->pieces) && (a->cluster & (a->cluster - 1)) == 0,
          "clusters of %d, %lld pieces", a->cluster, (long long)a->pieces);
    CHECK(launches == (a->pieces > a->cluster ? 2 : 1), "%d launches", launches);
    CHECK(launches == 1 || reduced >= p->m * p->n, "the second pass leaves elements out");
}

static void a_product_is_dealt(const tb_product *product, int architecture, int multiprocessors)
{
    const int bytes = bytes_of(product);
    const tb_kernel *kernel = tb_find_kernel(bytes == 4 ? "sgemm_skinny" : "dgemm_skinny");
    const tb_launcher launcher = {
        .target = {.architecture = architecture, .multiprocessors = multiprocessors},
        .load = note_nothing,
        .launch = note_launch,
        .launch_clusters = note_clusters};
    launches = 0;
    const tb_schedule schedule = tb_prepare(kernel, product, launcher.target);
    CHECK(kernel->launch(&launcher, kernel, product, &schedule, NULL) == TB_OK, "not launched");
    the_kernel_fits_the_operands(product);
    everything_is_covered_once(product, architecture);
    size_t needed = (size_t)(launched.pieces * product->m * product->n) * (size_t)bytes;
    CHECK(schedule.workspace == (launched.pieces > launched.cluster ? needed : 0), "%zu bytes of workspace",
          schedule.workspace);
    CHECK(bytes == 4 ? launched.alpha == 0.5f && launched.beta == 0
                     : launched.alpha64 == 0.5 && launched.beta64 == 0,
          "alpha and beta are others");
    const double clocks = schedule.clocks;
    double least =
        bytes * (double)launched.length * (double)product->k / TB_READ_BYTES_A_CLOCK / multiprocessors;
    CHECK(clocks >= least, "forecast %g clocks, reading alone takes %g", clocks, least);
}

static int64_t draw(check_random *random, int64_t most)
{
    int64_t size = check_between(random, 1, most);
    return check_between(random, 0, 2) == 0 ? size : check_between(random, 1, size);
}

/* The long operand is read for one column in runs of several steps of a row where blocks are many: the warps of one share k. */
static void one_column_is_read_in_long_runs(void)
{
    static float memory[32] __attribute__((aligned(128)));
    static const struct {
        int64_t rows, k;
    } cases[] = {{65537, 4097}, {65536, 4096}, {65537, 1000}, {16384, 16384}, {4097, 4097}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t m = cases[i].rows, k = cases[i].k;
        const tb_product product =
            tb_gemm(TB_SGEMM, true, false, m, 1, k, 0.5, memory, k, memory, k, 0, memory, m);
        a_product_is_dealt(&product, 90, 132);
        CHECK(launched.warps_k >= 4, "%lld x 1 x %lld: %d warps along k", (long long)m, (long long)k,
              launched.warps_k);
    }
}

int main(void)
{
    static const int architectures[] = {75, 80, 90, 120}, multiprocessors[] = {1, 14, 132};
    static char memory[64 * sizeof(double)] __attribute__((aligned(128)));
    const uint64_t seed = check_seed();
    check_random random = {.state = seed};
    for (int i = 0; i < SHAPES; i++) {
        int64_t sides[] = {draw(&random, 20), draw(&random, 100000)};
        bool tall = check_between(&random, 0, 1) == 1;
        const int64_t k = check_between(&random, 0, 9) == 0 ? 0 : draw(&random, 3000000);
        const tb_routine routine = check_between(&random, 0, 1) ? TB_DGEMM : TB_SGEMM;
        const int64_t bytes = routine == TB_DGEMM ? 8 : 4;
        const char *a = memory + bytes * (check_between(&random, 0, 1) ? check_between(&random, 0, 31) : 0),
                   *b = memory + bytes * 4 * check_between(&random, 0, 8);
        const bool transpose_a = check_between(&random, 0, 1) == 1,
                   transpose_b = check_between(&random, 0, 1) == 1;
        const int64_t ld = 3000000 + (check_between(&random, 0, 1) ? check_between(&random, 0, 33) : 0);
        const tb_product product = tb_gemm(routine, transpose_a, transpose_b, sides[tall], sides[!tall], k,
                                           0.5, a, ld, b, ld, 0, NULL, ld);
        a_product_is_dealt(&product, CHECK_PICK(&random, architectures),
                           CHECK_PICK(&random, multiprocessors));
    }
    one_column_is_read_in_long_runs();
    return check_result();
}
