/* Which launch a panel becomes: of POTRF's some blocks; of GETRF's a block, a cluster of as many blocks as the device runs, or a grid whose
 * blocks run together, which needs a workspace. And what is refused before anything is launched.
 */
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "tests/check.h"
#include "tests/clusters_h200.h"

#include <string.h>

typedef struct noted {
    tb_launcher launcher;
    int launches, cluster, threads;
    bool together;
    const char *symbol;
    int64_t blocks;
    tb_getrf_panel panel;
} noted;

static tb_status note(const tb_launcher *launcher, const tb_entry *entry, int64_t blocks, int cluster,
                      bool together, const void *argument)
{
    noted *own = (noted *)(uintptr_t)launcher;
    own->launches++;
    own->cluster = cluster;
    own->together = together;
    own->symbol = entry->symbol;
    own->blocks = blocks;
    if (strstr(entry->symbol, "getrf"))
        memcpy(&own->panel, argument, sizeof own->panel);
    return TB_OK;
}

static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)shared_bytes;
    ((noted *)(uintptr_t)launcher)->threads = threads;
    return note(launcher, entry, blocks, 1, false, argument);
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    (void)shared_bytes;
    ((noted *)(uintptr_t)launcher)->threads = threads;
    return note(launcher, entry, blocks, cluster, false, argument);
}

static tb_status note_together(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                               int shared_bytes, const void *argument)
{
    (void)shared_bytes;
    ((noted *)(uintptr_t)launcher)->threads = threads;
    return note(launcher, entry, blocks, 1, true, argument);
}

static noted on(int architecture, int multiprocessors, const tb_clusters *clusters)
{
    return (noted){.launcher = {.target = {.architecture = architecture,
                                           .multiprocessors = multiprocessors,
                                           .clusters = clusters},
                                .launch = note_launch,
                                .launch_clusters = note_clusters,
                                .launch_together = note_together}};
}

/* Nothing is read where these point. */
static char memory[64];
static int64_t info;

static tb_factor block_of(tb_routine routine, int64_t rows, int64_t columns)
{
    return tb_getrf(routine, rows, columns, memory, rows, (tb_pivots){memory, 32}, NULL);
}

/* ---- Forms -------------------------------------------------------------------------------------------------- */

/* cluster: the blocks of one; 1: there is none. A workspace is needed by a grid alone. Which rows lanes have is the symbol's end. */
static void becomes(noted *device, tb_routine routine, int64_t rows, const char *symbol, int64_t blocks,
                    int cluster)
{
    const tb_factor block = block_of(routine, rows, TB_GETRF_COLUMNS);
    const bool together = strstr(symbol, "grid");
    const size_t workspace = tb_panel_workspace(routine, rows, device->launcher.target);
    const tb_status status =
        tb_launch_panel(&device->launcher, &block, 1000, &info, workspace > 0 ? memory : NULL);
    CHECK(status == TB_OK && strncmp(device->symbol, symbol, strlen(symbol)) == 0 &&
              device->blocks == blocks && device->cluster == cluster && device->together == together &&
              (workspace > 0) == together,
          "%lld rows of %s: status %d, %lld blocks of %s, clusters of %d, %zu bytes", (long long)rows,
          tb_routine_rows[routine].name, status, (long long)device->blocks, device->symbol, device->cluster,
          workspace);
    CHECK(device->panel.position == 1000 && device->panel.pivots == (int32_t *)(void *)memory &&
              device->panel.info == &info && device->panel.rows == rows &&
              device->panel.letters == (workspace > 0 ? memory : NULL),
          "%lld rows: told something else", (long long)rows);
}

