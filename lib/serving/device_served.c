#include "lib/serving/device_served.h"

#include "lib/device/device_entry.h"
#include "lib/device/memory.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"
#include "lib/process/leaving.h"
#include "lib/process/lock.h"
#include "lib/serving/connection.h"
#include "lib/serving/slots.h"
#include "words/integers.h"

#include <string.h>

/* The last events are the streams' own. */
enum { EVENTS = TB_WIRE_EVENTS - TB_WIRE_STREAMS };

/* What the client knows of an event: a number for each record. */
typedef struct served_event {
    tb_event base;
    uint32_t number;
    _Atomic(uint32_t) records;
} served_event;

typedef struct served_stream {
    tb_stream base;
    uint32_t number, device;
    served_event own; /* synchronized by */
} served_stream;

static served_event events[EVENTS];
static served_stream streams[TB_WIRE_STREAMS];

/* Which of these are taken. */
static tb_lock lock;
static bool event_taken[EVENTS], stream_taken[TB_WIRE_STREAMS];

static uint32_t server_ordinal(int device)
{
    return (uint32_t)(device - TB_SERVED_FIRST);
}

static served_stream *served(const tb_stream *stream)
{
    return (served_stream *)(uintptr_t)stream;
}

static served_event *served_of(const tb_event *event)
{
    return (served_event *)(uintptr_t)event;
}

/* The first that nobody has; -1: there is none. */
static int take_number(bool *taken, int count)
{
    int number = 0;
    tb_take_lock(&lock);
    while (number < count && taken[number])
        number++;
    if (number < count)
        taken[number] = true;
    tb_free_lock(&lock);
    return number < count ? number : -1;
}

static void give_number(bool *taken, uint32_t number)
{
    tb_take_lock(&lock);
    taken[number] = false;
    tb_free_lock(&lock);
}

/* Nothing is ordered once the process exits. Nobody counts who is in here: there is no driver to be left in the middle, and of orders a
 * lock says who writes one. */
static bool is_shut(void)
{
    return atomic_load_explicit(&tb_device_shut, memory_order_relaxed);
}

static tb_status send(const tb_order *order)
{
    return is_shut() ? TB_DEVICE_LOST : tb_send_order(order);
}

static tb_status ask(tb_order *order, uint64_t answers[2])
{
    return is_shut() ? TB_DEVICE_LOST : tb_ask_server(order, answers);
}

/* ---- Devices ---------------------------------------------------------------------------------------------- */

static tb_status describe(int device, tb_device_description *description)
{
    *description = tb_server_welcome()->descriptions[server_ordinal(device)];
    return TB_OK;
}

static tb_status open_device(int device)
{
    (void)device;
    return TB_OK;
}

static const tb_clusters *clusters(int device)
{
    return tb_server_welcome()->chips[server_ordinal(device)].clusters;
}

static bool reaches(int device, int other)
{
    (void)device, (void)other;
    return false;
}

static tb_status enable_access(int device, int other)
{
    (void)device, (void)other;
    return TB_UNSUPPORTED;
}

static tb_status memory(int device, size_t *free_bytes, size_t *total_bytes)
{
    tb_order order = {.kind = TB_ORDER_MEMORY, .device = server_ordinal(device)};
    uint64_t answers[2];
    TB_TRY(ask(&order, answers));
    *free_bytes = (size_t)answers[0];
    *total_bytes = (size_t)answers[1];
    return TB_OK;
}

static tb_status allocate(int device, size_t bytes, void **memory)
{
    tb_order order = {.kind = TB_ORDER_ALLOCATE, .device = server_ordinal(device), .bytes = bytes};
    uint64_t answers[2];
    TB_TRY(ask(&order, answers));
    *memory = (void *)(uintptr_t)answers[0];
    return TB_OK;
}

static void release(int device, void *memory)
{
    (void)send(&(tb_order){
        .kind = TB_ORDER_RELEASE, .device = server_ordinal(device), .address = (uintptr_t)memory});
}

/* ---- Slots ------------------------------------------------------------------------------------------------ */

