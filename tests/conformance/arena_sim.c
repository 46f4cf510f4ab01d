#include "tests/conformance/arena.h"

#include "tests/sim/device_sim.h"

#include <stdio.h>
#include <stdlib.h>

bool arena_has_device(void)
{
    return true;
}

size_t arena_free_bytes(void)
{
    return sim_free_bytes(0);
}

void *arena_allocate(tb_memory memory, size_t bytes)
{
    void *address =
        memory == TB_MEMORY_HOST ? aligned_alloc(64, (bytes + 63) / 64 * 64) : sim_allocate(memory, 0, bytes);
    if (address == NULL) {
        fprintf(stderr, "no room for a test's matrices\n");
        exit(EXIT_FAILURE);
    }
    return address;
}

void arena_release(tb_memory memory, void *address)
{
    if (memory == TB_MEMORY_HOST)
        free(address);
    else
        sim_release(address);
}

void arena_copy(void *target, const void *source, size_t bytes)
{
    sim_copy(target, source, bytes);
}

void *arena_create_stream(void)
{
    return sim_create_stream(0);
}

void arena_destroy_stream(void *stream)
{
    sim_destroy_stream(stream);
}

void arena_copy_later(void *stream, void *target, const void *source, size_t bytes)
{
    sim_copy_later(stream, target, source, bytes);
}

void arena_stall(void *stream, double seconds)
{
    sim_stall(stream, seconds);
}

void arena_wait(void *stream)
{
    sim_wait(stream);
}
