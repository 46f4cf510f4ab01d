#include "lib/device/copies.h"

#include "dispatch/tiling.h"
#include "lib/device/device_entry.h"
#include "lib/device/memory.h"
#include "lib/device/platform.h"
#include "lib/process/leaving.h"
#include "lib/process/lock.h"

#include <string.h>

/* Ordinary memory goes through so much pinned memory, where it has to, or as little as can be had: not tuned. */
#define STAGING_BYTES ((size_t)1 << 20)
#define STAGING_LEAST ((size_t)4 << 10)

static _Thread_local double link_bytes;

void tb_add_link_bytes(double bytes)
{
    link_bytes += bytes;
}

double tb_take_link_bytes(void)
{
    double taken = link_bytes;
    link_bytes = 0;
    return taken;
}

/* ---- Ordinary memory, by way of pinned memory ------------------------------------------------------------- */

typedef struct staging {
    tb_stream *stream;
    tb_buffer buffer;
} staging;

/* In the middle of an operation nobody knows what the device still does with the buffer: it is lost. */
static void leave(void *left)
{
    staging *staging = left;
    if (tb_device_depth == 0 && !tb_has_locks() && tb_synchronize(staging->stream) == TB_OK)
        tb_give_buffer(&staging->buffer);
}

static void copy_rows(const tb_copy *rows)
{
    for (size_t row = 0; row < rows->rows; row++)
        memcpy((char *)rows->target + row * rows->target_pitch,
               (const char *)rows->source + row * rows->source_pitch, rows->row_bytes);
}

/* On return the stream has done it. */
static tb_status copy_piece(const staging *staging, const tb_copy *piece)
{
    const bool from_host = piece->direction == TB_HOST_TO_DEVICE;
    tb_copy there = *piece, on = *piece;
    there.target = staging->buffer.memory;
    on.source = staging->buffer.memory;
    there.target_pitch = on.source_pitch = piece->row_bytes;
    if (from_host)
        copy_rows(&there);
    TB_TRY(tb_enqueue_copy(staging->stream, from_host ? &on : &there));
    TB_TRY(tb_synchronize(staging->stream));
    if (!from_host)
        copy_rows(&on);
    return TB_OK;
}

/* Some whole rows at a time, or a part of one. */
static tb_status copy_pieces(const staging *staging, const tb_copy *copy)
{
    const size_t room = staging->buffer.bytes, width = copy->row_bytes < room ? copy->row_bytes : room,
                 height = room / width;
    for (size_t row = 0; row < copy->rows; row += height)
        for (size_t first = 0; first < copy->row_bytes; first += width) {
            tb_copy piece = *copy;
            piece.target = (char *)copy->target + row * copy->target_pitch + first;
            piece.source = (const char *)copy->source + row * copy->source_pitch + first;
            piece.row_bytes = copy->row_bytes - first < width ? copy->row_bytes - first : width;
            piece.rows = copy->rows - row < height ? copy->rows - row : height;
            TB_TRY(copy_piece(staging, &piece));
        }
    return TB_OK;
}

static tb_status copy_staged(tb_stream *stream, const tb_copy *copy)
{
    staging staging = {.stream = stream};
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &staging);
    const int pinned = stream->operations->has_pinned ? TB_PINNED_SERVED : TB_PINNED;
    tb_status status = TB_OUT_OF_MEMORY;
    for (size_t bytes = STAGING_BYTES; status == TB_OUT_OF_MEMORY && bytes >= STAGING_LEAST; bytes /= 16)
        status = tb_take_buffer(pinned, bytes, &staging.buffer);
    if (status == TB_OK)
        status = copy_pieces(&staging, copy);
    tb_give_buffer(&staging.buffer);
    tb_not_left(&leaving);
    return status;
}

static bool needs_staging(const tb_stream *stream, const tb_copy *copy)
{
    const void *side = copy->direction == TB_HOST_TO_DEVICE ? copy->source : copy->target;
    tb_place place;
    if (stream->operations->copies_pageable || copy->rows == 0 || copy->row_bytes == 0)
        return false;
    if (stream->operations->has_pinned)
        return !stream->operations->has_pinned(side);
    tb_platform.locate(side, &place, NULL);
    return place.memory == TB_MEMORY_HOST;
}

/* ---- Copies ----------------------------------------------------------------------------------------------- */

tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy)
{
    if (copy->direction == TB_DEVICE_TO_DEVICE)
        return tb_enqueue_copy(stream, copy);
    tb_add_link_bytes((double)copy->row_bytes * (double)copy->rows);
    return (needs_staging(stream, copy) ? copy_staged : tb_enqueue_copy)(stream, copy);
}

tb_status tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand, void *target,
                          int64_t target_ld)
{
    tb_copy copy = {
        .direction = direction,
        .target = target,
        .target_pitch = (size_t)target_ld * tb_bytes_of(operand->element),
        .source = operand->data,
        .source_pitch = tb_pitch(operand),
        .row_bytes = tb_column_bytes(operand),
        .rows = (size_t)operand->columns,
    };
    return tb_issue_copy(stream, &copy);
}

/* Within a device by one command. */
static tb_status copy_at_once(tb_stream *stream, tb_direction direction, const tb_product *product,
                              const tb_matrix *from, const tb_matrix *to)
{
    const tb_masked_copy copy = {*from, *to, product->mask, product->diagonal, product->mask_pairs};
    return product->mask == TB_FULL ? tb_copy_operand(stream, direction, from, to->data, to->ld)
                                    : tb_enqueue_masked_copy(stream, &copy);
}

tb_status tb_copy_masked(tb_stream *stream, tb_direction direction, const tb_product *product,
                         const tb_matrix *from, void *target, int64_t target_ld, int64_t *columns)
{
    tb_matrix to = *from;
    to.data = target;
    to.ld = target_ld;
    *columns = 0;
    if (product->mask == TB_FULL || direction == TB_DEVICE_TO_DEVICE) {
        TB_TRY(copy_at_once(stream, direction, product, from, &to));
        *columns = product->n;
    }
    for (int64_t j; (j = *columns) < product->n; ++*columns) {
        const tb_range rows = tb_masked_rows(product, j);
        const tb_matrix column = tb_rectangle(from, rows.first, j, rows.count, 1);
        if (rows.count > 0)
            TB_TRY(tb_copy_operand(stream, direction, &column, tb_at(&to, rows.first, j), target_ld));
    }
    return TB_OK;
}