/* One block has 256 rows, those of a cluster 128, as long as there are blocks; then more. */
static void forms(void)
{
    noted h200 = on(90, 132, &clusters_h200), unknown = on(90, 132, NULL), a100 = on(80, 108, NULL);
    becomes(&h200, TB_DGETRF, 1, "dgetrf_alone", 1, 1);
    becomes(&h200, TB_SGETRF, 256, "sgetrf_alone", 1, 1);
    becomes(&a100, TB_ZGETRF, 256, "zgetrf_alone", 1, 1);
    becomes(&a100, TB_DGETRF, 257, "dgetrf_grid", 2, 1);
    becomes(&a100, TB_CGETRF, 1 << 15, "cgetrf_grid", 108, 1);
    if (!tb_entry_simt_reduce.early) /* the build has no clusters */
        return;
    becomes(&h200, TB_DGETRF, 257, "dgetrf_cluster_4", 4, 4);
    becomes(&h200, TB_SGETRF, 512, "sgetrf_cluster_4", 4, 4);
    becomes(&h200, TB_ZGETRF, 700, "zgetrf_cluster_4", 8, 8);
    becomes(&h200, TB_CGETRF, 1024, "cgetrf_cluster_4", 8, 8);
    becomes(&h200, TB_DGETRF, 1025, "dgetrf_cluster_4", 16, 16);
    becomes(&h200, TB_SGETRF, 4096, "sgetrf_cluster_4", 16, 16);
    becomes(&h200, TB_SGETRF, 5000, "sgetrf_cluster_8", 16, 16);
    becomes(&h200, TB_DGETRF, 20480, "dgetrf_cluster", 16, 16);
    becomes(&h200, TB_DGETRF, 20481, "dgetrf_grid", 81, 1);
    becomes(&unknown, TB_DGETRF, 2049, "dgetrf_cluster", 8, 8);
    becomes(&unknown, TB_DGETRF, 10241, "dgetrf_grid", 41, 1);
}

static void has_threads(noted *device, tb_routine routine, int64_t rows, int threads)
{
    const tb_factor block = block_of(routine, rows, TB_GETRF_COLUMNS);
    CHECK(tb_launch_panel(&device->launcher, &block, 0, &info, NULL) == TB_OK && device->threads == threads,
          "%lld rows of %s: %d threads, not %d", (long long)rows, tb_routine_rows[routine].name,
          device->threads, threads);
}

/* No more than have rows. */
static void threads(void)
{
    noted h200 = on(90, 132, &clusters_h200);
    has_threads(&h200, TB_DGETRF, 1, 32);
    has_threads(&h200, TB_ZGETRF, 64, 64);
    has_threads(&h200, TB_SGETRF, 100, 128);
    has_threads(&h200, TB_CGETRF, 256, 256);
    if (!tb_entry_simt_reduce.early) /* the build has no clusters */
        return;
    has_threads(&h200, TB_DGETRF, 257, 96);
    has_threads(&h200, TB_ZGETRF, 700, 96);
    has_threads(&h200, TB_SGETRF, 4096, 256);
    has_threads(&h200, TB_SGETRF, 5000, 160);
    has_threads(&h200, TB_DGETRF, 8192, 256);
    has_threads(&h200, TB_SGETRF, 10000, 160);
    has_threads(&h200, TB_ZGETRF, 4000, 256);
}

/* A part of a device, or a small one. */
static void forms_of_small_devices(void)
{
    static tb_clusters clusters = {.at_a_time = {{0, 14, 7, 4, 3, 2, 2, 1, 1}}};
    noted part = on(90, 14, &clusters);
    if (!tb_entry_simt_reduce.early) /* the build has no clusters */
        return;
    becomes(&part, TB_DGETRF, 4096, "dgetrf_cluster", 8, 8);
    becomes(&part, TB_DGETRF, 10241, "dgetrf_grid", 14, 1);
    clusters.at_a_time[0][8] = 0;
    becomes(&part, TB_DGETRF, 4096, "dgetrf_cluster", 4, 4);
    memset(&clusters, 0, sizeof clusters);
    becomes(&part, TB_DGETRF, 4096, "dgetrf_grid", 14, 1);
}

/* As many as are told. */
static void the_most_rows(void)
{
    const int architectures[] = {75, 80, 90, 120};
    for (int i = 0; i < 4; i++)
        for (tb_routine routine = TB_SGETRF; routine <= TB_ZGETRF; routine++) {
            noted device = on(architectures[i], 40, NULL);
            const int64_t most = tb_panel_rows(routine, device.launcher.target);
            const tb_factor fits = block_of(routine, most, 1), larger = block_of(routine, most + 1, 1);
            CHECK(most >= 40 * TB_GETRF_THREADS &&
                      tb_launch_panel(&device.launcher, &fits, 0, &info, memory) == TB_OK &&
                      tb_launch_panel(&device.launcher, &larger, 0, &info, memory) == TB_UNSUPPORTED,
                  "sm_%d, %s: at most %lld rows", architectures[i], tb_routine_rows[routine].name,
                  (long long)most);
        }
    const tb_target target = {.architecture = 90, .multiprocessors = 132};
    CHECK(tb_panel_rows(TB_DGEMM, target) == 0 && tb_panel_workspace(TB_DGEMM, 64, target) == 0,
          "DGEMM has panels");
}

