#include "bench/contender.h"

#include "bench/cublas_calls.h"
#include "bench/timing.h"

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { XT_BLOCK = 4096 };

/* What the link reaches with copies of this size is what the floor is computed from. */
#define LINK_PIECE ((size_t)64 << 20)

typedef int set_option(const char *name, const char *value);

static const bench_routine *routine;

/* One product, its operands in host memory, and where a side wants them, on the device: each side's data is
 * NULL where it does not. */
static struct {
    bool pinned;
    tb_product host, device;
} now_served;

static bench_function *multiply; /* the routine, as the side's library has it */
static cublasHandle_t cublas;
static cublasXtHandle_t cublas_xt;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "streamed: %s\n", what);
    exit(1);
}

static void cuda(cudaError_t error)
{
    require(error == cudaSuccess, cudaGetErrorString(error));
}

/* ---- The sides -------------------------------------------------------------------------------------------- */

/* The routine of a library, spelled with what its interface puts before and behind the name. */
static void find_routine(void *library, const char *before, const char *behind)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", before, routine->name, behind);
    multiply = (bench_function *)dlsym(library, name);
    require(multiply, "the library does not have the routine");
}

static void open_tileblas(void)
{
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(library, "libtileblas is not there");
    find_routine(library, "cblas_", "");
    set_option *set = (set_option *)dlsym(library, "tileblas_set_option");
    require(set, "libtileblas lacks a name");
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
    bench_call_cblas(multiply, routine, &now_served.host);
}

static void run_kernel(void)
{
    bench_call_cblas(multiply, routine, &now_served.device);
}

static void open_openblas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    require(library, "libopenblas is not there");
    find_routine(library, "cblas_", "");
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
    /* What NVBLAS leaves out would be found in the BLAS behind it. */
    require(routine->class != TB_CLASS_TRIANGLE, "libnvblas does not have the routine");
    find_routine(library, "", "_");
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
    bench_call_fortran(multiply, &now_served.host);
}

static void open_cublas(void)
{
    require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cuBLAS does not start");
}

static void copy_in(tb_role role)
{
    const tb_operand *host = &now_served.host.operands[role];
    if (bench_has_operand(routine, role))
        cuda(cudaMemcpy(now_served.device.operands[role].data, host->data, tb_operand_bytes(host),
                        cudaMemcpyHostToDevice));
}

static void copy_run_copy(void)
{
    copy_in(TB_A);
    copy_in(TB_B);
    require(bench_call_cublas(cublas, routine, &now_served.device) == CUBLAS_STATUS_SUCCESS, "cuBLAS failed");
    cuda(cudaMemcpy(now_served.host.c.data, now_served.device.c.data, tb_operand_bytes(&now_served.host.c),
                    cudaMemcpyDeviceToHost));
}

/* The operands' pages made the link's for the call, instead of copied into such. */
static void register_run_copy(void)
{
    const tb_operand *operands = now_served.host.operands;
    for (tb_role role = TB_A; role < TB_ROLES && !now_served.pinned; role++)
        if (bench_has_operand(routine, role))
            cuda(cudaHostRegister(operands[role].data, tb_operand_bytes(&operands[role]),
                                  cudaHostRegisterDefault));
    copy_run_copy();
    for (tb_role role = TB_A; role < TB_ROLES && !now_served.pinned; role++)
        if (bench_has_operand(routine, role))
            cuda(cudaHostUnregister(operands[role].data));
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
    require(bench_call_cublas_xt(cublas_xt, routine, &now_served.host) == CUBLAS_STATUS_SUCCESS,
            "cublasXt failed");
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

static void begin_way(const struct way *way, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += LINK_PIECE)
        cuda(cudaMemcpyAsync(way->target, way->source, bytes - done < LINK_PIECE ? bytes - done : LINK_PIECE,
                             way->kind, way->stream));
}

static void run_link_in(void)
{
    begin_way(&way_in, bench_bytes_in(routine, &now_served.host));
    cuda(cudaStreamSynchronize(way_in.stream));
}

