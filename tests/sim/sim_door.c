/* The door in front of the simulated device's operations, as real ones have it (lib/device/device_entry.h),
 * and the tables that the runtime sees. */
#include "lib/device/device_entry.h"
#include "lib/device/platform.h"
#include "tests/sim/sim.h"

#include <stdatomic.h>

/* An operation that answers a status; TB_DEVICE_LOST when the door is shut. */
#define THROUGH_DOOR_OF(table, operation, parameters, arguments)                                             \
    static tb_status operation parameters                                                                    \
    {                                                                                                        \
        TB_TRY(tb_enter_device());                                                                           \
        const tb_status status = table.operation arguments;                                                  \
        tb_leave_device();                                                                                   \
        return status;                                                                                       \
    }
#define THROUGH_DOOR(operation, parameters, arguments)                                                       \
    THROUGH_DOOR_OF(sim_operations_inside, operation, parameters, arguments)

/* One that takes a while: how many threads are inside is counted. */
#define COUNTED_THROUGH_DOOR(inside, operation, parameters, arguments)                                       \
    static tb_status operation parameters                                                                    \
    {                                                                                                        \
        TB_TRY(tb_enter_device());                                                                           \
        atomic_fetch_add(&inside, 1);                                                                        \
        const tb_status status = sim_operations_inside.operation arguments;                                  \
        atomic_fetch_sub(&inside, 1);                                                                        \
        tb_leave_device();                                                                                   \
        return status;                                                                                       \
    }

static atomic_int opening, waiting;

int sim_devices_opening(void)
{
    return atomic_load(&opening);
}

int sim_threads_waiting(void)
{
    return atomic_load(&waiting);
}

THROUGH_DOOR_OF(sim_platform_inside, open, (int *device_count), (device_count))
THROUGH_DOOR(describe, (int device, tb_device_description *description), (device, description))
COUNTED_THROUGH_DOOR(opening, open_device, (int device), (device))
THROUGH_DOOR(enable_access, (int device, int other), (device, other))
THROUGH_DOOR(memory, (int device, size_t *free_bytes, size_t *total_bytes), (device, free_bytes, total_bytes))
THROUGH_DOOR(allocate, (int device, size_t bytes, void **memory), (device, bytes, memory))
THROUGH_DOOR_OF(sim_platform_inside, allocate_pinned, (size_t bytes, void **memory), (bytes, memory))
THROUGH_DOOR(create_stream, (int device, tb_stream **stream), (device, stream))
THROUGH_DOOR(adopt_stream, (const tb_place *place, void *native, tb_stream **stream), (place, native, stream))
COUNTED_THROUGH_DOOR(waiting, synchronize, (tb_stream * stream), (stream))
THROUGH_DOOR(create_event, (int device, tb_event **event), (device, event))
THROUGH_DOOR(record, (tb_event * event, tb_stream *stream), (event, stream))
THROUGH_DOOR(stream_wait, (tb_stream * stream, tb_event *event), (stream, event))
COUNTED_THROUGH_DOOR(waiting, event_wait, (tb_event * event), (event))
THROUGH_DOOR(tell, (tb_stream * stream, _Atomic(uint32_t) *word, uint32_t number), (stream, word, number))
THROUGH_DOOR(enqueue, (tb_stream * stream, const tb_command *command), (stream, command))

/* One that answers nothing. */
#define QUIETLY_THROUGH_DOOR(table, operation, parameters, arguments)                                        \
    static void operation parameters                                                                         \
    {                                                                                                        \
        if (tb_enter_device() != TB_OK)                                                                      \
            return;                                                                                          \
        table.operation arguments;                                                                           \
        tb_leave_device();                                                                                   \
    }

QUIETLY_THROUGH_DOOR(sim_operations_inside, release, (int device, void *memory), (device, memory))
QUIETLY_THROUGH_DOOR(sim_platform_inside, release_pinned, (void *memory, size_t bytes), (memory, bytes))
QUIETLY_THROUGH_DOOR(sim_operations_inside, destroy_stream, (tb_stream * stream), (stream))
QUIETLY_THROUGH_DOOR(sim_operations_inside, destroy_event, (tb_event * event), (event))

static void locate(const void *address, tb_place *place, tb_span *span)
{
    *place = (tb_place){.memory = TB_MEMORY_HOST};
    if (span)
        *span = (tb_span){0, 0};
    if (tb_enter_device() != TB_OK)
        return;
    sim_platform_inside.locate(address, place, span);
    tb_leave_device();
}

static bool event_passed(tb_event *event)
{
    if (tb_enter_device() != TB_OK)
        return true;
    const bool passed = sim_operations_inside.event_passed(event);
    tb_leave_device();
    return passed;
}

static bool in_process(void)
{
    return sim_platform_inside.in_process();
}

static const tb_clusters *clusters(int device)
{
    return sim_operations_inside.clusters(device);
}

static bool reaches(int device, int other)
{
    if (tb_enter_device() != TB_OK)
        return false;
    const bool reached = sim_operations_inside.reaches(device, other);
    tb_leave_device();
    return reached;
}

#define OPERATIONS                                                                                           \
    .describe = describe, .open_device = open_device, .clusters = clusters, .reaches = reaches,              \
    .enable_access = enable_access, .memory = memory, .allocate = allocate, .release = release,              \
    .create_stream = create_stream, .adopt_stream = adopt_stream, .destroy_stream = destroy_stream,          \
    .synchronize = synchronize, .create_event = create_event, .destroy_event = destroy_event,                \
    .record = record, .stream_wait = stream_wait, .event_wait = event_wait, .event_passed = event_passed,    \
    .tell = tell, .enqueue = enqueue

/* The tables of devices that take pinned memory alone in copies, and of those that take any. */
static const tb_device_operations operations[] = {{OPERATIONS}, {.copies_pageable = true, OPERATIONS}};
static const tb_device_operations *tables[SIM_MAX_DEVICES];

const tb_device_operations *sim_operations_of(int device)
{
    return &operations[sim_get_settings()->pageable[device]];
}

void sim_assign_tables(void)
{
    for (int device = 0; device < sim_get_settings()->devices; device++)
        tables[device] = sim_operations_of(device);
}

const tb_platform_operations tb_platform = {
    .name = "simulated",
    .identity = "simulated",
    .thread_names = SIM_THREAD_NAME,
    .in_process = in_process,
    .locate = locate,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .pin = sim_pin,
    .unpin = sim_unpin,
    .open = open,
    .tables = tables,
};