/* Of POTRF a block for the triangle, and more for what is below it, which need a workspace. */
static void panels_of_cholesky(void)
{
    static const struct {
        tb_routine routine;
        int64_t below, blocks;
    } cases[] = {{TB_DPOTRF, 0, 1},  {TB_SPOTRF, 1, 2},  {TB_DPOTRF, 64, 2},
                 {TB_DPOTRF, 65, 3}, {TB_CPOTRF, 33, 3}, {TB_ZPOTRF, 8064, 253}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int upper = 0; upper < 2; upper++) {
            noted device = on(90, 132, NULL);
            const int64_t order = tb_panel_order(cases[i].routine), all = order + cases[i].below;
            tb_factor block =
                tb_potrf(cases[i].routine, upper ? TB_UPPER : TB_LOWER, order, memory, all, &info);
            *(upper ? &block.n : &block.m) = *(upper ? &block.a.columns : &block.a.rows) = all;
            void *const workspace =
                tb_panel_workspace(cases[i].routine, all, device.launcher.target) > 0 ? memory : NULL;
            CHECK(tb_launch_panel(&device.launcher, &block, 0, &info, NULL) ==
                      (cases[i].below > 0 ? TB_UNSUPPORTED : TB_OK),
                  "%lld below, without a workspace", (long long)cases[i].below);
            CHECK(workspace && tb_launch_panel(&device.launcher, &block, 0, &info, workspace) == TB_OK &&
                      device.blocks == cases[i].blocks,
                  "%lld below: %lld blocks", (long long)cases[i].below, (long long)device.blocks);
            block.stored = upper ? TB_LOWER : TB_UPPER;
            CHECK(cases[i].below == 0 ||
                      tb_launch_panel(&device.launcher, &block, 0, &info, workspace) == TB_UNSUPPORTED,
                  "%lld on the wrong side", (long long)cases[i].below);
        }
}

/* ---- Refusals ----------------------------------------------------------------------------------------------- */

static void refuses(const char *what, tb_factor block, int64_t position, void *workspace)
{
    noted device = on(80, 108, NULL);
    CHECK(tb_launch_panel(&device.launcher, &block, position, &info, workspace) == TB_UNSUPPORTED &&
              device.launches == 0,
          "%s is not refused", what);
}

