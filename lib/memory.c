#include "lib/memory.h"

#include "lib/device.h"
#include "lib/machine.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* More buffers than this are not kept: three operands of a few threads' calls at a time. */
#define KEPT_MAXIMUM 24

/* What cuMemAllocPitch rounds columns up to on every device so far; a buffer that is taken again for another
 * shape is divided the same way. */
#define PITCH_BYTES ((size_t)512)

static tb_buffer kept[KEPT_MAXIMUM];
static size_t kept_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release(tb_buffer *buffer)
{
    if (buffer->device == TB_PINNED)
        tb_device.release_pinned(buffer->memory);
    else
        tb_device.release(buffer->device, buffer->memory);
    *buffer = (tb_buffer){0};
}

/* The smallest kept buffer that is large enough, or none. */
static tb_buffer take_kept(int device, size_t bytes)
{
    tb_buffer found = {0};
    pthread_mutex_lock(&lock);
    size_t best = kept_count;
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].device == device && kept[i].bytes >= bytes &&
            (best == kept_count || kept[i].bytes < kept[best].bytes))
            best = i;
    if (best < kept_count) {
        found = kept[best];
        kept[best] = kept[--kept_count];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Frees what is kept for a device; false when there was nothing. */
static bool release_kept(int device)
{
    bool released = false;
    for (;;) {
        tb_buffer buffer = take_kept(device, 0);
        if (!buffer.memory)
            return released;
        release(&buffer);
        released = true;
    }
}

size_t tb_kept_bytes(int device)
{
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].device == device)
            bytes += kept[i].bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

static tb_status allocate(int device, size_t bytes, void **memory)
{
    return device == TB_PINNED ? tb_device.allocate_pinned(bytes, memory)
                               : tb_device.allocate(device, bytes, memory);
}

tb_status tb_take_buffer(int device, size_t bytes, tb_buffer *buffer)
{
    *buffer = take_kept(device, bytes);
    if (buffer->memory)
        return TB_OK;
    tb_status status = allocate(device, bytes, &buffer->memory);
    if (status == TB_OUT_OF_MEMORY && release_kept(device))
        status = allocate(device, bytes, &buffer->memory);
    if (status == TB_OK) {
        buffer->bytes = bytes;
        buffer->device = device;
    } else {
        buffer->memory = NULL;
    }
    return status;
}

tb_status tb_take_matrix(int device, int64_t rows, int64_t columns, tb_buffer *buffer,
                         int64_t *leading_dimension)
{
    size_t row_bytes = (size_t)rows * sizeof(float);
    size_t pitch = (row_bytes + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    *leading_dimension = (int64_t)(pitch / sizeof(float));
    *buffer = take_kept(device, pitch * (size_t)columns);
    if (buffer->memory)
        return TB_OK;

    tb_status status =
        tb_device.allocate_pitched(device, row_bytes, (size_t)columns, &buffer->memory, &pitch);
    if (status == TB_OUT_OF_MEMORY && release_kept(device))
        status = tb_device.allocate_pitched(device, row_bytes, (size_t)columns, &buffer->memory, &pitch);
    if (status != TB_OK) {
        buffer->memory = NULL;
        return status;
    }
    buffer->bytes = pitch * (size_t)columns;
    buffer->device = device;
    *leading_dimension = (int64_t)(pitch / sizeof(float));
    return TB_OK;
}

void tb_give_buffer(tb_buffer *buffer)
{
    if (!buffer->memory)
        return;
    pthread_mutex_lock(&lock);
    bool room = kept_count < KEPT_MAXIMUM;
    if (room)
        kept[kept_count++] = *buffer;
    pthread_mutex_unlock(&lock);
    if (room)
        *buffer = (tb_buffer){0};
    else
        release(buffer);
}
