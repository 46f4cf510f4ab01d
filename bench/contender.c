#include "bench/contender.h"

#include "bench/timing.h"

#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, XT_BLOCK = 4096 };

/* What the link reaches with copies of this size is what the floor is computed from. */
#define LINK_PIECE ((size_t)64 << 20)

typedef void cblas(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                   float *, int);
typedef void fortran(const char *, const char *, const int *, const int *, const int *, const float *,
                     const float *, const int *, const float *, const int *, const float *, float *,
                     const int *);
typedef int set_option(const char *name, const char *value);

/* Operands of one product in host memory, and where a side wants them, on the device. */
static struct {
    int m, n, k;
    bool pinned;
    float *a, *b, *c;
    float *device_a, *device_b, *device_c;
} now_served;

static cblas *multiply_cblas;
static fortran *multiply_fortran;
static cublasHandle_t cublas;
static cublasXtHandle_t cublas_xt;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "streamed: %s\n", what);
    exit(1);
}

static size_t floats_of(int rows, int columns)
{
    return (size_t)rows * (size_t)columns;
}

static void cuda(cudaError_t error)
{
    require(error == cudaSuccess, cudaGetErrorString(error));
}

/* ---- The sides -------------------------------------------------------------------------------------------- */

static void open_tileblas(void)
{
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(library, "libtileblas is not there");
    multiply_cblas = (cblas *)dlsym(library, "cblas_sgemm");
    set_option *set = (set_option *)dlsym(library, "tileblas_set_option");
    require(multiply_cblas && set, "libtileblas lacks a name");
    require(set("START", "wait") == 0, "an option was refused");
}

/* Its route forced: what is measured is the route, not the choice. */
static void open_cached(void)
{
    setenv("TILEBLAS_ROUTE", "streamed", 1);
    open_tileblas();
}

/* All operands cross the link at every call. */
static void open_streamed(void)
{
    setenv("TILEBLAS_OPERAND_CACHE", "0", 1);
    open_cached();
}

static void open_one_device(void)
{
    setenv("TILEBLAS_DEVICES", "1", 1);
    open_streamed();
}

static void run_cblas(void)
{
    multiply_cblas(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, now_served.m, now_served.n, now_served.k, 1,
                   now_served.a, now_served.m, now_served.b, now_served.k, 0, now_served.c, now_served.m);
}

static void run_kernel(void)
{
    multiply_cblas(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, now_served.m, now_served.n, now_served.k, 1,
                   now_served.device_a, now_served.m, now_served.device_b, now_served.k, 0,
                   now_served.device_c, now_served.m);
}

static void open_openblas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    require(library, "libopenblas is not there");
    multiply_cblas = (cblas *)dlsym(library, "cblas_sgemm");
    require(multiply_cblas, "libopenblas has no cblas_sgemm");
}

/* NVBLAS ends the program when it finds no configuration. The file has no name, so that nothing is left behind. */
static void open_nvblas_with(const char *more)
{
    char name[64];
    int number = memfd_create("nvblas", 0);
    require(number >= 0, "no file for NVBLAS's configuration");
    dprintf(number,
            "NVBLAS_LOGFILE /dev/null\nNVBLAS_CPU_BLAS_LIB libopenblas.so.0\nNVBLAS_GPU_LIST ALL0\n%s", more);
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    setenv("NVBLAS_CONFIG_FILE", name, 1);
    void *library = dlopen("libnvblas.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libnvblas.so.13", RTLD_NOW | RTLD_LOCAL);
    require(library, "libnvblas is not there");
    multiply_fortran = (fortran *)dlsym(library, "sgemm_");
    require(multiply_fortran, "libnvblas has no sgemm_");
}

static void open_nvblas(void)
{
    open_nvblas_with("");
}

static void open_nvblas_tuned(void)
{
    open_nvblas_with("NVBLAS_AUTOPIN_MEM_ENABLED\nNVBLAS_TILE_DIM 4096\n");
}

static void run_fortran(void)
{
    const float one = 1, zero = 0;
    multiply_fortran("N", "N", &now_served.m, &now_served.n, &now_served.k, &one, now_served.a, &now_served.m,
                     now_served.b, &now_served.k, &zero, now_served.c, &now_served.m);
}

static void open_cublas(void)
{
    require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cuBLAS does not start");
}

static void copy_in(void)
{
    cuda(cudaMemcpy(now_served.device_a, now_served.a, floats_of(now_served.m, now_served.k) * sizeof(float),
                    cudaMemcpyHostToDevice));
    cuda(cudaMemcpy(now_served.device_b, now_served.b, floats_of(now_served.k, now_served.n) * sizeof(float),
                    cudaMemcpyHostToDevice));
}

static void copy_out(void)
{
    cuda(cudaMemcpy(now_served.c, now_served.device_c, floats_of(now_served.m, now_served.n) * sizeof(float),
                    cudaMemcpyDeviceToHost));
}

