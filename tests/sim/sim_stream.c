/* Streams and events of the simulated device: handles on queues and on markers in them. */
#include "tests/sim/sim.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* Streams and events that have not been destroyed can be reached from a list: once the process ends the library
 * destroys nothing on a device, which leak checkers are not to take for a leak. That it destroys them otherwise is what
 * sim_usage tells. */
typedef struct made made;
struct made {
    made *next, **link;
};

typedef struct sim_stream {
    made made;
    tb_stream interface;
    sim_queue *queue;
    bool adopted;
    tb_launch last;
} sim_stream;

typedef struct sim_event {
    made made;
    tb_event interface;
    int device;
    pthread_mutex_t lock;
    sim_marker *marker; /* of the latest record; NULL before any */
} sim_event;

static sim_stream *stream_of(const tb_stream *stream)
{
    return (sim_stream *)((uintptr_t)stream - offsetof(sim_stream, interface));
}

static sim_event *event_of(const tb_event *event)
{
    return (sim_event *)((uintptr_t)event - offsetof(sim_event, interface));
}

static atomic_long live_streams, live_events;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static made *list;

static void *make_listed(size_t bytes)
{
    sigset_t before;
    sim_hold_signals(&before);
    made *added = sim_make(bytes);
    pthread_mutex_lock(&list_lock);
    *added = (made){.next = list, .link = &list};
    if (list != NULL)
        list->link = &added->next;
    list = added;
    pthread_mutex_unlock(&list_lock);
    sim_let_signals(&before);
    return added;
}

static void free_listed(made *gone)
{
    sigset_t before;
    sim_hold_signals(&before);
    pthread_mutex_lock(&list_lock);
    *gone->link = gone->next;
    if (gone->next != NULL)
        gone->next->link = gone->link;
    pthread_mutex_unlock(&list_lock);
    sim_free(gone);
    sim_let_signals(&before);
}

/* ---- streams ------------------------------------------------------------------------------------------ */

static tb_stream *make_stream(sim_queue *queue, bool adopted)
{
    sim_stream *stream = make_listed(sizeof *stream);
    stream->interface.operations = sim_operations_of(sim_queue_device(queue));
    stream->queue = queue;
    stream->adopted = adopted;
    return &stream->interface;
}

static sim_queue *need_queue(int device)
{
    sim_queue *queue = sim_open_queue(device);
    if (queue == NULL)
        sim_abort("the host has no thread for a stream");
    return queue;
}

/* The device's default queue is never closed: like CUDA's, it is there for as long as the process. */
static sim_queue *default_queue(int device)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static sim_queue *queues[SIM_MAX_DEVICES];
    pthread_mutex_lock(&lock);
    if (queues[device] == NULL)
        queues[device] = need_queue(device);
    sim_queue *queue = queues[device];
    pthread_mutex_unlock(&lock);
    return queue;
}

tb_status sim_stream_create(int device, tb_stream **stream)
{
    TB_TRY(sim_attempt(device, SIM_STREAM, NULL));
    sim_queue *queue = sim_open_queue(device);
    if (queue == NULL)
        return TB_OUT_OF_MEMORY;
    *stream = make_stream(queue, false);
    atomic_fetch_add(&live_streams, 1);
    return TB_OK;
}

tb_status sim_stream_adopt(const tb_place *place, void *native, tb_stream **stream)
{
    TB_TRY(sim_attempt(place->device, SIM_STREAM, NULL));
    sim_queue *queue = native != NULL ? stream_of(native)->queue : default_queue(place->device);
    if (sim_queue_device(queue) != place->device)
        sim_abort("a stream of device %d adopted for device %d", sim_queue_device(queue), place->device);
    *stream = make_stream(queue, true);
    atomic_fetch_add(&live_streams, 1);
    return TB_OK;
}

tb_launch *sim_stream_launch(tb_stream *stream)
{
    return &stream_of(stream)->last;
}

void sim_stream_destroy(tb_stream *stream)
{
    if (stream == NULL)
        return;
    if (!stream_of(stream)->adopted)
        sim_close_queue(sim_stream_queue(stream));
    free_listed(&stream_of(stream)->made);
    atomic_fetch_sub(&live_streams, 1);
}

/* Waits also when it is to fail or the device is lost: the queue may be in the middle of a copy. */
tb_status sim_stream_synchronize(tb_stream *stream)
{
    sim_queue *queue = sim_stream_queue(stream);
    int device = sim_queue_device(queue);
    tb_status status = sim_attempt(device, SIM_WAIT, NULL);
    sim_drain_queue(queue);
    return status == TB_OK && sim_lost(device) ? TB_DEVICE_LOST : status;
}

sim_queue *sim_stream_queue(const tb_stream *stream)
{
    return stream_of(stream)->queue;
}

