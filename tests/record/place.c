#include "place.h"

#include "record.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel or link looks at. */
#define ALIGNMENT 4096

static bool is_simulated;

/* ---- The simulated device: tests/sim/device_sim.h -------------------------------------------------------- */

enum { SIM_PINNED = 1, SIM_MANAGED, SIM_DEVICE };

static void *(*sim_allocate)(int memory, int device, size_t bytes);
static void *(*sim_allocate_write_combined)(size_t bytes);
static void (*sim_release)(void *memory);
static void (*sim_copy)(void *target, const void *source, size_t bytes);

static _Atomic(uint64_t) copy_count, copy_bytes, copy_sum;

static void note_copy(const void *source, size_t bytes)
{
    (void)source;
    const uint64_t mixed = (bytes ^ (bytes >> 7)) * 0x9e3779b97f4a7c15u;
    atomic_fetch_add(&copy_count, 1);
    atomic_fetch_add(&copy_bytes, bytes);
    atomic_fetch_add(&copy_sum, mixed ^ (mixed >> 29));
}

/* The address goes into a pointer to a function. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    if (!address)
        fprintf(stderr, "record: the library has no %s\n", name);
    return address != NULL;
}

static bool open_simulated(void *library)
{
    void (*watch)(void (*watcher)(const void *source, size_t bytes));
    if (!find(library, "sim_allocate", &sim_allocate) || !find(library, "sim_release", &sim_release) ||
        !find(library, "sim_allocate_write_combined", &sim_allocate_write_combined) ||
        !find(library, "sim_copy", &sim_copy) || !find(library, "sim_watch_copies", &watch))
        return false;
    watch(note_copy);
    return true;
}

static void *allocate_simulated(char place, size_t bytes)
{
    if (place == 'W')
        return sim_allocate_write_combined(bytes);
    return sim_allocate(place == 'P' ? SIM_PINNED : place == 'M' ? SIM_MANAGED : SIM_DEVICE, 0, bytes);
}

/* ---- The CUDA driver, with values of cuda.h --------------------------------------------------------------- */

enum { CUDA_WRITE_COMBINED = 4, CUDA_ATTACH_GLOBAL = 1 };

static int (*cuda_initialize)(unsigned flags);
static int (*cuda_retain)(void **context, int device);
static int (*cuda_set_context)(void *context);
static int (*cuda_allocate)(unsigned long long *memory, size_t bytes);
static int (*cuda_allocate_managed)(unsigned long long *memory, size_t bytes, unsigned flags);
static int (*cuda_allocate_host)(void **memory, size_t bytes, unsigned flags);
static int (*cuda_free)(unsigned long long memory);
static int (*cuda_free_host)(void *memory);
static int (*cuda_copy)(unsigned long long target, unsigned long long source, size_t bytes);
static int (*cuda_synchronize)(void);

static bool open_cuda(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!driver) {
        fprintf(stderr, "record: %s\n", dlerror());
        return false;
    }
    const bool found =
        find(driver, "cuInit", &cuda_initialize) && find(driver, "cuDevicePrimaryCtxRetain", &cuda_retain) &&
        find(driver, "cuCtxSetCurrent", &cuda_set_context) && find(driver, "cuMemAlloc_v2", &cuda_allocate) &&
        find(driver, "cuMemAllocManaged", &cuda_allocate_managed) &&
        find(driver, "cuMemHostAlloc", &cuda_allocate_host) && find(driver, "cuMemFree_v2", &cuda_free) &&
        find(driver, "cuMemFreeHost", &cuda_free_host) && find(driver, "cuMemcpy", &cuda_copy) &&
        find(driver, "cuCtxSynchronize", &cuda_synchronize);
    if (!found)
        return false;
    const int result = cuda_initialize(0);
    if (result != 0 || cuda_retain(&context, 0) != 0 || cuda_set_context(context) != 0) {
        fprintf(stderr, "record: there is no device that the driver can use (%d)\n", result);
        return false;
    }
    return true;
}

static void *allocate_cuda(char place, size_t bytes)
{
    unsigned long long memory = 0;
    void *host = NULL;
    int result;
    if (place == 'D')
        result = cuda_allocate(&memory, bytes);
    else if (place == 'M')
        result = cuda_allocate_managed(&memory, bytes, CUDA_ATTACH_GLOBAL);
    else
        result = cuda_allocate_host(&host, bytes, place == 'W' ? CUDA_WRITE_COMBINED : 0);
    if (result != 0)
        return NULL;
    return host ? host : (void *)(uintptr_t)memory;
}

static void release_cuda(char place, void *memory)
{
    if (place == 'D' || place == 'M')
        cuda_free((uintptr_t)memory);
    else
        cuda_free_host(memory);
}

/* Copies from ordinary memory may be under way when the driver's call returns. */
static void copy_cuda(void *target, const void *source, size_t bytes)
{
    if (cuda_copy((uintptr_t)target, (uintptr_t)source, bytes) != 0 || cuda_synchronize() != 0) {
        fprintf(stderr, "record: the driver cannot copy\n");
        exit(EXIT_FAILURE);
    }
}

/* ---- Either ------------------------------------------------------------------------------------------------ */

bool place_open(bool simulated, void *library)
{
    is_simulated = simulated;
    /* A process with a driver of its own meets no server; operands are in ordinary memory then. */
    return simulated ? open_simulated(library) : record_server() != NULL || open_cuda();
}

void *place_allocate(char place, size_t bytes)
{
    void *memory;
    if (place == 'H')
        memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    else
        memory = is_simulated ? allocate_simulated(place, bytes) : allocate_cuda(place, bytes);
    if (!memory) {
        fprintf(stderr, "record: no room for %zu bytes in %c\n", bytes, place);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void place_release(char place, void *memory)
{
    if (place == 'H')
        free(memory);
    else if (is_simulated)
        sim_release(memory);
    else
        release_cuda(place, memory);
}

void place_copy(void *target, const void *source, size_t bytes)
{
    if (is_simulated)
        sim_copy(target, source, bytes);
    else
        copy_cuda(target, source, bytes);
}

bool place_take_copies(place_copies *copies)
{
    copies->count = atomic_exchange(&copy_count, 0);
    copies->bytes = atomic_exchange(&copy_bytes, 0);
    copies->sum = atomic_exchange(&copy_sum, 0);
    return is_simulated;
}
