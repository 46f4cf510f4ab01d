/* panels_qr: what a column of GEQRF's panels costs, in each form that a device runs: one block, clusters, and a grid. Prints for each the
 * microseconds of a panel of 32 columns, with V and T, and those of one of its columns, which is a 31st of what 32 take longer than one
 * does; and the largest error in units of what roundings may come to (tests/emulated/geqrf_reference.h).
 *
 *   bench/panels_qr
 *
 * Launches follow each other, each with what the one before has left. Ends with 1 where a result is wrong.
 */
#include "kernels/panels/geqrf.h"
#include "kernels/panels/launch_geqrf.h"
#include "lib/device/code.h"
#include "tests/emulated/geqrf_reference.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

enum { COLUMNS = TB_GEQRF_COLUMNS, LAUNCHES = 100 };

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
    tb_geqrf_results results; /* v: of the panel that is measured */
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

static bool factor(const bench *bench, tb_geqrf_shape shape, const tb_matrix *panel)
{
    return tb_launch_geqrf(&bench->launcher, shape, panel, &bench->results, bench->workspace) == TB_OK;
}

static double time_panel(const bench *bench, tb_geqrf_shape shape, tb_matrix panel, int64_t columns)
{
    panel.columns = columns;
    factor(bench, shape, &panel);
    MUST(cudaEventRecord(bench->begin, NULL));
    for (int i = 0; i < LAUNCHES; i++)
        factor(bench, shape, &panel);
    MUST(cudaEventRecord(bench->end, NULL));
    return seconds_between(bench);
}

static void *brought(const void *device, size_t bytes)
{
    void *const host = malloc(bytes);
    MUST(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    return host;
}

/* Of the first result. */
static finding check(const bench *bench, tb_geqrf_shape shape, const tb_matrix *panel, const void *drawn)
{
    const size_t bytes = tb_matrix_bytes(panel), number = tb_bytes_of(panel->element);
    void *const a = brought(panel->data, bytes), *const v = brought(bench->results.v, bytes),
                *const t = brought(bench->results.t, COLUMNS * COLUMNS * number),
                *const tau = brought(bench->results.tau, COLUMNS * number);
    const factored factored = {.rows = panel->rows,
                               .columns = COLUMNS,
                               .before = {panel->element, drawn, panel->ld},
                               .a = {panel->element, a, panel->ld},
                               .tau = {panel->element, tau, 1},
                               .t = {panel->element, t, COLUMNS},
                               .v = {panel->element, v, panel->ld},
                               .terms = 8 * (shape.rows_of_block / TB_GEQRF_ROWS_OF_LAYER + 1)};
    const finding found = check_factored(&factored, COLUMNS);
    free(a);
    free(v);
    free(t);
    free(tau);
    return found;
}

static void try_shape(bench *bench, tb_geqrf_shape shape, const tb_matrix *panel, const void *drawn)
{
    static const char *const forms[] = {"", "alone", "cluster", "grid"};
    if (shape.form == TB_GEQRF_NONE || !shape.on_chip)
        return;
    MUST(cudaMemcpy(panel->data, drawn, tb_matrix_bytes(panel), cudaMemcpyHostToDevice));
    MUST(cudaMemset(bench->workspace, 0, tb_geqrf_workspace(panel->element)));
    printf("%c %6lld  %-7s %3d x %4d rows, %6d bytes: ", panel->element == TB_FP64 ? 'd' : 's',
           (long long)panel->rows, forms[shape.form], shape.blocks, shape.rows_of_block, shape.shared_bytes);
    fflush(stdout);
    if (!factor(bench, shape, panel)) {
        printf("not launched: %s\n", cudaGetErrorString(cudaGetLastError()));
        return;
    }
    MUST(cudaDeviceSynchronize());
    const finding found = check(bench, shape, panel, drawn);
    const double one = time_panel(bench, shape, *panel, 1), all = time_panel(bench, shape, *panel, COLUMNS);
    printf("%8.2f us, %6.3f a column, %s off by %.2Lg of what is allowed%s\n", all * 1e6,
           (all - one) / (COLUMNS - 1) * 1e6, found.what, found.worst, found.worst <= 1 ? "" : ": WRONG");
    bench->good = bench->good && found.worst <= 1;
}

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

static void try_rows(bench *bench, tb_element element, int64_t rows)
{
    tb_matrix panel = {.rows = rows, .columns = COLUMNS, .ld = rows, .element = element};
    const size_t bytes = tb_matrix_bytes(&panel);
    const int architecture = bench->launcher.target.architecture;
    void *const drawn = malloc(bytes);
    for (int64_t i = 0; i < rows * COLUMNS; i++)
        if (element == TB_FP64)
            ((double *)drawn)[i] = uniform();
        else
            ((float *)drawn)[i] = (float)uniform();
    MUST(cudaMalloc(&panel.data, bytes));
    MUST(cudaMalloc(&bench->results.v, bytes));
    bench->results.ld_of_v = rows;
    try_shape(bench, tb_shape_geqrf(TB_GEQRF_ALONE, element, architecture, rows, 1), &panel, drawn);
    for (int blocks = 4; blocks <= TB_GEQRF_GRID_MAXIMUM && blocks <= bench->launcher.target.multiprocessors;
         blocks *= 2)
        try_shape(bench, tb_shape_geqrf(TB_GEQRF_GRID, element, architecture, rows, blocks), &panel, drawn);
    for (int blocks = 2; blocks <= TB_GEQRF_CLUSTER_MAXIMUM; blocks *= 2)
        try_shape(bench, tb_shape_geqrf(TB_GEQRF_CLUSTER, element, architecture, rows, blocks), &panel,
                  drawn);
    MUST(cudaFree(bench->results.v));
    MUST(cudaFree(panel.data));
    free(drawn);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        printf("skipped: no GPU\n");
        return 77;
    }
    bench bench = {.launcher = {.target = {.architecture = 10 * device.major + device.minor,
                                           .multiprocessors = device.multiProcessorCount},
                                .launch = launch_any,
                                .launch_clusters = launch_clusters,
                                .launch_together = launch_together},
                   .results = {.ld_of_t = COLUMNS},
                   .good = true};
    MUST(cudaEventCreate(&bench.begin));
    MUST(cudaEventCreate(&bench.end));
    MUST(cudaMalloc(&bench.results.tau, COLUMNS * sizeof(double)));
    MUST(cudaMalloc(&bench.results.t, COLUMNS * COLUMNS * sizeof(double)));
    MUST(cudaMalloc(&bench.workspace, tb_geqrf_workspace(TB_FP64)));
    printf("%s\n", device.name);
    static const tb_element elements[] = {TB_FP32, TB_FP64};
    for (int i = 0; i < 2; i++)
        for (int64_t rows = 256; rows <= 16384; rows *= 2)
            try_rows(&bench, elements[i], rows);
    return bench.good ? EXIT_SUCCESS : EXIT_FAILURE;
}
