#include "bench/sides.h"

#include "bench/cublas_calls.h"
#include "bench/expect.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { XT_BLOCK = 4096 };

/* What the link reaches with copies of this size is what the floor is computed from. */
#define LINK_PIECE ((size_t)64 << 20)

typedef int set_option(const char *name, const char *value);

bench_product_served bench_served;

static bench_function *multiply; /* the routine, as the side's library has it */
static cublasHandle_t cublas;
static cublasXtHandle_t cublas_xt;

void bench_expect_cuda(cudaError_t error)
{
    bench_expect(error == cudaSuccess, cudaGetErrorString(error));
}

/* The routine of a library, spelled with what its interface puts before and behind the name. */
static void find_routine(void *library, const char *before, const char *behind)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", before, bench_served.routine->name, behind);
    multiply = (bench_function *)dlsym(library, name);
    bench_expect(multiply, "the library does not have the routine");
}

static void open_tileblas(void)
{
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bench_expect(library, "libtileblas is not there");
    find_routine(library, "cblas_", "");
    set_option *set = (set_option *)dlsym(library, "tileblas_set_option");
    bench_expect(set, "libtileblas lacks a name");
    bench_expect(set("START", "wait") == 0, "an option was refused");
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
    bench_call_cblas(multiply, bench_served.routine, &bench_served.host);
}

static void run_kernel(void)
{
    bench_call_cblas(multiply, bench_served.routine, &bench_served.device);
}

static void open_openblas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    bench_expect(library, "libopenblas is not there");
    find_routine(library, "cblas_", "");
}

/* NVBLAS ends the program when it finds no configuration. The file has no name, so that nothing is left behind. */
static void open_nvblas_with(const char *more)
{
    char name[64];
    int number = memfd_create("nvblas", 0);
    bench_expect(number >= 0, "no file for NVBLAS's configuration");
    dprintf(number,
            "NVBLAS_LOGFILE /dev/null\nNVBLAS_CPU_BLAS_LIB libopenblas.so.0\nNVBLAS_GPU_LIST ALL0\n%s", more);
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    setenv("NVBLAS_CONFIG_FILE", name, 1);
    void *library = dlopen("libnvblas.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libnvblas.so.13", RTLD_NOW | RTLD_LOCAL);
    bench_expect(library, "libnvblas is not there");
    /* What NVBLAS leaves out would be found in the BLAS behind it. */
    bench_expect(bench_served.routine->class != TB_CLASS_TRIANGLE, "libnvblas does not have the routine");
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
    bench_call_fortran(multiply, &bench_served.host);
}

static void open_cublas(void)
{
    bench_expect(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cuBLAS does not start");
}

static void copy_in(tb_role role)
{
    const tb_operand *host = &bench_served.host.operands[role];
    if (bench_has_operand(bench_served.routine, role))
        bench_expect_cuda(cudaMemcpy(bench_served.device.operands[role].data, host->data,
                                     tb_matrix_bytes(&host->matrix), cudaMemcpyHostToDevice));
}

static void copy_run_copy(void)
{
    copy_in(TB_A);
    copy_in(TB_B);
    bench_expect(bench_call_cublas(cublas, bench_served.routine, &bench_served.device) ==
                     CUBLAS_STATUS_SUCCESS,
                 "cuBLAS failed");
    bench_expect_cuda(cudaMemcpy(bench_served.host.c.data, bench_served.device.c.data,
                                 tb_matrix_bytes(&bench_served.host.c.matrix), cudaMemcpyDeviceToHost));
}

/* The operands' pages made the link's for the call, instead of copied into such. */
static void register_run_copy(void)
{
    const tb_operand *operands = bench_served.host.operands;
    for (tb_role role = TB_A; role < TB_ROLES && !bench_served.pinned; role++)
        if (bench_has_operand(bench_served.routine, role))
            bench_expect_cuda(cudaHostRegister(operands[role].data, tb_matrix_bytes(&operands[role].matrix),
                                               cudaHostRegisterDefault));
    copy_run_copy();
    for (tb_role role = TB_A; role < TB_ROLES && !bench_served.pinned; role++)
        if (bench_has_operand(bench_served.routine, role))
            bench_expect_cuda(cudaHostUnregister(operands[role].data));
}

static void open_cublas_xt(void)
{
    bench_expect(bench_create_cublas_xt(&cublas_xt, XT_BLOCK) == CUBLAS_STATUS_SUCCESS,
                 "cublasXt does not start");
}

static void run_cublas_xt(void)
{
    bench_expect(bench_call_cublas_xt(cublas_xt, bench_served.routine, &bench_served.host) ==
                     CUBLAS_STATUS_SUCCESS,
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
    bench_expect_cuda(cudaMallocHost(&pinned, LINK_PIECE));
    bench_expect_cuda(cudaMalloc(&on_device, LINK_PIECE));
    memset(pinned, 1, LINK_PIECE);
    way.target = kind == cudaMemcpyHostToDevice ? on_device : pinned;
    way.source = kind == cudaMemcpyHostToDevice ? pinned : on_device;
    bench_expect_cuda(cudaStreamCreateWithFlags(&way.stream, cudaStreamNonBlocking));
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
        bench_expect_cuda(cudaMemcpyAsync(way->target, way->source,
                                          bytes - done < LINK_PIECE ? bytes - done : LINK_PIECE, way->kind,
                                          way->stream));
}

static void run_link_in(void)
{
    begin_way(&way_in, bench_bytes_in(bench_served.routine, &bench_served.host));
    bench_expect_cuda(cudaStreamSynchronize(way_in.stream));
}

static void run_link_out(void)
{
    begin_way(&way_out, bench_bytes_out(&bench_served.host));
    bench_expect_cuda(cudaStreamSynchronize(way_out.stream));
}

/* Both ways are used as if nothing had to wait for anything. */
static void run_link_both(void)
{
    begin_way(&way_out, bench_bytes_out(&bench_served.host));
    run_link_in();
    bench_expect_cuda(cudaStreamSynchronize(way_out.stream));
}

/* Every element of both operands is another one. */
static void change_operands(void)
{
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_operand *operand = &bench_served.host.operands[role];
        const size_t bytes =
            bench_has_operand(bench_served.routine, role) ? tb_matrix_bytes(&operand->matrix) : 0;
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

static const bench_side sides[] = {
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

const bench_side *bench_find_side(const char *name)
{
    for (int i = 0; i < SIDES; i++)
        if (strcmp(sides[i].name, name) == 0)
            return &sides[i];
    return NULL;
}
