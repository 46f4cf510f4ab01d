/* panels: what a column of GETRF's panels costs, in each form that a device runs: one block, clusters, and a grid; and what exchanges of
 * rows cost. Prints for each the microseconds of a panel of 32 columns and those of one of its columns, which is a 31st of what 32 take
 * longer than one does; and whether factors and pivots are those that the host makes, bit by bit.
 *
 *   bench/panels
 *
 * Launches follow each other, each with what the one before has left. Ends with 1 where a result is wrong.
 */
#include "kernels/panels/getrf.h"
#include "kernels/panels/launch_getrf.h"
#include "kernels/panels/launch_laswp.h"
#include "lib/device/code.h"

#include <cuda_runtime_api.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REAL         float
#define NAME(name)   name##_of_floats
#define FMA          fmaf
#define FABS         fabsf
#define LEAST_NORMAL FLT_MIN
#include "tests/emulated/getrf_reference.h"
#undef REAL
#undef NAME
#undef FMA
#undef FABS
#undef LEAST_NORMAL
#define REAL         double
#define NAME(name)   name##_of_doubles
#define FMA          fma
#define FABS         fabs
#define LEAST_NORMAL DBL_MIN
#include "tests/emulated/getrf_reference.h"

enum { COLUMNS = TB_GETRF_COLUMNS, LAUNCHES = 100, EXCHANGED_ROWS = 8192, EXCHANGED_COLUMNS = 4096 };

extern const tb_code tb_own_code;

static void must(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
#define MUST(call) must((call), #call)

/* ---- Launches ----------------------------------------------------------------------------------------------- */

static cudaKernel_t kernel_of(tb_entry *entry)
{
    if (!entry->handle) {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        MUST(cudaLibraryLoadData(&library, tb_binary_in(&tb_own_code, entry->module->name), NULL, NULL, 0,
                                 NULL, NULL, 0));
        MUST(cudaLibraryGetKernel(&kernel, library, entry->symbol));
        entry->handle = kernel;
    }
    return (cudaKernel_t)entry->handle;
}

static tb_status start(tb_entry *entry, int64_t blocks, const cudaLaunchAttribute *attribute, int threads,
                       int shared_bytes, const void *argument)
{
    const void *kernel = (const void *)kernel_of(entry);
    void *arguments[] = {(void *)(uintptr_t)argument};
    const cudaLaunchConfig_t config = {.gridDim = {(unsigned)blocks, 1, 1},
                                       .blockDim = {(unsigned)threads, 1, 1},
                                       .dynamicSmemBytes = (size_t)shared_bytes,
                                       .attrs = (cudaLaunchAttribute *)(uintptr_t)attribute,
                                       .numAttrs = attribute != NULL};
    if (shared_bytes > 0)
        MUST(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    return cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess ? TB_OK : TB_UNSUPPORTED;
}

static tb_status launch_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                                 int threads, int shared_bytes, const void *argument)
{
    (void)launcher;
    const cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension,
                                           .val.clusterDim = {(unsigned)cluster, 1, 1}};
    MUST(cudaFuncSetAttribute((const void *)kernel_of(entry), cudaFuncAttributeNonPortableClusterSizeAllowed,
                              cluster > 8));
    return start(entry, blocks, &attribute, threads, shared_bytes, argument);
}

static tb_status launch_any(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                            int shared_bytes, const void *argument)
{
    (void)launcher;
    return start(entry, blocks, NULL, threads, shared_bytes, argument);
}

static tb_status launch_together(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                                 int shared_bytes, const void *argument)
{
    (void)launcher;
    const cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    return start(entry, blocks, &attribute, threads, shared_bytes, argument);
}

/* ---- A panel ------------------------------------------------------------------------------------------------ */

typedef struct bench {
    tb_launcher launcher;
    cudaEvent_t begin, end;
    int32_t *pivots;
    int64_t *info;
    void *workspace;
    bool good;
} bench;

static double seconds_between(const bench *bench)
{
    float milliseconds;
    MUST(cudaEventSynchronize(bench->end));
    MUST(cudaEventElapsedTime(&milliseconds, bench->begin, bench->end));
    return (double)milliseconds / 1e3 / LAUNCHES;
}

static bool factor(const bench *bench, tb_getrf_shape shape, const tb_matrix *panel)
{
    return tb_launch_getrf(&bench->launcher, shape, panel, 0, bench->pivots, bench->info, bench->workspace) ==
           TB_OK;
}

