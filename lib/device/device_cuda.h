/* What the parts of the CUDA device interface share: platform_cuda.c and device_cuda.c, which have the tables;
 * device_cuda_streams.c, which has streams, events and copies; device_cuda_pinned.c, which has pinned memory; and
 * device_cuda_code.c, which brings code to devices and launches it. For no other file.
 */
#ifndef TB_DEVICE_CUDA_H
#define TB_DEVICE_CUDA_H

#include "lib/device/platform.h"
#include "lib/device/driver.h"

#include <stdatomic.h>

typedef struct tb_cuda_device {
    CUdevice device;
    _Atomic(CUcontext) primary; /* NULL: not open */
    CUmemoryPool
        pool; /* of memory that other devices can be let read; NULL: there are none that would gain by it */
    CUstream allocating; /* orders what comes from the pool */
    int pitch_maximum, shared_maximum, shared_multiprocessor;
    int reaches_as_the_host; /* pinned memory, at the same addresses */
    tb_target target;        /* its clusters are filled in before it is open */
    tb_clusters clusters;
} tb_cuda_device;

extern tb_cuda_device tb_cuda_devices[TB_DEVICES_MAXIMUM];
extern int tb_cuda_device_count;

/* What can be known of a device before it is open. */
tb_status tb_cuda_examine(int device);

/* The one whose context owns pinned memory, which every device reaches; -1: none is open. */
extern atomic_int tb_cuda_first_open;

typedef struct tb_cuda_stream {
    tb_stream interface;
    int device;
    CUcontext context;
    CUstream native;
    bool owned;
} tb_cuda_stream;

static inline const tb_cuda_stream *tb_cuda_stream_of(const tb_stream *stream)
{
    return (const tb_cuda_stream *)stream;
}

/* The launcher that a catalog row sees. */
typedef struct tb_cuda_launcher {
    tb_launcher interface;
    const tb_cuda_stream *stream;
} tb_cuda_launcher;

tb_cuda_launcher tb_cuda_launcher_on(const tb_cuda_stream *stream);

/* The devices' table. */
extern const tb_device_operations tb_cuda_operations;

/* Asks the driver how many clusters of blocks run at a time; the device's context is current. Where it does
 * not tell, or the build's code has no clusters, they stay unknown. */
void tb_cuda_count_clusters(int device);

/* ---- Contexts --------------------------------------------------------------------------------------------- */

/* Work of others that is being captured into a graph forbids allocating and asking to all threads but those
 * that say that they know what they do: nothing here is for a stream of theirs. The thread's own mode comes
 * back afterwards. */
static inline void tb_cuda_exchange_capture_mode(CUstreamCaptureMode *mode)
{
    tb_cu()->cuThreadExchangeStreamCaptureMode_(mode);
}

/* The status that a step answers, whatever others are capturing. */
#define TB_WHILE_OTHERS_CAPTURE(step)                                                                        \
    __extension__({                                                                                          \
        tb_status capture_status = tb_enter_device();                                                        \
        if (capture_status == TB_OK) {                                                                       \
            CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;                               \
            tb_cuda_exchange_capture_mode(&capture_mode);                                                    \
            capture_status = (step);                                                                         \
            tb_cuda_exchange_capture_mode(&capture_mode);                                                    \
            tb_leave_device();                                                                               \
        }                                                                                                    \
        capture_status;                                                                                      \
    })

static inline tb_status tb_cuda_push_context(CUcontext context)
{
    return TB_CU(cuCtxPushCurrent, context);
}

static inline tb_status tb_cuda_pop_context(tb_status status)
{
    CUcontext popped;
    tb_cu()->cuCtxPopCurrent_(&popped);
    return status;
}

/* And with the context current. */
#define TB_IN_CONTEXT(wanted, step)                                                                          \
    TB_WHILE_OTHERS_CAPTURE(tb_cuda_push_context(wanted) == TB_OK ? tb_cuda_pop_context(step)                \
                                                                  : TB_DEVICE_LOST)

static inline CUdeviceptr tb_cuda_address(const void *memory)
{
    return (CUdeviceptr)(uintptr_t)memory;
}

/* The context in which memory of this place is used. */
static inline CUcontext tb_cuda_context_of(const tb_place *place)
{
    return place->context ? place->context : tb_cuda_devices[place->device].primary;
}

/* ---- Pinned memory, for the platform's table ------------------------------------------------------------------------- */

tb_status tb_cuda_allocate_pinned(size_t bytes, void **memory);
tb_status tb_cuda_pin(void *memory, size_t bytes);
void tb_cuda_unpin(void *memory);
void tb_cuda_release_pinned(void *memory, size_t bytes);

/* ---- Streams, events and copies, for the table ------------------------------------------------------------ */

tb_status tb_cuda_create_stream(int device, tb_stream **stream);
tb_status tb_cuda_adopt_stream(const tb_place *place, void *native, tb_stream **stream);
void tb_cuda_destroy_stream(tb_stream *stream);
tb_status tb_cuda_synchronize(tb_stream *stream);
tb_status tb_cuda_create_event(int device, tb_event **event);
void tb_cuda_destroy_event(tb_event *event);
tb_status tb_cuda_record(tb_event *event, tb_stream *stream);
tb_status tb_cuda_stream_wait(tb_stream *stream, tb_event *event);
tb_status tb_cuda_event_wait(tb_event *event);
bool tb_cuda_event_passed(tb_event *event);
tb_status tb_cuda_tell(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number);
/* In the stream's context. */
tb_status tb_cuda_copy(const tb_cuda_stream *stream, const tb_copy *copy);

#endif