static void copy_run_copy(void)
{
    const float one = 1, zero = 0;
    copy_in();
    require(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, now_served.m, now_served.n, now_served.k, &one,
                        now_served.device_a, now_served.m, now_served.device_b, now_served.k, &zero,
                        now_served.device_c, now_served.m) == CUBLAS_STATUS_SUCCESS,
            "cublasSgemm failed");
    copy_out();
}

/* The operands' pages made the link's for the call, instead of copied into such. */
static void register_run_copy(void)
{
    struct {
        float *host;
        size_t bytes;
    } operands[] = {{now_served.a, floats_of(now_served.m, now_served.k) * sizeof(float)},
                    {now_served.b, floats_of(now_served.k, now_served.n) * sizeof(float)},
                    {now_served.c, floats_of(now_served.m, now_served.n) * sizeof(float)}};
    for (int i = 0; i < 3 && !now_served.pinned; i++)
        cuda(cudaHostRegister(operands[i].host, operands[i].bytes, cudaHostRegisterDefault));
    copy_run_copy();
    for (int i = 0; i < 3 && !now_served.pinned; i++)
        cuda(cudaHostUnregister(operands[i].host));
}

static void open_cublas_xt(void)
{
    int devices[] = {0};
    require(cublasXtCreate(&cublas_xt) == CUBLAS_STATUS_SUCCESS &&
                cublasXtDeviceSelect(cublas_xt, 1, devices) == CUBLAS_STATUS_SUCCESS &&
                cublasXtSetBlockDim(cublas_xt, XT_BLOCK) == CUBLAS_STATUS_SUCCESS,
            "cublasXt does not start");
}

static void run_cublas_xt(void)
{
    const float one = 1, zero = 0;
    require(cublasXtSgemm(cublas_xt, CUBLAS_OP_N, CUBLAS_OP_N, (size_t)now_served.m, (size_t)now_served.n,
                          (size_t)now_served.k, &one, now_served.a, (size_t)now_served.m, now_served.b,
                          (size_t)now_served.k, &zero, now_served.c,
                          (size_t)now_served.m) == CUBLAS_STATUS_SUCCESS,
            "cublasXtSgemm failed");
}

/* One way of the link: all that goes it goes piece by piece from one buffer to another. */
static struct way {
    void *target, *source;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
} way_in, way_out;

static struct way open_way(enum cudaMemcpyKind kind)
{
    void *pinned, *on_device;
    struct way way = {.kind = kind};
    cuda(cudaMallocHost(&pinned, LINK_PIECE));
    cuda(cudaMalloc(&on_device, LINK_PIECE));
    memset(pinned, 1, LINK_PIECE);
    way.target = kind == cudaMemcpyHostToDevice ? on_device : pinned;
    way.source = kind == cudaMemcpyHostToDevice ? pinned : on_device;
    cuda(cudaStreamCreateWithFlags(&way.stream, cudaStreamNonBlocking));
    return way;
}

static void open_link(void)
{
    way_in = open_way(cudaMemcpyHostToDevice);
    way_out = open_way(cudaMemcpyDeviceToHost);
}

static void begin_way(const struct way *way, size_t floats)
{
    const size_t bytes = floats * sizeof(float);
    for (size_t done = 0; done < bytes; done += LINK_PIECE)
        cuda(cudaMemcpyAsync(way->target, way->source, bytes - done < LINK_PIECE ? bytes - done : LINK_PIECE,
                             way->kind, way->stream));
}

static void run_link_in(void)
{
    begin_way(&way_in, floats_of(now_served.m, now_served.k) + floats_of(now_served.k, now_served.n));
    cuda(cudaStreamSynchronize(way_in.stream));
}

static void run_link_out(void)
{
    begin_way(&way_out, floats_of(now_served.m, now_served.n));
    cuda(cudaStreamSynchronize(way_out.stream));
}

/* As if nothing had to wait for anything. */
static void run_link_both(void)
{
    begin_way(&way_out, floats_of(now_served.m, now_served.n));
    run_link_in();
    cuda(cudaStreamSynchronize(way_out.stream));
}

/* Every element of both operands is another one. */
static void change_operands(void)
{
    const size_t floats[] = {floats_of(now_served.m, now_served.k), floats_of(now_served.k, now_served.n)};
    float *const operands[] = {now_served.a, now_served.b};
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < floats[i]; j++)
            operands[i][j] = -operands[i][j];
}

static const struct side {
    const char *name;
    void (*open)(void);
    void (*run)(void);
    bool wants_host, wants_device;
    void (*before)(void); /* each run, its time does not count; NULL: nothing */
} sides[] = {
    {"link_in", open_link, run_link_in, false, false, NULL},
    {"link_out", open_link, run_link_out, false, false, NULL},
    {"link_both", open_link, run_link_both, false, false, NULL},
    {"kernel", open_tileblas, run_kernel, false, true, NULL},
    {"tileblas", open_streamed, run_cblas, true, false, NULL},
    {"unchanged", open_cached, run_cblas, true, false, NULL},
    {"changed", open_cached, run_cblas, true, false, change_operands},
    {"changed-uncached", open_streamed, run_cblas, true, false, change_operands},
    {"one-device", open_one_device, run_cblas, true, false, NULL},
    {"copy-run-copy", open_cublas, copy_run_copy, true, true, NULL},
    {"registered", open_cublas, register_run_copy, true, true, NULL},
    {"cublasxt", open_cublas_xt, run_cublas_xt, true, false, NULL},
    {"nvblas", open_nvblas, run_fortran, true, false, NULL},
    {"nvblas-tuned", open_nvblas_tuned, run_fortran, true, false, NULL},
    {"openblas", open_openblas, run_cblas, true, false, NULL},
};
enum { SIDES = sizeof sides / sizeof *sides };

