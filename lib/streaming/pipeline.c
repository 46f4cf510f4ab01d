#include "lib/streaming/pipeline.h"

#include "lib/process/leaving.h"
#include "lib/process/lock.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/user/options.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"

#include <pthread.h>
#include <string.h>

/* Medium products leave most of the device idle, and the link: so many are at work side by side. */
#define CHANNELS 4

/* Who comes first is served first: by the first channel, which has the large products to itself, or by any
 * that is free. */
static struct queue {
    tb_lock lock;
    uint32_t generation;       /* of the connection that it is of (lib/device/served_use.h) */
    _Atomic(uint32_t) changes; /* who waits sleeps on it */
    tb_turn *first;            /* of the turns that wait, which are a list */
    int turns;                 /* that wait or are served */
    bool taken[CHANNELS];
    tb_pipeline *channels[CHANNELS]; /* kept between turns; NULL: to be made */
} queues[TB_DEVICES_MAXIMUM];

/* Of all turns that wait or are served. Written under the queue's lock. */
_Atomic(double) tb_pipeline_backlogs[TB_DEVICES_MAXIMUM];

/* A forked child has none of its parent's pipelines. */
static void forget_in_child(void)
{
    memset(queues, 0, sizeof queues);
    memset(tb_pipeline_backlogs, 0, sizeof tb_pipeline_backlogs);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

static void set_backlog(const struct queue *queue, double seconds)
{
    TB_STORE(&tb_pipeline_backlogs[queue - queues], seconds);
}

#define STAGING_SHARE 8 /* of the limit */

size_t tb_staging_bytes(const tb_pipeline *pipeline)
{
    const size_t limit = (size_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20,
                 share = limit / STAGING_SHARE;
    return limit > 0 && share < pipeline->slot_bytes ? share : pipeline->slot_bytes;
}

tb_status tb_need_event(const tb_pipeline *pipeline, tb_event **event)
{
    return *event ? TB_OK : tb_create_event(pipeline->device, event);
}

tb_status tb_need_slot(const tb_pipeline *pipeline, tb_slot *slot)
{
    if (!slot->pinned.memory) {
        TB_TRY(tb_take_buffer(tb_pinned_for(pipeline->device), pipeline->slot_bytes, &slot->pinned));
        slot->found = pipeline->device < TB_SERVED_FIRST ? SIZE_MAX : 0;
    }
    return tb_need_event(pipeline, &slot->done);
}

static tb_status open_pipeline(tb_pipeline *pipeline)
{
    pipeline->slot_bytes = tb_slot_bytes();
    TB_TRY(tb_create_stream(pipeline->device, &pipeline->load));
    TB_TRY(tb_create_stream(pipeline->device, &pipeline->compute));
    return tb_create_stream(pipeline->device, &pipeline->unload);
}

static void close_stream(tb_stream *stream)
{
    if (stream)
        tb_destroy_stream(stream);
}

static void close_events(tb_event *const *events, int count)
{
    for (int i = 0; i < count; i++)
        if (events[i])
            tb_destroy_event(events[i]);
}

/* Nothing uses it, and its slots are empty. What it remembers of operands is left as it is, as it may be half
 * changed. */
static void close_pipeline(tb_pipeline *pipeline)
{
    close_stream(pipeline->load);
    close_stream(pipeline->compute);
    close_stream(pipeline->unload);
    close_stream(pipeline->across);
    for (int i = 0; i < TB_SLOTS; i++) {
        close_events(&pipeline->in[i].done, 1);
        close_events(&pipeline->out[i].done, 1);
    }
    close_events(&pipeline->ordered, 1);
    close_events(&pipeline->loaded, 1);
    close_events(&pipeline->crossed, 1);
    close_events(pipeline->consumed, TB_RING_MAXIMUM);
    close_events(pipeline->finished, TB_SWATHS_IN_FLIGHT);
    tb_give_buffer(&pipeline->notes_room);
    tb_unmake(pipeline);
}

/* The turn has it from the beginning, and its channel when it is whole: who leaves in between closes it
 * (tb_leave_turn). */
static tb_status make_pipeline(tb_turn *turn, tb_pipeline **kept)
{
    tb_pipeline *pipeline = turn->pipeline = tb_make(sizeof *pipeline);
    if (!pipeline)
        return TB_OUT_OF_MEMORY;
    pipeline->device = turn->device;
    pipeline->channel = turn->channel;
    pipeline->generation = tb_use_generation();
    const tb_status status = open_pipeline(pipeline);
    if (status == TB_OK) {
        *kept = pipeline;
    } else {
        turn->pipeline = NULL;
        close_pipeline(pipeline);
    }
    return status;
}

/* Where a connection has been forgotten, its streams, events and memory are nobody's. */
static void drop_forgotten(tb_pipeline **kept)
{
    tb_pipeline *pipeline = *kept;
    if (!pipeline || pipeline->device < TB_SERVED_FIRST || pipeline->generation == tb_use_generation())
        return;
    *kept = NULL;
    tb_forget_operands(&pipeline->operands);
    tb_unmake(pipeline);
}

/* Frees the lock, and wakes who waits. */
static void announce(struct queue *queue)
{
    atomic_fetch_add(&queue->changes, 1);
    tb_machine_note_use((int)(queue - queues));
    tb_free_lock(&queue->lock);
    tb_wake_all(&queue->changes);
}

/* Under the lock. Nobody has a turn any more at a server's device whose connection has been forgotten, whatever who left in the middle
 * has left of its queue. */
static void begin_anew(struct queue *queue, int device)
{
    if (device < TB_SERVED_FIRST || queue->generation == tb_use_generation())
        return;
    queue->generation = tb_use_generation();
    queue->first = NULL;
    queue->turns = 0;
    memset(queue->taken, 0, sizeof queue->taken);
    set_backlog(queue, 0);
    tb_mend_lock(&queue->lock);
}

/* Under the lock. */
static void enter(struct queue *queue, tb_turn *turn)
{
    tb_turn **link = &queue->first;
    while (*link)
        link = &(*link)->next;
    *link = turn;
    queue->turns++;
    set_backlog(queue, tb_pipeline_backlog(turn->device) + turn->seconds);
    turn->in_queue = true;
}

/* Under the lock. */
static void stop_waiting(struct queue *queue, const tb_turn *turn)
{
    for (tb_turn **link = &queue->first; *link; link = &(*link)->next)
        if (*link == turn) {
            *link = turn->next;
            return;
        }
}

/* Those that there is pinned memory for, of as many as are wanted. */
static int channels_of(int device, int wanted)
{
    int (*pipelines)(int, int) = tb_device_at(device)->pipelines;
    const int most = pipelines ? pipelines(device, wanted < CHANNELS ? wanted : CHANNELS) : CHANNELS;
    return most < CHANNELS ? most : CHANNELS;
}

/* Under the lock. -1: none is free. */
static int free_channel(const struct queue *queue, const tb_turn *turn)
{
    for (int channel = 0; channel < (turn->medium ? channels_of(turn->device, 0) : 1); channel++)
        if (!queue->taken[channel])
            return channel;
    return -1;
}

/* Until the turn has a channel; TB_DEVICE_LOST where nobody will come to one any more. */
static tb_status wait_for_channel(struct queue *queue, tb_turn *turn)
{
    tb_take_lock(&queue->lock);
    begin_anew(queue, turn->device);
    enter(queue, turn);
    while (!tb_is_damaged(&queue->lock) &&
           (queue->first != turn || (turn->channel = free_channel(queue, turn)) < 0)) {
        const uint32_t seen = atomic_load(&queue->changes);
        const int turns = queue->turns;
        tb_free_lock(&queue->lock);
        if (turn->medium)
            (void)channels_of(turn->device, turns);
        tb_wait_while(&queue->changes, seen, -1);
        tb_take_lock(&queue->lock);
    }
    if (tb_is_damaged(&queue->lock)) {
        announce(queue);
        return TB_DEVICE_LOST;
    }
    stop_waiting(queue, turn);
    queue->taken[turn->channel] = true;
    announce(queue);
    return TB_OK;
}

static void end_use(tb_turn *turn)
{
    if (turn->in_use) {
        turn->in_use = false;
        tb_end_use(turn->device);
    }
}

void tb_end_turn(tb_turn *turn)
{
    struct queue *queue = &queues[turn->device];
    tb_take_lock(&queue->lock);
    stop_waiting(queue, turn);
    if (turn->channel >= 0)
        queue->taken[turn->channel] = false;
    /* Sums of seconds are rounded: a device that nobody uses is to have nothing to do. */
    set_backlog(queue, --queue->turns > 0 ? tb_pipeline_backlog(turn->device) - turn->seconds : 0);
    turn->in_queue = false;
    announce(queue);
    end_use(turn);
}

tb_status tb_take_turn(tb_turn *turn)
{
    struct queue *queue = &queues[turn->device];
    turn->channel = -1;
    turn->pipeline = NULL;
    turn->in_use = tb_begin_use(turn->device);
    if (!turn->in_use)
        return TB_DEVICE_LOST;
    tb_status status = wait_for_channel(queue, turn);
    if (status == TB_OK && !tb_machine_device(turn->device)) /* lost while the thread was waiting */
        status = TB_DEVICE_LOST;
    if (status == TB_OK)
        drop_forgotten(&queue->channels[turn->channel]);
    if (status == TB_OK && !(turn->pipeline = queue->channels[turn->channel]))
        status = make_pipeline(turn, &queue->channels[turn->channel]);
    if (status != TB_OK)
        tb_end_turn(turn);
    return status;
}

void tb_leave_turn(void *left)
{
    tb_turn *turn = left;
    const bool in_the_middle = tb_left_in_the_middle();
    if (!turn->in_queue) { /* not yet, or no more */
        end_use(turn);
        return;
    }
    if (turn->channel >= 0 && turn->pipeline) {
        queues[turn->device].channels[turn->channel] = NULL;
        if (!in_the_middle && tb_machine_device(turn->device))
            close_pipeline(turn->pipeline);
    }
    tb_end_turn(turn);
}

int tb_devices_at_work(void)
{
    int devices = 0;
    const tb_machine machine = tb_machine_facts();
    for (int index = 0; index < machine.chip_count; index++)
        devices += tb_pipeline_backlog(machine.chips[index].device) > 0;
    return devices;
}
