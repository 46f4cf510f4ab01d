#include "lib/pipeline.h"

#include "lib/machine.h"
#include "lib/options.h"

#include <pthread.h>
#include <stdlib.h>

#define DEVICES_MAXIMUM 64

/* Slots of 8 MiB, unless the option says otherwise: long enough for the link's full rate, and all of them
 * together stay in the caches of a host that has a GPU. */
#define PINNED_MIB        (2L * TB_SLOTS * 8)
#define PINNED_MIB_IN_ALL 256L

/* Who comes first is served first. */
static struct queue {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    unsigned long next_ticket, serving;
    double backlog;
    tb_pipeline *pipeline; /* the one that is kept, with nobody or with who is served */
} queues[DEVICES_MAXIMUM] = {
    [0 ... DEVICES_MAXIMUM - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER},
};

size_t tb_slot_bytes(void)
{
    long mib = tb_option_value(TB_OPTION_PINNED_MEMORY);
    int devices = tb_machine_facts().chip_count;
    if (mib == 0)
        mib = devices * PINNED_MIB > PINNED_MIB_IN_ALL ? PINNED_MIB_IN_ALL / devices : PINNED_MIB;
    return ((size_t)mib << 20) / (2 * TB_SLOTS);
}

tb_status tb_need_event(const tb_pipeline *pipeline, tb_event **event)
{
    return *event ? TB_OK : tb_device.create_event(pipeline->device, event);
}

tb_status tb_need_slot(const tb_pipeline *pipeline, tb_slot *slot)
{
    if (!slot->pinned.memory)
        TB_TRY(tb_take_buffer(TB_PINNED, pipeline->slot_bytes, &slot->pinned));
    return tb_need_event(pipeline, &slot->done);
}

static tb_status open_pipeline(tb_pipeline *pipeline)
{
    pipeline->slot_bytes = tb_slot_bytes();
    TB_TRY(tb_device.create_stream(pipeline->device, &pipeline->load));
    TB_TRY(tb_device.create_stream(pipeline->device, &pipeline->compute));
    return tb_device.create_stream(pipeline->device, &pipeline->unload);
}

static void close_stream(tb_stream *stream)
{
    if (stream)
        tb_device.destroy_stream(stream);
}

/* Of one that was opened in part: nothing but streams. */
static void close_pipeline(tb_pipeline *pipeline)
{
    close_stream(pipeline->load);
    close_stream(pipeline->compute);
    close_stream(pipeline->unload);
    free(pipeline);
}

static tb_status make_pipeline(int device, tb_pipeline **pipeline)
{
    *pipeline = calloc(1, sizeof **pipeline);
    if (!*pipeline)
        return TB_OUT_OF_MEMORY;
    (*pipeline)->device = device;
    tb_status status = open_pipeline(*pipeline);
    if (status != TB_OK) {
        close_pipeline(*pipeline);
        *pipeline = NULL;
    }
    return status;
}

static void leave(struct queue *queue, double seconds)
{
    pthread_mutex_lock(&queue->lock);
    queue->serving++;
    queue->backlog -= seconds;
    pthread_cond_broadcast(&queue->turn);
    pthread_mutex_unlock(&queue->lock);
}

tb_status tb_take_pipeline(int device, double seconds, tb_pipeline **pipeline)
{
    struct queue *queue = &queues[device];
    pthread_mutex_lock(&queue->lock);
    unsigned long ticket = queue->next_ticket++;
    queue->backlog += seconds;
    while (queue->serving != ticket)
        pthread_cond_wait(&queue->turn, &queue->lock);
    pthread_mutex_unlock(&queue->lock);

    tb_status status = TB_OK;
    if (!queue->pipeline)
        status = make_pipeline(device, &queue->pipeline);
    *pipeline = queue->pipeline;
    if (status != TB_OK)
        leave(queue, seconds);
    return status;
}

void tb_give_pipeline(tb_pipeline *pipeline, double seconds)
{
    leave(&queues[pipeline->device], seconds);
}

double tb_pipeline_backlog(int device)
{
    struct queue *queue = &queues[device];
    pthread_mutex_lock(&queue->lock);
    double backlog = queue->backlog;
    pthread_mutex_unlock(&queue->lock);
    return backlog;
}
