/* Where the matrices of a test lie. A test that is written on this runs on whichever device its program is
 * linked with: arena_sim.c is the simulated one, arena_cuda.c a real one.
 */
#ifndef TB_ARENA_H
#define TB_ARENA_H

#include "words/place.h"

#include <stdbool.h>
#include <stddef.h>

/* False: there is only host memory. */
bool arena_has_device(void);

/* Bytes that can still be allocated on the device. */
size_t arena_free_bytes(void);

/* Allocates memory of some kind, for device 0; aligned to 64 bytes at least. Ends the program when there is no room. */
void *arena_allocate(tb_memory memory, size_t bytes);
void arena_release(tb_memory memory, void *address);

/* Copies between any two places, and is done on return. */
void arena_copy(void *target, const void *source, size_t bytes);

/* A stream for tileblas_set_stream. */
void *arena_create_stream(void);
void arena_destroy_stream(void *stream);

/* Queue a copy within device memory, or nothing but time, in the stream (NULL: the default one) and return at
 * once. */
void arena_copy_later(void *stream, void *target, const void *source, size_t bytes);
void arena_stall(void *stream, double seconds);

/* Waits until all that was queued in the stream is done. */
void arena_wait(void *stream);

#endif
