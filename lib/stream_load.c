/* Operands' way in: parts of them go through the slots to the device, or straight from where the link can read them. */
#include "lib/copy_threads.h"
#include "lib/integers.h"
#include "lib/operand.h"
#include "lib/options.h"
#include "lib/stream_run.h"

#include <string.h>

/* So much stays in the caches that the copying cores have to themselves, from where the link reads at less than half of its rate:
 * it is written past them. Of more than that, what is filled first has gone on to the cache that they share when its turn
 * comes, and is filled and read there. On an H200's host, of 16 cores with 2 MiB each: docs/routes.md. */
#define OWN_CACHES_BYTES ((size_t)24 << 20)

/* Shorter columns have too much filled up; larger slots would take too much of the device's memory once more. After a product that
 * could not be packed, so many more are not tried. */
#define ROWS_PACKED       256
#define SLOT_BYTES_PACKED ((size_t)64 << 20)
#define PRODUCTS_UNPACKED 15

static bool packs_always(void)
{
    return strcmp(tb_option_text(TB_OPTION_PACKING), "always") == 0;
}

bool tb_packs_rows(int64_t rows)
{
    return rows >= ROWS_PACKED || packs_always();
}

bool tb_may_pack(size_t bytes_in)
{
    if (strcmp(tb_option_text(TB_OPTION_PACKING), "never") == 0 ||
        tb_option_value(TB_OPTION_DEVICE_MEMORY) > 0)
        return false;
    return bytes_in > 0 && (packs_always() || (tb_packs_fast() && bytes_in > OWN_CACHES_BYTES));
}

tb_status tb_choose_packing(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    if (!run->tiling->whole || !tb_may_pack(run->bytes_in) || pipeline->slot_bytes > SLOT_BYTES_PACKED)
        return TB_OK;
    if (pipeline->unpacked_products > 0 && !packs_always()) {
        pipeline->unpacked_products--;
        return TB_OK;
    }
    tb_status status = tb_need_unpacking(pipeline);
    if (status == TB_OK)
        status = tb_take_buffer(pipeline->device, TB_SLOTS * pipeline->slot_bytes, &run->staging);
    run->packs = status == TB_OK;
    if (status != TB_OUT_OF_MEMORY && status != TB_UNSUPPORTED)
        return status;
    pipeline->unpacked_products = PRODUCTS_UNPACKED;
    return TB_OK;
}

/* Filled once more, with the columns as they are: these differ too much for the rest, too, and for products to come. */
static void fill_unpacked(tb_stream_run *run, tb_slot *slot)
{
    const tb_matrix *source = &slot->source;
    const size_t row_bytes = (size_t)source->rows * sizeof(float), columns = (size_t)source->columns;
    run->packs = false;
    run->pipeline->unpacked_products = PRODUCTS_UNPACKED;
    tb_copy_begin(&slot->job, slot->pinned.memory, row_bytes, source->data,
                  (size_t)source->ld * sizeof(float), row_bytes, columns, false);
    tb_copy_end(&slot->job);
    slot->upload = (tb_copy){.direction = TB_HOST_TO_DEVICE,
                             .target = slot->packed.target,
                             .target_pitch = (size_t)slot->packed.target_ld * sizeof(float),
                             .source = slot->pinned.memory,
                             .source_pitch = row_bytes,
                             .row_bytes = row_bytes,
                             .rows = columns};
}

/* To where they are unpacked from, when that has been done with what was there before. */
static tb_status send_packed(tb_stream_run *run, tb_slot *slot, size_t bytes)
{
    tb_pipeline *pipeline = run->pipeline;
    const tb_copy copy = {.direction = TB_HOST_TO_DEVICE,
                          .target = (void *)(uintptr_t)slot->packed.memory,
                          .source = slot->pinned.memory,
                          .row_bytes = bytes,
                          .rows = 1};
    if (slot->was_packed)
        TB_TRY(tb_device.stream_wait(pipeline->load, slot->unpacked));
    TB_TRY(tb_issue_copy(pipeline->load, &copy));
    TB_TRY(tb_device.record(slot->done, pipeline->load));
    slot->busy = true;
    TB_TRY(tb_device.stream_wait(pipeline->unpack, slot->done));
    run->has_unpacked = true;
    TB_TRY(tb_device.unpack(pipeline->unpack, &slot->packed));
    slot->was_packed = true;
    return tb_mark(run, &slot->unpacked, pipeline->unpack);
}

tb_status tb_send_filled(tb_stream_run *run)
{
    tb_slot *slot = run->filling;
    if (!slot)
        return TB_OK;
    run->filling = NULL;
    tb_copy_end(&slot->job);
    const size_t packed_bytes = slot->is_packed ? tb_packing_end(&slot->packing) : 0;
    if (packed_bytes > 0)
        return send_packed(run, slot, packed_bytes);
    if (slot->is_packed)
        fill_unpacked(run, slot);
    TB_TRY(tb_issue_copy(run->pipeline->load, &slot->upload));
    TB_TRY(tb_device.record(slot->done, run->pipeline->load));
    slot->busy = true;
    return TB_OK;
}

