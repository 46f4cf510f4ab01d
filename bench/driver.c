#include "bench/driver.h"

#include "bench/expect.h"
#include "bench/timing.h"

#include <dlfcn.h>

/* What the link reaches with copies of this size counts, as in bench/sides.c. */
#define LINK_PIECE ((size_t)64 << 20)

enum { LINK_PIECES = 8, LINK_ROUNDS = 5 };
enum { STREAM_NON_BLOCKING = 1 };

typedef struct CUctx_st *context;
typedef struct CUstream_st *stream;
typedef unsigned long long address;

/* Named as the driver exports them. */
#define DRIVER_FUNCTIONS(X)                                                                                  \
    X(cuInit, (unsigned flags))                                                                              \
    X(cuDeviceGet, (int *device, int ordinal))                                                               \
    X(cuDeviceGetName, (char *name, int length, int device))                                                 \
    X(cuDevicePrimaryCtxRetain, (context * retained, int device))                                            \
    X(cuCtxSetCurrent, (context current))                                                                    \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuMemAlloc_v2, (address * memory, size_t bytes))                                                       \
    X(cuMemFree_v2, (address memory))                                                                        \
    X(cuMemAllocHost_v2, (void **memory, size_t bytes))                                                      \
    X(cuMemFreeHost, (void *memory))                                                                         \
    X(cuMemcpy, (address target, address source, size_t bytes))                                              \
    X(cuMemcpyAsync, (address target, address source, size_t bytes, stream behind))                          \
    X(cuStreamCreate, (stream * created, unsigned flags))                                                    \
    X(cuStreamDestroy_v2, (stream destroyed))

#define DECLARE(name, parameters) static int(*name) parameters;
DRIVER_FUNCTIONS(DECLARE)
#undef DECLARE

static char device_name[128];

static void expect_success(int result, const char *what)
{
    bench_expect(result == 0, what);
}

static address address_of(const void *memory)
{
    return (address)(size_t)memory;
}

static bool find_functions(void *library)
{
    bool complete = true;
#define FIND(name, parameters)                                                                               \
    name = (__typeof__(name))dlsym(library, #name);                                                          \
    complete = complete && name;
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    return complete;
}

const char *bench_open_driver(void)
{
    int device;
    context primary;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "no NVIDIA driver (libcuda.so.1) is installed";
    if (!find_functions(library))
        return "the NVIDIA driver lacks functions";
    if (cuInit(0) != 0 || cuDeviceGet(&device, 0) != 0)
        return "the NVIDIA driver has no device";
    if (cuDevicePrimaryCtxRetain(&primary, device) != 0 || cuCtxSetCurrent(primary) != 0)
        return "the device does not start";
    expect_success(cuDeviceGetName(device_name, sizeof device_name, device), "the device has no name");
    return NULL;
}

const char *bench_device_name(void)
{
    return device_name;
}

void *bench_allocate_on_device(size_t bytes)
{
    address memory;
    expect_success(cuMemAlloc_v2(&memory, bytes), "the device has no memory left");
    return (void *)(size_t)memory;
}

void bench_free_on_device(void *memory)
{
    if (memory)
        expect_success(cuMemFree_v2(address_of(memory)), "memory of the device is not freed");
}

void bench_copy(void *target, const void *source, size_t bytes)
{
    expect_success(cuMemcpy(address_of(target), address_of(source), bytes), "a copy failed");
}

void bench_await_device(void)
{
    expect_success(cuCtxSynchronize(), "the device failed");
}

/* One way of the link. */
typedef struct way {
    void *pinned, *on_device;
    stream stream;
} way;

static way open_way(void)
{
    way opened = {.on_device = bench_allocate_on_device(LINK_PIECE)};
    expect_success(cuMemAllocHost_v2(&opened.pinned, LINK_PIECE), "there is no pinned memory");
    expect_success(cuStreamCreate(&opened.stream, STREAM_NON_BLOCKING), "there is no stream");
    return opened;
}

static void close_way(const way *opened)
{
    bench_free_on_device(opened->on_device);
    expect_success(cuMemFreeHost(opened->pinned), "pinned memory is not freed");
    expect_success(cuStreamDestroy_v2(opened->stream), "a stream is not ended");
}

static void go_way(const way *opened, void *target, const void *source)
{
    expect_success(cuMemcpyAsync(address_of(target), address_of(source), LINK_PIECE, opened->stream),
                   "a copy failed");
}

static double time_both_ways(const way *in, const way *out)
{
    const double start = tb_seconds();
    for (int i = 0; i < LINK_PIECES; i++) {
        go_way(in, in->on_device, in->pinned);
        go_way(out, out->pinned, out->on_device);
    }
    bench_await_device();
    return tb_seconds() - start;
}

double bench_measure_link(void)
{
    const way in = open_way(), out = open_way();
    double seconds[LINK_ROUNDS];
    time_both_ways(&in, &out); /* warms up */
    for (int i = 0; i < LINK_ROUNDS; i++)
        seconds[i] = time_both_ways(&in, &out);
    close_way(&in);
    close_way(&out);
    return LINK_PIECES * (double)LINK_PIECE / bench_median(seconds, LINK_ROUNDS);
}