static double time_panel(const bench *bench, tb_getrf_shape shape, tb_matrix panel, int64_t columns)
{
    panel.columns = columns;
    factor(bench, shape, &panel);
    MUST(cudaEventRecord(bench->begin, NULL));
    for (int i = 0; i < LAUNCHES; i++)
        factor(bench, shape, &panel);
    MUST(cudaEventRecord(bench->end, NULL));
    return seconds_between(bench);
}

static bool is_double(const tb_matrix *panel)
{
    return tb_real_of(panel->element) == TB_FP64;
}

static int parts_of(const tb_matrix *panel)
{
    return tb_is_complex(panel->element) ? 2 : 1;
}

/* How many bytes of the first result are not the host's. */
static long differences(const bench *bench, const tb_matrix *panel, const void *drawn)
{
    const size_t bytes = tb_matrix_bytes(panel);
    const int rows = (int)panel->rows, columns = (int)panel->columns, parts = parts_of(panel);
    char *const expected = malloc(bytes), *const found = malloc(bytes);
    int wanted[COLUMNS];
    int32_t pivots[COLUMNS];
    long different = 0;
    memcpy(expected, drawn, bytes);
    if (is_double(panel))
        (void)reference_of_doubles((double *)expected, panel->ld, rows, columns, parts, wanted);
    else
        (void)reference_of_floats((float *)expected, panel->ld, rows, columns, parts, wanted);
    MUST(cudaMemcpy(found, panel->data, bytes, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(pivots, bench->pivots, sizeof pivots, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++)
        different += found[i] != expected[i];
    for (int i = 0; i < columns; i++)
        different += pivots[i] != wanted[i] + 1;
    free(expected);
    free(found);
    return different;
}

static void try_shape(bench *bench, tb_getrf_shape shape, const tb_matrix *panel, const void *drawn)
{
    static const char *const forms[] = {"", "alone", "cluster", "grid"};
    static const char letters[TB_ELEMENTS] = {
        [TB_FP32] = 's', [TB_FP64] = 'd', [TB_COMPLEX_FP32] = 'c', [TB_COMPLEX_FP64] = 'z'};
    if (shape.form == TB_GETRF_NONE)
        return;
    MUST(cudaMemcpy(panel->data, drawn, tb_matrix_bytes(panel), cudaMemcpyHostToDevice));
    MUST(cudaMemset(bench->workspace, 0, tb_getrf_workspace(panel->element)));
    printf("%c %6lld  %-7s %3d x %4d rows, %2d columns, %3d threads, %6d bytes: ", letters[panel->element],
           (long long)panel->rows, forms[shape.form], shape.blocks, shape.rows_of_block, (int)panel->columns,
           shape.threads, shape.shared_bytes);
    if (!factor(bench, shape, panel)) {
        printf("not launched: %s\n", cudaGetErrorString(cudaGetLastError()));
        return;
    }
    MUST(cudaDeviceSynchronize());
    const long different = differences(bench, panel, drawn);
    const double one = time_panel(bench, shape, *panel, 1),
                 all = time_panel(bench, shape, *panel, panel->columns);
    printf("%8.2f us, %6.3f a column, %s\n", all * 1e6, (all - one) / (double)(panel->columns - 1) * 1e6,
           different == 0 ? "as the host's" : "WRONG");
    bench->good = bench->good && different == 0;
}

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

static void *draw(const tb_matrix *panel)
{
    const int64_t numbers = panel->rows * panel->columns * parts_of(panel);
    void *const drawn = malloc(tb_matrix_bytes(panel));
    for (int64_t i = 0; i < numbers; i++)
        if (is_double(panel))
            ((double *)drawn)[i] = uniform();
        else
            ((float *)drawn)[i] = (float)uniform();
    return drawn;
}

static void try_clusters(bench *bench, const tb_matrix *panel, const void *drawn, int threads)
{
    const int architecture = bench->launcher.target.architecture;
    for (int blocks = 2; blocks <= TB_GETRF_CLUSTER_MAXIMUM; blocks *= 2)
        try_shape(
            bench,
            tb_shape_getrf_of(TB_GETRF_CLUSTER, panel->element, architecture, panel->rows, blocks, threads),
            panel, drawn);
}

/* In all forms, and in that which is chosen. */
static void try_panel(bench *bench, tb_element element, int64_t rows, int64_t columns)
{
    tb_matrix panel = {.rows = rows, .columns = columns, .ld = rows, .element = element};
    const tb_target target = bench->launcher.target;
    void *const drawn = draw(&panel);
    MUST(cudaMalloc(&panel.data, tb_matrix_bytes(&panel)));
    for (int threads = TB_GETRF_THREADS / 4; threads <= TB_GETRF_THREADS; threads *= 2) {
        try_shape(bench, tb_shape_getrf_of(TB_GETRF_ALONE, element, target.architecture, rows, 1, threads),
                  &panel, drawn);
        try_clusters(bench, &panel, drawn, threads);
    }
    for (int blocks = 4; blocks <= TB_GETRF_GRID_MAXIMUM && blocks <= target.multiprocessors; blocks *= 2)
        try_shape(bench, tb_shape_getrf(TB_GETRF_GRID, element, target.architecture, rows, blocks), &panel,
                  drawn);
    try_shape(bench, tb_choose_getrf(target, element, rows), &panel, drawn);
    MUST(cudaFree(panel.data));
    free(drawn);
}

/* Some whose rows are no multiple of the blocks', which a tall matrix of 40 columns has; and some that are chosen alone. */
static void try_others(bench *bench, tb_element element)
{
    static const int64_t heights[] = {33, 100, 300, 700, 1500, 3000, 7000, 12000};
    try_panel(bench, element, 5000, COLUMNS);
    try_panel(bench, element, 4968, 8);
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        tb_matrix panel = {.rows = heights[i], .columns = COLUMNS, .ld = heights[i], .element = element};
        void *const drawn = draw(&panel);
        MUST(cudaMalloc(&panel.data, tb_matrix_bytes(&panel)));
        try_shape(bench, tb_choose_getrf(bench->launcher.target, element, panel.rows), &panel, drawn);
        MUST(cudaFree(panel.data));
        free(drawn);
    }
}

/* ---- Exchanges ---------------------------------------------------------------------------------------------- */

static void time_exchanges(const bench *bench, tb_element element, int count)
{
    tb_matrix matrix = {
        .rows = EXCHANGED_ROWS, .columns = EXCHANGED_COLUMNS, .ld = EXCHANGED_ROWS, .element = element};
    int32_t *pivots, drawn[TB_LASWP_PIVOTS];
    for (int i = 0; i < count; i++)
        drawn[i] = i + rand() % (EXCHANGED_ROWS - i) + 1;
    MUST(cudaMalloc(&matrix.data, tb_matrix_bytes(&matrix)));
    MUST(cudaMalloc((void **)&pivots, sizeof drawn));
    MUST(cudaMemset(matrix.data, 0, tb_matrix_bytes(&matrix)));
    MUST(cudaMemcpy(pivots, drawn, sizeof drawn, cudaMemcpyHostToDevice));
    tb_row_exchange exchange = {
        .matrix = matrix, .first = 0, .count = count, .pivots = {pivots, 32}, .backwards = false};
    (void)tb_launch_laswp(&bench->launcher, &exchange);
    MUST(cudaEventRecord(bench->begin, NULL));
    for (int i = 0; i < LAUNCHES; i++) {
        exchange.backwards = i % 2;
        (void)tb_launch_laswp(&bench->launcher, &exchange);
    }
    MUST(cudaEventRecord(bench->end, NULL));
    printf("%c laswp, %3d pivots, %d columns: %8.2f us\n", element == TB_FP64 ? 'd' : 's', count,
           EXCHANGED_COLUMNS, seconds_between(bench) * 1e6);
    MUST(cudaFree(pivots));
    MUST(cudaFree(matrix.data));
}

int main(void)
{
    struct cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        printf("skipped: no GPU\n");
        return 77;
    }
    static const tb_clusters clusters = {.wide_at_a_time = 1}; /* an H200's */
    bench bench = {.launcher = {.target = {.architecture = 10 * device.major + device.minor,
                                           .multiprocessors = device.multiProcessorCount,
                                           .clusters = &clusters},
                                .launch = launch_any,
                                .launch_clusters = launch_clusters,
                                .launch_together = launch_together},
                   .good = true};
    MUST(cudaEventCreate(&bench.begin));
    MUST(cudaEventCreate(&bench.end));
    MUST(cudaMalloc((void **)&bench.pivots, COLUMNS * sizeof *bench.pivots));
    MUST(cudaMalloc((void **)&bench.info, sizeof *bench.info));
    MUST(cudaMemset(bench.info, 0, sizeof *bench.info));
    MUST(cudaMalloc(&bench.workspace, tb_getrf_workspace(TB_COMPLEX_FP64)));
    printf("%s\n", device.name);
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        for (int64_t rows = 64; rows <= 16384 && !tb_is_complex(element); rows *= 2)
            try_panel(&bench, element, rows, COLUMNS);
        try_others(&bench, element);
    }
    for (int i = 0; i < 2; i++)
        for (int count = 32; count <= TB_LASWP_PIVOTS; count *= 4)
            time_exchanges(&bench, i == 0 ? TB_FP32 : TB_FP64, count);
    return bench.good ? EXIT_SUCCESS : EXIT_FAILURE;
}
