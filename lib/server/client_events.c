#include "lib/server/client_events.h"

#include "lib/device/platform.h"
#include "lib/server/check_order.h"

#include <string.h>

/* Of all clients: records that the device has not come to. */
static atomic_int pending_records[TB_DEVICES_MAXIMUM];

bool tb_is_at_work(int device)
{
    return atomic_load_explicit(&pending_records[device], memory_order_relaxed) > 0;
}

static void drop_pending(tb_client_events *events, uint32_t number)
{
    tb_client_event *event = &events->events[number];
    int i = 0;
    if (!event->is_pending)
        return;
    while (events->pending[i] != number)
        i++;
    memmove(&events->pending[i], &events->pending[i + 1],
            (size_t)(--events->pending_count - i) * sizeof *events->pending);
    event->is_pending = false;
    atomic_fetch_sub(&pending_records[event->device], 1);
}

/* The latest is the last. */
static void add_pending(tb_client_events *events, uint32_t number, uint32_t stream)
{
    tb_client_event *event = &events->events[number];
    drop_pending(events, number);
    events->pending[events->pending_count++] = (uint16_t)number;
    event->stream = (uint8_t)stream;
    event->is_pending = true;
    atomic_fetch_add(&pending_records[event->device], 1);
}

/* The device says it before the event passes. */
static tb_status have_told(tb_client_events *events, const tb_order *order, tb_stream *stream)
{
    tb_client_event *event = &events->events[order->event];
    event->is_told = false;
    if (!events->hears_devices)
        return TB_OK;
    const tb_status status = tb_tell(stream, &events->wire->passed[order->event], order->number);
    event->is_told = status == TB_OK;
    events->hears_devices = status != TB_UNSUPPORTED;
    return events->hears_devices ? status : TB_OK;
}

tb_status tb_record_client_event(tb_client_events *events, const tb_order *order, int device,
                                 tb_stream *stream)
{
    if (order->event >= TB_WIRE_EVENTS)
        return TB_REFUSED;
    tb_client_event *event = &events->events[order->event];
    if (event->event && event->device != device)
        return TB_REFUSED;
    if (!event->event)
        TB_TRY(tb_create_event(device, &event->event));
    else if (event->is_told &&
             event->stream != order->stream) /* numbers are told in the order of the records */
        TB_TRY(tb_stream_wait(stream, event->event));
    event->device = device;
    event->number = order->number;
    add_pending(events, order->event, order->stream);
    TB_TRY(have_told(events, order, stream));
    return tb_record(event->event, stream);
}

tb_status tb_wait_client_event(const tb_client_events *events, uint32_t number, tb_stream *stream)
{
    if (number >= TB_WIRE_EVENTS)
        return TB_REFUSED;
    tb_event *event = events->events[number].event;
    return event ? tb_stream_wait(stream, event) : TB_OK;
}

tb_status tb_destroy_client_event(tb_client_events *events, uint32_t number)
{
    if (number >= TB_WIRE_EVENTS)
        return TB_REFUSED;
    tb_client_event *event = &events->events[number];
    if (!event->event)
        return TB_OK;
    const tb_status status = tb_event_wait(event->event);
    if (event->is_pending && status == TB_OK)
        atomic_store(&events->wire->passed[number], event->number);
    drop_pending(events, number);
    tb_destroy_event(event->event);
    event->event = NULL;
    return status;
}

static bool has_been_told(const tb_client_events *events, uint32_t number)
{
    return atomic_load_explicit(&events->wire->passed[number], memory_order_acquire) ==
           events->events[number].number;
}

/* What waiting for it says of a failed device is the status. */
static bool has_passed(const tb_client_events *events, uint32_t number, bool asks, tb_status *status)
{
    const tb_client_event *event = &events->events[number];
    if (event->is_told && has_been_told(events, number))
        return true;
    if ((event->is_told && !asks) || !tb_event_passed(event->event))
        return false;
    *status = tb_event_wait(event->event);
    return true;
}

/* Of a stream's records none passes before an earlier one: those behind one that has not are not asked. */
tb_status tb_tell_passed(tb_client_events *events, bool asks, bool *any)
{
    tb_wire *wire = events->wire;
    uint64_t waiting = 0; /* streams, by bits */
    tb_status status = TB_OK;
    int left = 0;
    for (int i = 0; i < events->pending_count; i++) {
        const uint16_t number = events->pending[i];
        tb_client_event *event = &events->events[number];
        const uint64_t stream = UINT64_C(1) << event->stream;
        if (status != TB_OK || (waiting & stream) != 0 || !has_passed(events, number, asks, &status)) {
            waiting |= stream;
            events->pending[left++] = number;
            continue;
        }
        event->is_pending = false;
        atomic_fetch_sub(&pending_records[event->device], 1);
        if (status == TB_OK && !event->is_told)
            atomic_store(&wire->passed[number], event->number);
    }
    *any = left < events->pending_count;
    events->pending_count = left;
    if (!*any || status != TB_OK)
        return status;
    atomic_fetch_add(&wire->events_passed, 1);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->events_passed);
    return TB_OK;
}

void tb_free_client_events(tb_client_events *events)
{
    for (uint32_t number = 0; number < TB_WIRE_EVENTS; number++)
        (void)tb_destroy_client_event(events, number);
}