static int pipelines(int device, int wanted)
{
    (void)device;
    if (tb_want_pipelines(wanted))
        (void)send(&(tb_order){.kind = TB_ORDER_MORE_SLOTS});
    return tb_count_pipelines();
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

static tb_status create_event(int device, tb_event **event)
{
    const int number = take_number(event_taken, EVENTS);
    if (number < 0)
        return TB_OUT_OF_MEMORY;
    served_event *made = &events[number];
    made->base.operations = tb_served_devices;
    made->number = (uint32_t)number;
    const tb_status status = send(
        &(tb_order){.kind = TB_ORDER_CREATE_EVENT, .device = server_ordinal(device), .event = made->number});
    if (status != TB_OK)
        give_number(event_taken, made->number);
    *event = &made->base;
    return status;
}

static void destroy_event(tb_event *event)
{
    const uint32_t number = served_of(event)->number;
    (void)send(&(tb_order){.kind = TB_ORDER_DESTROY_EVENT, .event = number});
    give_number(event_taken, number);
}

/* Records are numbered from 1, by all that have ever had the event's number. */
static tb_status record_in(served_event *event, const served_stream *stream)
{
    const uint32_t number = atomic_fetch_add(&event->records, 1) + 1;
    return send(&(tb_order){
        .kind = TB_ORDER_RECORD, .stream = stream->number, .event = event->number, .number = number});
}

static tb_status record(tb_event *event, tb_stream *stream)
{
    return record_in(served_of(event), served(stream));
}

static tb_status wait_for(const served_event *event)
{
    return is_shut() ? TB_DEVICE_LOST : tb_wait_for_record(event->number, atomic_load(&event->records));
}

static tb_status event_wait(tb_event *event)
{
    return wait_for(served_of(event));
}

static bool event_passed(tb_event *event)
{
    const served_event *passed = served_of(event);
    return tb_record_has_passed(passed->number, atomic_load(&passed->records));
}

/* What a server asks of its own devices. */
static tb_status tell(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number)
{
    (void)stream, (void)word, (void)number;
    return TB_UNSUPPORTED;
}

/* ---- Streams ---------------------------------------------------------------------------------------------- */

static tb_status create_stream(int device, tb_stream **stream)
{
    const int number = take_number(stream_taken, TB_WIRE_STREAMS);
    if (number < 0)
        return TB_OUT_OF_MEMORY;
    served_stream *made = &streams[number];
    made->base.operations = tb_served_devices;
    made->number = (uint32_t)number;
    made->device = server_ordinal(device);
    made->own.number = EVENTS + made->number;
    const tb_status status =
        send(&(tb_order){.kind = TB_ORDER_CREATE_STREAM, .device = made->device, .stream = made->number});
    if (status != TB_OK)
        give_number(stream_taken, made->number);
    *stream = &made->base;
    return status;
}

/* The program's streams are not the server's. */
static tb_status adopt_stream(const tb_place *place, void *native, tb_stream **stream)
{
    (void)place, (void)native, (void)stream;
    return TB_UNSUPPORTED;
}

static void destroy_stream(tb_stream *stream)
{
    const served_stream *destroyed = served(stream);
    (void)send(&(tb_order){.kind = TB_ORDER_DESTROY_STREAM, .stream = destroyed->number});
    give_number(stream_taken, destroyed->number);
}

static tb_status synchronize(tb_stream *stream)
{
    served_stream *waited = served(stream);
    TB_TRY(record_in(&waited->own, waited));
    return wait_for(&waited->own);
}

static tb_status stream_wait(tb_stream *stream, tb_event *event)
{
    return send(&(tb_order){
        .kind = TB_ORDER_WAIT, .stream = served(stream)->number, .event = served_of(event)->number});
}

/* The host's side of a copy becomes an offset in the slots. */
static bool name_slot(tb_copy *copy)
{
    const void **side = copy->direction == TB_HOST_TO_DEVICE ? &copy->source : (const void **)&copy->target;
    if (copy->direction == TB_DEVICE_TO_DEVICE)
        return true;
    if (!tb_are_slots(*side))
        return false;
    *side = (const void *)((uintptr_t)*side - (uintptr_t)tb_server_slots());
    return true;
}

static tb_status enqueue(tb_stream *stream, const tb_command *command)
{
    tb_order order;
    memset(&order, 0, offsetof(tb_order, command));
    order.kind = TB_ORDER_COMMAND;
    order.stream = served(stream)->number;
    order.command = *command;
    if (command->kind == TB_COMMAND_COPY && !name_slot(&order.command.copy))
        return TB_UNSUPPORTED;
    return send(&order);
}

/* ---- Copies that the server keeps ------------------------------------------------------------------------- */

static const uint64_t *fingerprint_key(void)
{
    const tb_welcome *welcome = tb_server_welcome();
    return welcome->keeps_copies ? welcome->fingerprint_key : NULL;
}

static void tell_key(uint64_t key)
{
    (void)send(&(tb_order){.kind = TB_ORDER_TELL_KEY, .copy.key = key});
}

static tb_order order_of(tb_order_kind kind, const tb_stream *stream, const tb_others_copy *copy)
{
    const uint64_t offset = (uintptr_t)copy->notes - (uintptr_t)tb_server_slots();
    return (tb_order){.kind = kind,
                      .stream = served(stream)->number,
                      .bytes = copy->bytes,
                      .address = (uintptr_t)copy->memory,
                      .copy = {.key = copy->key, .notes = offset, .notes_bytes = copy->notes_bytes}};
}

static tb_status find_copy(tb_stream *stream, tb_others_copy *copy)
{
    tb_order order = order_of(TB_ORDER_FIND_COPY, stream, copy);
    uint64_t answers[2];
    TB_TRY(ask(&order, answers));
    copy->notes_bytes = answers[0] <= copy->notes_bytes ? (size_t)answers[0] : 0;
    return TB_OK;
}

static tb_status keep_copy(tb_stream *stream, const tb_others_copy *copy)
{
    tb_order order = order_of(TB_ORDER_KEEP_COPY, stream, copy);
    uint64_t answers[2];
    return ask(&order, answers);
}

static const tb_others_copies others = {
    .fingerprint_key = fingerprint_key,
    .knows = tb_server_knows_key,
    .tell = tell_key,
    .find = find_copy,
    .keep = keep_copy,
};

static const tb_device_operations operations = {
    .others = &others,
    .allocate_pinned = tb_take_slots,
    .release_pinned = tb_give_slots,
    .has_pinned = tb_are_slots,
    .pipelines = pipelines,
    .describe = describe,
    .open_device = open_device,
    .clusters = clusters,
    .reaches = reaches,
    .enable_access = enable_access,
    .memory = memory,
    .allocate = allocate,
    .release = release,
    .create_stream = create_stream,
    .adopt_stream = adopt_stream,
    .destroy_stream = destroy_stream,
    .synchronize = synchronize,
    .create_event = create_event,
    .destroy_event = destroy_event,
    .record = record,
    .stream_wait = stream_wait,
    .event_wait = event_wait,
    .event_passed = event_passed,
    .tell = tell,
    .enqueue = enqueue,
};

/* ---- The connection --------------------------------------------------------------------------------------- */

static void forget_numbers(void)
{
    memset(streams, 0, sizeof streams);
    memset(events, 0, sizeof events);
    memset(stream_taken, 0, sizeof stream_taken);
    memset(event_taken, 0, sizeof event_taken);
    lock = (tb_lock){0};
    tb_forget_slots();
}

/* Pipelines are forgotten by whoever takes them next (lib/streaming/pipeline.c). */
static void forget(void)
{
    tb_forget_served_buffers(true);
    forget_numbers();
    tb_forget_server();
}

static void forget_taken_back(void)
{
    tb_forget_served_buffers(false);
}

static void begin_use(void)
{
    tb_begin_orders(forget_taken_back);
}

static const tb_use_steps steps = {.begin = begin_use, .end = tb_end_orders, .forget = forget};

bool tb_meet_server(size_t slot_bytes, int milliseconds)
{
    if (!tb_connect_to_server(slot_bytes, milliseconds))
        return false;
    if (!tb_served_devices)
        tb_served_devices = &operations;
    tb_open_to_use(&steps);
    return true;
}

void tb_forget_served_devices(void)
{
    tb_forget_uses();
    forget_numbers();
    tb_forget_server_in_child();
}
