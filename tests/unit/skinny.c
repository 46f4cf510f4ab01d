/* How sgemm_skinny deals a product to blocks: whatever the shape, the tiles cover C once, the pieces cover k once,
 * the kernel launched is the one for the operands' order and alignment, and the workspace holds every piece.
 */
#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "kernels/simt/launch_skinny.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES = 2000 };

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

static int64_t smallest_extent(int64_t shorts)
{
    int64_t extent = 1;
    while (extent < shorts && extent < 16)
        extent *= 2;
    return extent;
}

static void the_kernel_fits_the_operands(const tb_product *p)
{
    bool tall = p->m >= p->n, k_contiguous = tall ? p->a.transposed : !p->b.transposed;
    const float *x = tall ? p->a.data : p->b.data;
    int64_t ld = tall ? p->a.ld : p->b.ld;
    /* A row has no second line. */
    const bool alone = (tall ? p->m : p->n) == 1 && (k_contiguous || ld == 1);
    k_contiguous |= alone;
    const bool is_aligned = (uintptr_t)x % 16 == 0 && (ld % 4 == 0 || alone);
    const bool in_turn = p->k >= TB_SKINNY_SECTORS_K && launched.shorts > 1;
    const int64_t sector = in_turn ? 4 * threads_launched / 32 / launched.warps_k : 4;
    const bool is_even = (uintptr_t)x % (sizeof(float) * (size_t)sector) == 0 && (ld % sector == 0 || alone);
    const bool vector = !k_contiguous && is_aligned && (tall ? p->m : p->n) % 4 == 0;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "sgemm_skinny_%s%s_%d", k_contiguous ? "k" : "outer",
             vector ? "_vector" : "", (int)smallest_extent(tall ? p->n : p->m));
    CHECK(strcmp(symbol, wanted) == 0, "%s is launched, not %s", symbol, wanted);
    CHECK(launched.shifts == (k_contiguous && !is_even ? sector : 1), "shifts below %d", launched.shifts);
}

static int slots_before(int extent)
{
    return extent == 1 ? 4 : extent == 16 ? 16 : 32;
}

/* A block's: steps of the long operand, one used and at least one on its way, and the short operand twice. */
static int shared_floats(int extent, int architecture)
{
    const int steps = architecture < 80 ? 2 : 3, step = extent == 16 ? 128 * 32 : 256 * 16;
    const int chunk = extent < 8 ? 2048 / extent : extent < 16 || architecture >= 90 ? 256 : 128;
    const int slot = extent < 8 ? extent : extent + 4;
    return steps * step + 2 * (chunk + slots_before(extent)) * slot;
}

static void everything_is_covered_once(const tb_product *p, int architecture)
{
    const tb_skinny_arguments *a = &launched;
    const bool k_contiguous = strncmp(symbol, "sgemm_skinny_k", 14) == 0,
               vector = k_contiguous || strstr(symbol, "_vector") != NULL;
    int64_t extent = smallest_extent(a->shorts);
    int64_t rows = threads_launched / 32 / a->warps_k * TB_SKINNY_ROWS(k_contiguous, vector, extent);
    CHECK(shared_launched == 4 * shared_floats((int)extent, architecture) &&
              shared_launched <= (architecture < 80 ? 64 : 99) * 1024,
          "%d bytes of shared memory on %d", shared_launched, architecture);
    /* Steps of a lane's lines lie where all of them have the same shift, and what is that much earlier has a slot. */
    const int64_t apart = k_contiguous && extent > 1 ? threads_launched / 32 / a->warps_k : 1;
    CHECK(!k_contiguous || a->x_lane_line == 4 * apart * a->x_line, "a lane's lines are not %lld rows apart",
          (long long)(4 * apart));
    CHECK(4 * apart % a->shifts == 0 && a->shifts <= slots_before((int)extent),
          "shifts below %d, in %lld rows", a->shifts, (long long)(4 * apart));
    CHECK(a->length * a->shorts == p->m * p->n && a->length >= a->shorts, "sides %lld and %lld",
          (long long)a->length, (long long)a->shorts);
    CHECK(threads_launched == 32 * TB_SKINNY_WARPS(extent) && rows > 0 &&
              rows <= TB_SKINNY_ROWS_MAXIMUM(extent),
          "%d threads, %lld rows", threads_launched, (long long)rows);
    CHECK(a->tiles_long * rows >= a->length && (a->tiles_long - 1) * rows < a->length,
          "tiles along the rows");
    CHECK(a->tiles_short * extent >= a->shorts && (a->tiles_short - 1) * extent < a->shorts, "tiles across");
    const int64_t positions = a->k + a->shifts - 1;
    const int64_t rounds = a->pieces * a->piece_rounds + a->longer;
    CHECK(rounds * a->round_k >= positions && (rounds - 1) * a->round_k < positions, "rounds of k");
    CHECK(a->round_k == a->warps_k * TB_SKINNY_STEP_K(k_contiguous, vector, extent) &&
              TB_SKINNY_CHUNK_K(extent, architecture) % a->round_k == 0,
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
    const tb_kernel *kernel = tb_find_kernel("sgemm_skinny");
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
    const size_t bytes = schedule.workspace;
    size_t needed = (size_t)(launched.pieces * product->m * product->n) * sizeof(float);
    CHECK(bytes == (launched.pieces > launched.cluster ? needed : 0), "%zu bytes of workspace", bytes);
    const double clocks = schedule.clocks;
    double least = 4 * (double)launched.length * (double)product->k / TB_READ_BYTES_A_CLOCK / multiprocessors;
    CHECK(clocks >= least, "forecast %g clocks, reading alone takes %g", clocks, least);
}

static int64_t draw(check_random *random, int64_t most)
{
    int64_t size = check_between(random, 1, most);
    return check_between(random, 0, 2) == 0 ? size : check_between(random, 1, size);
}

int main(void)
{
    static const int architectures[] = {75, 80, 90, 120}, multiprocessors[] = {1, 14, 132};
    static float memory[64] __attribute__((aligned(128)));
    const uint64_t seed = check_seed();
    check_random random = {.state = seed};
    for (int i = 0; i < SHAPES; i++) {
        int64_t sides[] = {draw(&random, 20), draw(&random, 100000)};
        bool tall = check_between(&random, 0, 1) == 1;
        const int64_t k = check_between(&random, 0, 9) == 0 ? 0 : draw(&random, 3000000);
        const float *a = memory + (check_between(&random, 0, 1) ? check_between(&random, 0, 31) : 0),
                    *b = memory + 4 * check_between(&random, 0, 8);
        const bool transpose_a = check_between(&random, 0, 1) == 1,
                   transpose_b = check_between(&random, 0, 1) == 1;
        const int64_t ld = 3000000 + (check_between(&random, 0, 1) ? check_between(&random, 0, 33) : 0);
        const tb_product product = tb_gemm(TB_SGEMM, transpose_a, transpose_b, sides[tall], sides[!tall], k,
                                           1, a, ld, b, ld, 0, NULL, ld);
        a_product_is_dealt(&product, CHECK_PICK(&random, architectures),
                           CHECK_PICK(&random, multiprocessors));
    }
    return check_result();
}
