/* The device interface: all that the runtime asks of a GPU, as one small table of operations. device_cuda.c
 * fills it from the CUDA driver; tests/sim fills it in host memory. Which one a binary uses is decided at
 * link time by the object that defines tb_device.
 *
 * A stream is an ordered queue of work on one device, an event a point in it. Work on different streams runs
 * in any order unless an event orders it. Every operation may be called from any thread; none changes which
 * CUDA context is current in the calling thread. An operation that fails leaves nothing half-made.
 */
#ifndef TB_DEVICE_H
#define TB_DEVICE_H

#include "kernels/catalog.h"
#include "words/folded.h"
#include "words/place.h"
#include "words/product.h"
#include "words/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tb_stream tb_stream;
typedef struct tb_event tb_event;

typedef struct tb_device_description {
    char name[128];
    unsigned char uuid[16]; /* the same in all processes; zeros when unknown */
    int architecture;       /* 90 for compute capability 9.0 */
    int multiprocessors;
    int clock_khz;                  /* the highest */
    double memory_bytes_per_second; /* the highest; 0 when unknown */
    size_t memory_bytes;
    int driver_version; /* 13000 for CUDA 13.0 */
} tb_device_description;

typedef enum tb_direction { TB_HOST_TO_DEVICE, TB_DEVICE_TO_HOST, TB_DEVICE_TO_DEVICE } tb_direction;

/* rows of row_bytes each; pitches are the distance between rows in bytes, at least row_bytes when rows > 1.
 */
typedef struct tb_copy {
    tb_direction direction;
    void *target;
    size_t target_pitch;
    const void *source;
    size_t source_pitch;
    size_t row_bytes, rows;
} tb_copy;

/* Of so many bytes that lie together. */
static inline tb_copy tb_copy_of_bytes(tb_direction direction, void *target, const void *source, size_t bytes)
{
    return (tb_copy){direction, target, bytes, source, bytes, bytes, 1};
}

/* Some bytes of the address space. */
typedef struct tb_span {
    uintptr_t start, bytes;
} tb_span;

typedef struct tb_device_operations {
    const char *name; /* "cuda", "simulated" */
    /* What the names begin with of threads that the driver makes for itself, as the kernel has them; NULL: there are none. */
    const char *thread_names;

    /* Whether anything in this process could have handed out device memory. Cheap: asked on every call. */
    bool (*in_process)(void);

    /* The file that the kernels' code was found in, or an empty text where it was not. NULL, as the answer or in place of this: no
     * file was looked for. */
    const char *(*code_file)(void);

    /* Brings the driver up; called at most once. */
    tb_status (*open)(int *device_count);
    tb_status (*describe)(int device, tb_device_description *description);
    /* Brings a device's context up, which everything below needs; slow (0.2 to 0.3 s on an H200), and takes
     * some of its memory. Called at most once for each. */
    tb_status (*open_device)(int device);
    /* How many clusters of blocks an open device runs at a time; NULL: unknown. */
    const tb_clusters *(*clusters)(int device);

    /* Whether a device could read the memory of another one past the links that both have to the host. Both are open. */
    bool (*reaches)(int device, int other);
    /* From then on copies in the device's streams may have their source there. More than once is fine. */
    tb_status (*enable_access)(int device, int other);

    /* Where an address lies. Any address is allowed; one the driver does not know is TB_MEMORY_HOST. And the bytes around it that lie
     * there too; none where nobody knows. span may be NULL. */
    void (*locate)(const void *address, tb_place *place, tb_span *span);

    tb_status (*memory)(int device, size_t *free_bytes, size_t *total_bytes);
    tb_status (*allocate)(int device, size_t bytes, void **memory);
    void (*release)(int device, void *memory);
    tb_status (*allocate_pinned)(size_t bytes, void **memory);
    void (*release_pinned)(void *memory, size_t bytes); /* as many as were allocated */

    tb_status (*create_stream)(int device, tb_stream **stream);
    /* A handle on the caller's own CUDA stream (NULL: the legacy default stream) of the device and context
     * where the place lies. Destroying the handle leaves the caller's stream alone. */
    tb_status (*adopt_stream)(const tb_place *place, void *native, tb_stream **stream);
    void (*destroy_stream)(tb_stream *stream);
    /* Waits for all work in the stream; the status is that of the work. */
    tb_status (*synchronize)(tb_stream *stream);

    tb_status (*create_event)(int device, tb_event **event);
    void (*destroy_event)(tb_event *event);
    tb_status (*record)(tb_event *event, tb_stream *stream);
    tb_status (*stream_wait)(tb_stream *stream, tb_event *event);
    tb_status (*event_wait)(tb_event *event); /* blocks the calling thread */
    /* Whether event_wait would not block. */
    bool (*event_passed)(tb_event *event);

    /* Ordered in the stream. Pageable host memory is allowed; the call may then block until it was read. */
    tb_status (*copy)(tb_stream *stream, const tb_copy *copy);
    /* Writes an operand out: source and target are reachable by the device, and do not overlap, unless they are the same matrix
     * and nothing moves. */
    tb_status (*expand)(tb_stream *stream, const tb_expansion *expansion);
    /* Adds a square matrix and its transpose to C; none of them overlap. */
    tb_status (*fold)(tb_stream *stream, const tb_folding *folding);
    /* The product's operands are reachable by the device, and of the kernel's element; the schedule was made for them and the device
     * (dispatch/schedule.h), and workspace holds as many bytes as it asks for. */
    tb_status (*launch)(tb_stream *stream, const tb_kernel *kernel, const tb_product *product,
                        const tb_schedule *schedule, void *workspace);
    /* The same right after a launch of the same kernel with the same workspace and A, whose elements have not
     * changed: what was made of A serves again. */
    tb_status (*launch_again)(tb_stream *stream, const tb_kernel *kernel, const tb_product *product,
                              const tb_schedule *schedule, void *workspace);
} tb_device_operations;

extern const tb_device_operations tb_device;

#endif
