/* The device interface: all that the runtime asks of a GPU, as one small table of operations. device_cuda.c fills it from the
 * CUDA driver; tests/sim fills it in host memory. Which table serves which device the platform knows (lib/device/platform.h).
 *
 * A stream is an ordered queue of commands (lib/device/command.h) on one device, an event a point in it. Work on different
 * streams runs in any order unless an event orders it. Every operation may be called from any thread; none changes which CUDA
 * context is current in the calling thread. An operation that fails leaves nothing half-made.
 */
#ifndef TB_DEVICE_H
#define TB_DEVICE_H

#include "lib/device/command.h"
#include "lib/device/others_copies.h"
#include "words/place.h"
#include "words/status.h"

#include <stdatomic.h>

/* Ordinals are less. */
#define TB_DEVICES_MAXIMUM 64

typedef struct tb_device_operations tb_device_operations;

/* The streams and events of a table begin with these, and so know who serves them. */
typedef struct tb_stream {
    const tb_device_operations *operations;
} tb_stream;
typedef struct tb_event {
    const tb_device_operations *operations;
} tb_event;

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

struct tb_device_operations {
    /* Whether the host's side of a copy may be ordinary memory; who enqueues it may then wait until that was read, or written.
     * Otherwise it is pinned, which tb_issue_copy sees to (lib/device/copies.h). */
    bool copies_pageable;

    /* Pinned memory of its own, where the platform's cannot be reached: NULL where it can. */
    tb_status (*allocate_pinned)(size_t bytes, void **memory);
    void (*release_pinned)(void *memory, size_t bytes);
    bool (*has_pinned)(const void *address);
    /* For how many pipelines at a time there is such memory; more will be there where more are wanted. NULL: for any. */
    int (*pipelines)(int device, int wanted);

    /* NULL: nobody keeps copies for others. */
    const tb_others_copies *others;

    tb_status (*describe)(int device, tb_device_description *description);
    /* Brings a device's context up, which everything below needs; slow (0.2 to 0.3 s on an H200), and takes
     * some of its memory. Called at most once for each. */
    tb_status (*open_device)(int device);
    /* How many clusters of blocks an open device runs at a time; NULL: unknown. */
    const tb_clusters *(*clusters)(int device);

    /* Whether a device could read the memory of another one past the links that both have to the host. Both are open. Not where
     * another table serves the other one. */
    bool (*reaches)(int device, int other);
    /* From then on copies in the device's streams may have their source there. More than once is fine. */
    tb_status (*enable_access)(int device, int other);

    tb_status (*memory)(int device, size_t *free_bytes, size_t *total_bytes);
    tb_status (*allocate)(int device, size_t bytes, void **memory);
    void (*release)(int device, void *memory);

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
    /* The device sets the word to the number once the stream has come here. Who sees it there sees what the stream has written before,
     * in whatever process. The word lies in pinned memory (lib/device/platform.h: pin). TB_UNSUPPORTED: a device that cannot. */
    tb_status (*tell)(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number);

    /* What the command reads and writes is the stream's device to reach. The command itself has been read on return. One that is
     * refused has done nothing, TB_UNSUPPORTED: of an unknown kind, a launch that tb_kernel_of refuses, a panel that
     * the device does not take (tb_takes_panel), an exchange that is none (tb_is_row_exchange). */
    tb_status (*enqueue)(tb_stream *stream, const tb_command *command);
};

/* ---- By whoever serves the stream, or the event ----------------------------------------------------------- */

/* tb_<operation>, by the table. */
#define TB_STAMP_SERVED(type, operation, table, parameters, arguments)                                       \
    static inline type tb_##operation parameters                                                             \
    {                                                                                                        \
        return (table)->operation arguments;                                                                 \
    }
TB_STAMP_SERVED(void, destroy_stream, stream->operations, (tb_stream * stream), (stream))
TB_STAMP_SERVED(tb_status, synchronize, stream->operations, (tb_stream * stream), (stream))
TB_STAMP_SERVED(void, destroy_event, event->operations, (tb_event * event), (event))
TB_STAMP_SERVED(tb_status, record, event->operations, (tb_event * event, tb_stream *stream), (event, stream))
TB_STAMP_SERVED(tb_status, stream_wait, stream->operations, (tb_stream * stream, tb_event *event),
                (stream, event))
TB_STAMP_SERVED(tb_status, event_wait, event->operations, (tb_event * event), (event))
TB_STAMP_SERVED(bool, event_passed, event->operations, (tb_event * event), (event))
TB_STAMP_SERVED(tb_status, tell, stream->operations,
                (tb_stream * stream, _Atomic(uint32_t) *word, uint32_t number), (stream, word, number))
TB_STAMP_SERVED(tb_status, enqueue, stream->operations, (tb_stream * stream, const tb_command *command),
                (stream, command))

/* One command. The rest of its bytes are left as they are: to clear them takes longer than to make it. */
static inline tb_status tb_enqueue_copy(tb_stream *stream, const tb_copy *copy)
{
    tb_command command;
    command.kind = TB_COMMAND_COPY;
    command.copy = *copy;
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_masked_copy(tb_stream *stream, const tb_masked_copy *copy)
{
    tb_command command;
    command.kind = TB_COMMAND_COPY_MASKED;
    command.masked = *copy;
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_expansion(tb_stream *stream, const tb_expansion *expansion)
{
    tb_command command;
    command.kind = TB_COMMAND_EXPAND;
    command.expansion = *expansion;
    tb_leave_lists(&command.expansion.batch);
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_folding(tb_stream *stream, const tb_folding *folding)
{
    tb_command command;
    command.kind = TB_COMMAND_FOLD;
    command.folding = *folding;
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_panel(tb_stream *stream, const tb_factor *block, int64_t position,
                                         int64_t *info, void *workspace)
{
    tb_command command;
    command.kind = TB_COMMAND_PANEL;
    command.panel = (tb_panel){*block, position, info, workspace};
    command.panel.block.info = NULL;
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_row_exchange(tb_stream *stream, const tb_row_exchange *exchange)
{
    tb_command command;
    command.kind = TB_COMMAND_EXCHANGE;
    command.exchange = *exchange;
    return tb_enqueue(stream, &command);
}

static inline tb_status tb_enqueue_launch(tb_stream *stream, const tb_kernel *kernel,
                                          const tb_product *product, const tb_schedule *schedule,
                                          void *workspace, bool same_a)
{
    tb_command command;
    tb_launch *launch = tb_begin_launch(&command, kernel);
    launch->same_a = same_a;
    launch->workspace = workspace;
    launch->product = *product;
    launch->schedule = *schedule;
    tb_leave_lists(&launch->product.batch);
    return tb_enqueue(stream, &command);
}

#endif