static void begin_packing(const tb_stream_run *run, tb_slot *slot, const tb_matrix *columns, float *target,
                          int64_t target_ld)
{
    const tb_pipeline *pipeline = run->pipeline;
    const size_t at = (size_t)(slot - pipeline->in) * pipeline->slot_bytes;
    slot->source = *columns;
    slot->packed = (tb_packed){.memory = (unsigned char *)run->staging.memory + at,
                               .target = target,
                               .rows = columns->rows,
                               .columns = columns->columns,
                               .target_ld = target_ld};
    tb_packing_begin(&slot->packing, slot->pinned.memory, pipeline->slot_bytes, columns->rows,
                     columns->columns);
    tb_copy_begin_packing(&slot->job, &slot->packing, columns->data, (size_t)columns->ld * sizeof(float));
}

/* The slot takes the columns as far apart as they will be on the device, so that the link moves one piece, or, where others'
 * elements lie between them there, one behind the other. */
static void begin_copying(const tb_stream_run *run, tb_slot *slot, const tb_matrix *columns, float *target,
                          int64_t target_ld, bool is_part)
{
    const size_t pitch = (size_t)(is_part ? tb_pitched(columns->rows) : target_ld) * sizeof(float);
    const size_t row_bytes = (size_t)columns->rows * sizeof(float), rows = (size_t)columns->columns;
    slot->upload = (tb_copy){.direction = TB_HOST_TO_DEVICE,
                             .target = target,
                             .target_pitch = (size_t)target_ld * sizeof(float),
                             .source = slot->pinned.memory,
                             .source_pitch = pitch,
                             .row_bytes = is_part ? row_bytes : (rows - 1) * pitch + row_bytes,
                             .rows = is_part ? rows : 1};
    tb_copy_begin(&slot->job, slot->pinned.memory, pitch, columns->data, (size_t)columns->ld * sizeof(float),
                  row_bytes, rows, run->bytes_in <= OWN_CACHES_BYTES);
}

static bool is_worth_packing(const tb_stream_run *run, const tb_matrix *matrix)
{
    return run->packs && tb_packs_rows(matrix->rows) &&
           tb_packing_columns(matrix->rows, run->pipeline->slot_bytes) > 0;
}

/* Ordinary memory, through the slots. While one is filled the one before is sent; the last of them stays to be sent. */
static tb_status load_through_slots(tb_stream_run *run, const tb_matrix *matrix, float *target,
                                    int64_t target_ld, bool is_part)
{
    tb_pipeline *pipeline = run->pipeline;
    const bool packs = is_worth_packing(run, matrix);
    const int64_t ld = is_part ? tb_pitched(matrix->rows) : target_ld;
    const int64_t copied_most = (int64_t)pipeline->slot_bytes / (ld * (int64_t)sizeof(float));
    const int64_t most =
        packs ? tb_smaller(tb_packing_columns(matrix->rows, pipeline->slot_bytes), copied_most) : copied_most;
    for (int64_t column = 0; column < matrix->columns; column += most) {
        const tb_matrix columns = {matrix->data + column * matrix->ld, matrix->rows,
                                   tb_smaller(most, matrix->columns - column), matrix->ld};
        tb_slot *slot = &pipeline->in[run->next_in];
        run->next_in = (run->next_in + 1) % TB_SLOTS;
        TB_TRY(tb_need_slot(pipeline, slot));
        if (slot->busy && !tb_device.event_passed(slot->done) && !tb_returns_on_device(run))
            TB_TRY(tb_return_ready(run));
        if (slot->busy)
            TB_TRY(tb_device.event_wait(slot->done));
        slot->busy = false;
        slot->is_packed = packs && run->packs;
        if (slot->is_packed)
            begin_packing(run, slot, &columns, target + column * target_ld, target_ld);
        else
            begin_copying(run, slot, &columns, target + column * target_ld, target_ld, is_part);
        tb_status status = tb_send_filled(run);
        run->filling = slot;
        TB_TRY(status);
        TB_TRY(tb_compute_due(run));
    }
    return TB_OK;
}

tb_status tb_load(tb_stream_run *run, const tb_place *place, const tb_matrix *matrix, float *target,
                  int64_t target_ld, bool is_part)
{
    if (matrix->rows == 0 || matrix->columns == 0)
        return TB_OK;
    switch (place->memory) {
    case TB_MEMORY_HOST:
        return load_through_slots(run, matrix, target, target_ld, is_part);
    case TB_MEMORY_PINNED:
        return tb_copy_matrix(run->pipeline->load, TB_HOST_TO_DEVICE, matrix, target, target_ld);
    case TB_MEMORY_MANAGED:
    case TB_MEMORY_DEVICE:
        break;
    }
    return tb_copy_matrix(run->pipeline->load, TB_DEVICE_TO_DEVICE, matrix, target, target_ld);
}

tb_status tb_bring(tb_stream_run *run, const tb_place *place, bool pad, tb_matrix *matrix, float *target,
                   bool already)
{
    if (tb_is_on_device(place) && !pad)
        return TB_OK;
    int64_t ld = tb_pitched(matrix->rows);
    if (!already && place == &run->plan->a)
        run->multiplied.a = NULL;
    if (!already)
        TB_TRY(tb_load(run, place, matrix, target, ld, false));
    matrix->data = target;
    matrix->ld = ld;
    return TB_OK;
}