const char *const bench_contenders[] = {"link_in",    "link_out",      "link_both",  "kernel",
                                        "tileblas",   "unchanged",     "changed",    "changed-uncached",
                                        "one-device", "copy-run-copy", "registered", "cublasxt",
                                        "nvblas",     "nvblas-tuned",  "openblas",   NULL};

/* ---- Operands --------------------------------------------------------------------------------------------- */

/* A cheap generator: the largest matrices have a quarter of a billion elements. */
static void fill(float *matrix, size_t floats)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < floats; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        matrix[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

static float *make_host(size_t floats, bool pinned)
{
    float *matrix;
    if (pinned)
        cuda(cudaMallocHost((void **)&matrix, floats * sizeof *matrix));
    else
        matrix = malloc(floats * sizeof *matrix);
    require(matrix, "out of memory");
    fill(matrix, floats);
    return matrix;
}

/* As random as in host memory: what a kernel takes depends on it, by way of the power that it needs. */
static float *make_device(size_t floats)
{
    float *matrix, *host = make_host(floats, false);
    cuda(cudaMalloc((void **)&matrix, floats * sizeof *matrix));
    cuda(cudaMemcpy(matrix, host, floats * sizeof *matrix, cudaMemcpyHostToDevice));
    free(host);
    return matrix;
}

static void prepare(const struct side *side)
{
    const size_t a = floats_of(now_served.m, now_served.k), b = floats_of(now_served.k, now_served.n),
                 c = floats_of(now_served.m, now_served.n);
    if (side->wants_host) {
        now_served.a = make_host(a, now_served.pinned);
        now_served.b = make_host(b, now_served.pinned);
        now_served.c = make_host(c, now_served.pinned);
    }
    if (side->wants_device) {
        now_served.device_a = make_device(a);
        now_served.device_b = make_device(b);
        now_served.device_c = make_device(c);
    }
}

static void release(void)
{
    float *host[] = {now_served.a, now_served.b, now_served.c};
    float *device[] = {now_served.device_a, now_served.device_b, now_served.device_c};
    for (int i = 0; i < 3; i++) {
        if (now_served.pinned && host[i])
            cuda(cudaFreeHost(host[i]));
        else
            free(host[i]);
        if (device[i])
            cuda(cudaFree(device[i]));
    }
    now_served.a = now_served.b = now_served.c = NULL;
    now_served.device_a = now_served.device_b = now_served.device_c = NULL;
}

/* ---- Host memory ------------------------------------------------------------------------------------------ */

static bool peak_is_of_runs;

/* From here on the most that is resident is counted anew. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    peak_is_of_runs = file && fputs("5", file) >= 0;
    if (file && fclose(file) != 0)
        peak_is_of_runs = false;
}

/* Of this process, in bytes; -1 where nobody tells. field is one of /proc/self/status, its colon with it. */
static double resident(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kib = -1;
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), "%lf", &kib);
    if (file)
        fclose(file);
    return kib < 0 ? -1 : 1024 * kib;
}

/* Before the side was opened: the benchmark itself, and what it is linked to. */
static double resident_at_first;

/* What the side has added at most: beside that, and the operands where they are ordinary memory; bytes, or -1 where nobody
 * tells. */
static double peak_added(const struct side *side)
{
    const double operands = (double)floats_of(now_served.m, now_served.k) +
                            (double)floats_of(now_served.k, now_served.n) +
                            (double)floats_of(now_served.m, now_served.n);
    const double peak = resident("VmHWM:");
    if (peak < 0 || !peak_is_of_runs || now_served.pinned)
        return -1;
    return peak - resident_at_first - (side->wants_host ? (double)sizeof(float) * operands : 0);
}

int bench_serve(const char *name)
{
    const struct side *side = sides;
    while (side < sides + SIDES && strcmp(side->name, name) != 0)
        side++;
    require(side < sides + SIDES, "no such contender");
    resident_at_first = resident("VmRSS:");
    side->open();
    char line[128], memory[16];
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "prepare %d %d %d %15s", &now_served.m, &now_served.n, &now_served.k, memory) == 4) {
            now_served.pinned = strcmp(memory, "pinned") == 0;
            prepare(side);
            forget_peak();
            printf("ready\n");
        } else if (strcmp(line, "run\n") == 0) {
            if (side->before)
                side->before();
            double start = tb_seconds();
            side->run();
            printf("%.9f\n", tb_seconds() - start);
        } else {
            printf("released %.0f\n", peak_added(side));
            release();
        }
        fflush(stdout);
    }
    return 0;
}
