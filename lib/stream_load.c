/* Operands' way in: parts of them go through the slots to the device, or straight from where the link can read them. */
#include "lib/copy_threads.h"
#include "lib/integers.h"
#include "lib/operand.h"
#include "lib/stream_run.h"

/* So much stays in the caches that the copying cores have to themselves, from where the link reads at less than half of its rate:
 * it is written past them. Of more than that, what is filled first has gone on to the cache that they share when its turn
 * comes, and is filled and read there. On an H200's host, of 16 cores with 2 MiB each: docs/routes.md. */
#define OWN_CACHES_BYTES ((size_t)24 << 20)

tb_status tb_send_filled(tb_stream_run *run)
{
    tb_slot *slot = run->filling;
    if (!slot)
        return TB_OK;
    run->filling = NULL;
    tb_copy_end(&slot->job);
    TB_TRY(tb_issue_copy(run->pipeline->load, &slot->upload));
    TB_TRY(tb_device.record(slot->done, run->pipeline->load));
    slot->busy = true;
    return TB_OK;
}

/* Ordinary memory, through the slots: they take the columns as far apart as they will be on the device, so that
 * the link moves one piece, or, where others' elements lie between them there, one behind the other. While one slot is filled
 * the one before is sent; the last of them stays to be sent. */
static tb_status load_through_slots(tb_stream_run *run, const tb_matrix *matrix, float *target,
                                    int64_t target_ld, bool is_part)
{
    tb_pipeline *pipeline = run->pipeline;
    const int64_t ld = is_part ? tb_pitched(matrix->rows) : target_ld;
    const size_t pitch = (size_t)ld * sizeof(float), row_bytes = (size_t)matrix->rows * sizeof(float);
    const int64_t most = (int64_t)(pipeline->slot_bytes / pitch);
    for (int64_t column = 0; column < matrix->columns; column += most) {
        const size_t columns = (size_t)tb_smaller(most, matrix->columns - column);
        tb_slot *slot = &pipeline->in[run->next_in];
        run->next_in = (run->next_in + 1) % TB_SLOTS;
        TB_TRY(tb_need_slot(pipeline, slot));
        if (slot->busy && !tb_device.event_passed(slot->done) && !tb_returns_on_device(run))
            TB_TRY(tb_return_ready(run));
        if (slot->busy)
            TB_TRY(tb_device.event_wait(slot->done));
        slot->busy = false;
        slot->upload = (tb_copy){.direction = TB_HOST_TO_DEVICE,
                                 .target = target + column * target_ld,
                                 .target_pitch = (size_t)target_ld * sizeof(float),
                                 .source = slot->pinned.memory,
                                 .source_pitch = pitch,
                                 .row_bytes = is_part ? row_bytes : (columns - 1) * pitch + row_bytes,
                                 .rows = is_part ? columns : 1};
        tb_copy_begin(&slot->job, slot->pinned.memory, pitch, matrix->data + column * matrix->ld,
                      (size_t)matrix->ld * sizeof(float), row_bytes, columns,
                      run->bytes_in <= OWN_CACHES_BYTES);
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