static void run_link_out(void)
{
    begin_way(&way_out, bench_bytes_out(&now_served.host));
    cuda(cudaStreamSynchronize(way_out.stream));
}

/* As if nothing had to wait for anything. */
static void run_link_both(void)
{
    begin_way(&way_out, bench_bytes_out(&now_served.host));
    run_link_in();
    cuda(cudaStreamSynchronize(way_out.stream));
}

/* Every element of both operands is another one. */
static void change_operands(void)
{
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *operand = &now_served.host.operands[role];
        const size_t bytes = bench_has_operand(routine, role) ? tb_operand_bytes(operand) : 0;
        float *floats = operand->data;
        double *doubles = operand->data;
        if (operand->element == TB_FP64)
            for (size_t i = 0; i < bytes / sizeof *doubles; i++)
                doubles[i] = -doubles[i];
        else
            for (size_t i = 0; i < bytes / sizeof *floats; i++)
                floats[i] = -floats[i];
    }
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

static void *make_host(const tb_operand *operand, bool pinned)
{
    void *matrix;
    if (pinned)
        cuda(cudaMallocHost(&matrix, tb_operand_bytes(operand)));
    else
        matrix = malloc(tb_operand_bytes(operand));
    require(matrix, "out of memory");
    bench_fill_random(operand->element, matrix, tb_operand_bytes(operand) / tb_bytes_of(operand->element));
    return matrix;
}

/* As random as in host memory: what a kernel takes depends on it, by way of the power that it needs. */
static void *make_device(const tb_operand *operand)
{
    void *matrix, *host = make_host(operand, false);
    cuda(cudaMalloc(&matrix, tb_operand_bytes(operand)));
    cuda(cudaMemcpy(matrix, host, tb_operand_bytes(operand), cudaMemcpyHostToDevice));
    free(host);
    return matrix;
}

/* C = A B, or of rank-k routines C = A B^T: column-major, nowhere yet. */
static tb_product make_product(int m, int n, int k)
{
    return bench_product_of(routine, false, routine->class != TB_CLASS_GEMM, m, n, k, NULL, NULL, NULL);
}

static void prepare(const struct side *side)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_operand *host = &now_served.host.operands[role], *device = &now_served.device.operands[role];
        const bool is_a = !bench_has_operand(routine, role);
        if (side->wants_host)
            host->data = is_a ? now_served.host.a.data : make_host(host, now_served.pinned);
        if (side->wants_device)
            device->data = is_a ? now_served.device.a.data : make_device(device);
    }
}

static void release(void)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        void *host = now_served.host.operands[role].data, *device = now_served.device.operands[role].data;
        if (!bench_has_operand(routine, role))
            continue;
        if (now_served.pinned && host)
            cuda(cudaFreeHost(host));
        else
            free(host);
        if (device)
            cuda(cudaFree(device));
    }
    now_served.host = now_served.device = (tb_product){0};
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
    const size_t operands = bench_bytes_in(routine, &now_served.host) + tb_operand_bytes(&now_served.host.c);
    const double peak = resident("VmHWM:");
    if (peak < 0 || !peak_is_of_runs || now_served.pinned)
        return -1;
    return peak - resident_at_first - (side->wants_host ? (double)operands : 0);
}

int bench_serve(const char *name, const char *routine_name)
{
    routine = bench_find_routine(routine_name);
    require(routine, "no such routine");
    const struct side *side = sides;
    while (side < sides + SIDES && strcmp(side->name, name) != 0)
        side++;
    require(side < sides + SIDES, "no such contender");
    resident_at_first = resident("VmRSS:");
    side->open();
    char line[128], memory[16];
    while (fgets(line, sizeof line, stdin)) {
        int m, n, k;
        if (sscanf(line, "prepare %d %d %d %15s", &m, &n, &k, memory) == 4) {
            now_served.host = now_served.device = make_product(m, n, k);
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