#define REFUSES(change)                                                                                      \
    do {                                                                                                     \
        tb_factor block = block_of(TB_DGETRF, 300, 20);                                                      \
        change;                                                                                              \
        refuses(#change, block, 0, memory);                                                                  \
    } while (0)

static void refused_panels(void)
{
    noted device = on(80, 108, NULL);
    const tb_factor sound = block_of(TB_DGETRF, 300, 20);
    CHECK(tb_launch_panel(&device.launcher, &sound, INT32_MAX - 300, &info, memory) == TB_OK,
          "the last rows are refused");
    refuses("a row that 32 bits do not hold", sound, INT32_MAX - 299, memory);
    refuses("a row before the matrix", sound, -1, memory);
    refuses("no workspace", sound, 0, NULL);
    REFUSES(block.m = block.a.rows = block.a.ld = 0);
    REFUSES(block.m = block.a.rows = -1);
    REFUSES(block.n = block.a.columns = 0);
    REFUSES(block.n = block.a.columns = TB_GETRF_COLUMNS + 1);
    REFUSES(block.m--);
    REFUSES(block.a.columns--);
    REFUSES(block.a.ld--);
    REFUSES(block.a.element = TB_FP32);
    REFUSES(block.pivots.data = NULL);
    REFUSES(block.pivots.bits = 64);
    REFUSES(block.pivots.bits = 0);
    REFUSES(block.routine = TB_DPOTRF);
    REFUSES(block.routine = TB_DGEMM);
    REFUSES(block.routine = TB_ROUTINES);
}

static tb_factor qr_of(int64_t rows, int64_t columns)
{
    tb_factor block = tb_geqrf(TB_DGEQRF, rows, columns, memory, rows, memory, NULL);
    block.reflectors =
        (tb_reflectors){.tau = memory, .t = memory, .v = memory, .ld_of_t = columns, .ld_of_v = rows};
    return block;
}

#define REFUSES_QR(change)                                                                                   \
    do {                                                                                                     \
        tb_factor block = qr_of(300, 20);                                                                    \
        change;                                                                                              \
        refuses(#change, block, 0, memory);                                                                  \
    } while (0)

/* Of QR a block, a cluster or a grid, too, which alone needs a workspace. */
static void panels_of_qr(void)
{
    noted a100 = on(80, 108, NULL);
    const tb_factor alone = qr_of(256, 32), grid = qr_of(20000, 32);
    const size_t workspace = tb_panel_workspace(TB_DGEQRF, 20000, a100.launcher.target);
    CHECK(tb_panel_workspace(TB_DGEQRF, 256, a100.launcher.target) == 0 && workspace > TB_PANEL_CLEARED_BYTES,
          "%zu bytes of a grid", workspace);
    CHECK(tb_launch_panel(&a100.launcher, &alone, 0, &info, NULL) == TB_OK && !a100.together &&
              strcmp(a100.symbol, "dgeqrf_alone") == 0,
          "a block is %s", a100.symbol);
    CHECK(tb_launch_panel(&a100.launcher, &grid, 0, &info, memory) == TB_OK && a100.together &&
              strcmp(a100.symbol, "dgeqrf_grid") == 0,
          "a grid is %s", a100.symbol);
    refuses("no workspace", grid, 0, NULL);
    refuses("a row before the matrix", alone, -1, memory);
    REFUSES_QR(block.n = block.a.columns = block.reflectors.ld_of_t = tb_panel_order(TB_DGEQRF) + 1);
    REFUSES_QR(block.m = block.a.rows = 19);
    REFUSES_QR(block.reflectors.tau = NULL);
    REFUSES_QR(block.reflectors.t = NULL);
    REFUSES_QR(block.reflectors.v = NULL);
    REFUSES_QR(block.reflectors.ld_of_t--);
    REFUSES_QR(block.reflectors.ld_of_v--);
    REFUSES_QR(block.a.element = TB_FP32);
}

/* ---- Exchanges ---------------------------------------------------------------------------------------------- */

static tb_row_exchange make_exchange(void)
{
    return (tb_row_exchange){
        .matrix = {.data = memory, .rows = 2000, .columns = 50, .ld = 2000, .element = TB_FP32},
        .first = 500,
        .count = 1500,
        .pivots = {memory, 32}};
}

#define REFUSES_EXCHANGE(change)                                                                             \
    do {                                                                                                     \
        noted device = on(90, 132, NULL);                                                                    \
        tb_row_exchange exchange = make_exchange();                                                          \
        change;                                                                                              \
        CHECK(!tb_is_row_exchange(&exchange) &&                                                              \
                  tb_launch_laswp(&device.launcher, &exchange) == TB_UNSUPPORTED && device.launches == 0,    \
              "%s is not refused", #change);                                                                 \
    } while (0)

static void exchanges(void)
{
    noted device = on(90, 132, NULL);
    tb_row_exchange exchange = make_exchange();
    CHECK(tb_launch_laswp(&device.launcher, &exchange) == TB_OK && device.launches == 3 &&
              strcmp(device.symbol, "slaswp") == 0,
          "%d launches", device.launches);
    exchange.matrix.columns = 0;
    CHECK(tb_launch_laswp(&device.launcher, &exchange) == TB_OK && device.launches == 3, "of no columns");
    REFUSES_EXCHANGE(exchange.count++);
    REFUSES_EXCHANGE(exchange.count = -1);
    REFUSES_EXCHANGE(exchange.count = INT64_MAX);
    REFUSES_EXCHANGE(exchange.first++);
    REFUSES_EXCHANGE(exchange.first = -1);
    REFUSES_EXCHANGE(exchange.matrix.rows = -1);
    REFUSES_EXCHANGE(exchange.matrix.rows = exchange.matrix.ld = INT64_C(1) << 31);
    REFUSES_EXCHANGE(exchange.matrix.columns = -1);
    REFUSES_EXCHANGE(exchange.matrix.ld--);
    REFUSES_EXCHANGE(exchange.matrix.element = TB_ELEMENTS);
    REFUSES_EXCHANGE(exchange.pivots.data = NULL);
    REFUSES_EXCHANGE(exchange.pivots.bits = 64);
    REFUSES_EXCHANGE((exchange.has_panel = true, exchange.count = 33, exchange.panel = 0));
    REFUSES_EXCHANGE((exchange.has_panel = true, exchange.count = 32, exchange.panel = 19));
    REFUSES_EXCHANGE((exchange.has_panel = true, exchange.count = 32, exchange.panel = -1));
    REFUSES_EXCHANGE((exchange.has_panel = exchange.backwards = true, exchange.count = 32));
}

int main(void)
{
    forms();
    threads();
    forms_of_small_devices();
    the_most_rows();
    refused_panels();
    panels_of_cholesky();
    panels_of_qr();
    exchanges();
    return check_result();
}
