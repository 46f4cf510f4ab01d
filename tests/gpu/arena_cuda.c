/* Matrices of tests in a real device's memory. */
#include "tests/conformance/arena.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MUST(call) must((call), #call)

static void must(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

bool arena_has_device(void)
{
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

size_t arena_free_bytes(void)
{
    size_t available, total;
    MUST(cudaMemGetInfo(&available, &total));
    return available;
}

void *arena_allocate(tb_memory memory, size_t bytes)
{
    void *address = NULL;
    switch (memory) {
    case TB_MEMORY_HOST:
        address = aligned_alloc(64, (bytes + 63) / 64 * 64);
        break;
    case TB_MEMORY_PINNED:
        MUST(cudaMallocHost(&address, bytes));
        break;
    case TB_MEMORY_MANAGED:
        MUST(cudaMallocManaged(&address, bytes, cudaMemAttachGlobal));
        break;
    case TB_MEMORY_DEVICE:
        MUST(cudaMalloc(&address, bytes));
        break;
    }
    if (address == NULL)
        must(cudaErrorMemoryAllocation, "allocation");
    return address;
}

void arena_release(tb_memory memory, void *address)
{
    if (memory == TB_MEMORY_HOST)
        free(address);
    else if (memory == TB_MEMORY_PINNED)
        MUST(cudaFreeHost(address));
    else
        MUST(cudaFree(address));
}

void arena_copy(void *target, const void *source, size_t bytes)
{
    MUST(cudaMemcpy(target, source, bytes, cudaMemcpyDefault));
    MUST(cudaDeviceSynchronize());
}

void *arena_create_stream(void)
{
    cudaStream_t stream;
    /* The stream is not ordered behind the default one, so that only tileblas_set_stream can make a call wait for it. */
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void arena_destroy_stream(void *stream)
{
    MUST(cudaStreamDestroy(stream));
}

void arena_copy_later(void *stream, void *target, const void *source, size_t bytes)
{
    MUST(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream));
}

void arena_wait(void *stream)
{
    MUST(cudaStreamSynchronize(stream));
}

static void sleep_for(void *seconds)
{
    struct timespec span = {.tv_nsec = (long)(*(double *)seconds * 1e9)};
    nanosleep(&span, NULL);
    free(seconds);
}

void arena_stall(void *stream, double seconds)
{
    double *copy = malloc(sizeof *copy);
    if (copy == NULL)
        must(cudaErrorMemoryAllocation, "malloc");
    *copy = seconds;
    MUST(cudaLaunchHostFunc(stream, sleep_for, copy));
}