void *sim_create_stream(int device)
{
    return make_stream(need_queue(device), false);
}

void sim_destroy_stream(void *native)
{
    sim_close_queue(sim_stream_queue(native));
    free_listed(&stream_of(native)->made);
}

static sim_queue *queue_of(void *native)
{
    return native != NULL ? stream_of(native)->queue : default_queue(0);
}

void sim_stall(void *native, double seconds)
{
    sim_post(queue_of(native), &(sim_work){.kind = SIM_WORK_STALL, .seconds = seconds});
}

void sim_wait(void *native)
{
    sim_drain_queue(queue_of(native));
}

void sim_copy_later(void *native, void *target, const void *source, size_t bytes)
{
    const tb_copy copy =
        tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, sim_reach(target, bytes, SIM_NO_DEVICE, "target"),
                         sim_reach(source, bytes, SIM_NO_DEVICE, "source"), bytes);
    const sim_work work = {
        .kind = SIM_WORK_COMMAND, .command = {.kind = TB_COMMAND_COPY, .copy = copy}, .from = SIM_NO_DEVICE};
    sim_post(queue_of(native), &work);
}

/* ---- events ------------------------------------------------------------------------------------------- */

tb_status sim_event_create(int device, tb_event **event)
{
    TB_TRY(sim_attempt(device, SIM_EVENT, NULL));
    sim_event *made = make_listed(sizeof *made);
    made->interface.operations = sim_operations_of(device);
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    *event = &made->interface;
    atomic_fetch_add(&live_events, 1);
    return TB_OK;
}

void sim_event_destroy(tb_event *event)
{
    if (event == NULL)
        return;
    sim_drop_marker(event_of(event)->marker);
    pthread_mutex_destroy(&event_of(event)->lock);
    free_listed(&event_of(event)->made);
    atomic_fetch_sub(&live_events, 1);
}

/* The event's marker as it stands, with a reference; NULL when the event was never recorded. */
static sim_marker *take_marker(sim_event *event)
{
    pthread_mutex_lock(&event->lock);
    sim_marker *marker = event->marker != NULL ? sim_share_marker(event->marker) : NULL;
    pthread_mutex_unlock(&event->lock);
    return marker;
}

tb_status sim_event_record(tb_event *event, tb_stream *stream)
{
    TB_TRY(sim_attempt(sim_queue_device(sim_stream_queue(stream)), SIM_ORDER, NULL));
    sim_marker *fresh = sim_make_marker();
    sim_event *own = event_of(event);
    pthread_mutex_lock(&own->lock);
    sim_marker *old = own->marker;
    own->marker = sim_share_marker(fresh);
    pthread_mutex_unlock(&own->lock);
    sim_drop_marker(old);
    sim_post(sim_stream_queue(stream), &(sim_work){.kind = SIM_WORK_RAISE, .marker = fresh});
    return TB_OK;
}

tb_status sim_stream_wait(tb_stream *stream, tb_event *event)
{
    TB_TRY(sim_attempt(sim_queue_device(sim_stream_queue(stream)), SIM_ORDER, NULL));
    sim_marker *marker = take_marker(event_of(event));
    if (marker != NULL)
        sim_post(sim_stream_queue(stream), &(sim_work){.kind = SIM_WORK_AWAIT, .marker = marker});
    return TB_OK;
}

tb_status sim_stream_tell(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number)
{
    const int device = sim_queue_device(sim_stream_queue(stream));
    tb_place place;
    TB_TRY(sim_attempt(device, SIM_TELL, NULL));
    sim_locate((const void *)word, &place, NULL);
    if (place.memory != TB_MEMORY_PINNED)
        sim_abort("%p is told something, which is not pinned", (const void *)word);
    sim_post(sim_stream_queue(stream),
             &(sim_work){.kind = SIM_WORK_TELL,
                         .word = sim_reach((const void *)word, sizeof *word, device, "a word"),
                         .number = number});
    return TB_OK;
}

tb_status sim_event_wait(tb_event *event)
{
    const int device = event_of(event)->device;
    tb_status status = sim_attempt(device, SIM_WAIT, NULL);
    sim_marker *marker = take_marker(event_of(event));
    if (marker != NULL)
        sim_await_marker(marker);
    sim_drop_marker(marker);
    return status == TB_OK && sim_lost(device) ? TB_DEVICE_LOST : status;
}

bool sim_event_passed(tb_event *event)
{
    sim_marker *marker = take_marker(event_of(event));
    bool passed = marker == NULL || sim_marker_is_up(marker);
    sim_drop_marker(marker);
    return passed;
}

void sim_count_streams(sim_usage *usage)
{
    usage->streams = atomic_load(&live_streams);
    usage->events = atomic_load(&live_events);
}
