#include "bench/cusolver.h"

#include "bench/driver.h"
#include "bench/expect.h"

#include <dlfcn.h>

typedef struct cusolverDnContext *handle;
typedef struct cusolverDnParams *parameters;

/* Their results, triangles and types are enumerations of CUDA's headers: 0 is success; 0 is the lower triangle, 1 the upper. */
#define CUSOLVER_FUNCTIONS(X)                                                                                \
    X(cusolverGetVersion, (int *version))                                                                    \
    X(cusolverDnCreate, (handle * created))                                                                  \
    X(cusolverDnCreateParams, (parameters * created))                                                        \
    X(cusolverDnXpotrf_bufferSize,                                                                           \
      (handle with, parameters by, int triangle, int64_t n, int type, const void *a, int64_t lda,            \
       int computed_in, size_t *device_bytes, size_t *host_bytes))                                           \
    X(cusolverDnXpotrf,                                                                                      \
      (handle with, parameters by, int triangle, int64_t n, int type, void *a, int64_t lda, int computed_in, \
       void *on_device, size_t device_bytes, void *on_host, size_t host_bytes, int *info))

#define DECLARE(name, parameters) static int(*name) parameters;
CUSOLVER_FUNCTIONS(DECLARE)
#undef DECLARE

/* cudaDataType. */
static const int types[TB_ELEMENTS] = {
    [TB_FP32] = 0, [TB_FP64] = 1, [TB_COMPLEX_FP32] = 4, [TB_COMPLEX_FP64] = 5};

static handle cusolver;
static parameters advanced;

static struct workspace {
    void *on_device, *on_host;
    size_t device_bytes, host_bytes;
    int *info; /* on the device */
} workspace;

static void *find_library(void)
{
    static const char *const names[] = {"libcusolver.so.12", "/usr/local/cuda/lib64/libcusolver.so.12",
                                        "libcusolver.so.11", "/usr/local/cuda/lib64/libcusolver.so.11"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool find_functions(void *library)
{
    bool complete = true;
#define FIND(name, parameters)                                                                               \
    name = (__typeof__(name))dlsym(library, #name);                                                          \
    complete = complete && name;
    CUSOLVER_FUNCTIONS(FIND)
#undef FIND
    return complete;
}

const char *bench_open_cusolver(void)
{
    void *library = find_library();
    if (!library)
        return "neither libcusolver.so.12 nor libcusolver.so.11 is found (LD_LIBRARY_PATH?)";
    if (!find_functions(library))
        return "libcusolver lacks functions of its 64-bit interface";
    if (cusolverDnCreate(&cusolver) != 0 || cusolverDnCreateParams(&advanced) != 0)
        return "cuSOLVER does not start";
    workspace.info = bench_allocate_on_device(sizeof *workspace.info);
    return NULL;
}

int bench_cusolver_version(void)
{
    int version = 0;
    bench_expect(cusolverGetVersion(&version) == 0, "cuSOLVER does not tell its version");
    return version;
}

/* Of so many bytes on either side. */
static void take_workspace(size_t device_bytes, size_t host_bytes)
{
    bench_free_on_device(workspace.on_device);
    free(workspace.on_host);
    workspace.device_bytes = device_bytes;
    workspace.host_bytes = host_bytes;
    workspace.on_device = device_bytes > 0 ? bench_allocate_on_device(device_bytes) : NULL;
    workspace.on_host = host_bytes > 0 ? malloc(host_bytes) : NULL;
    bench_expect(workspace.on_host || host_bytes == 0, "no memory is left");
}

bool bench_prepare_potrf(const bench_stored_triangle *matrix)
{
    const int type = types[matrix->element];
    size_t device_bytes = 0, host_bytes = 0;
    if (cusolverDnXpotrf_bufferSize(cusolver, advanced, matrix->upper, matrix->n, type, matrix->a, matrix->n,
                                    type, &device_bytes, &host_bytes) != 0)
        return false;
    take_workspace(device_bytes, host_bytes);
    return true;
}

bool bench_enqueue_potrf(const bench_stored_triangle *matrix)
{
    const int type = types[matrix->element];
    return cusolverDnXpotrf(cusolver, advanced, matrix->upper, matrix->n, type, matrix->a, matrix->n, type,
                            workspace.on_device, workspace.device_bytes, workspace.on_host,
                            workspace.host_bytes, workspace.info) == 0;
}

int bench_cusolver_info(void)
{
    int info;
    bench_copy(&info, workspace.info, sizeof info);
    return info;
}
