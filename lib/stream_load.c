/* Operands' way in: parts of them go through the slots to the device, or straight from where the link can read them. */
#include "lib/copy_threads.h"
#include "lib/integers.h"
#include "lib/operand.h"
#include "lib/stream_run.h"

/* So much stays in the caches that the copying cores have to themselves, from where the link reads at less than half of its rate:
 * it is written past them. Of more than that, what is filled first has gone on to the cache that they share when its turn
 * comes, and is filled and read there. On an H200's host, of 16 cores with 2 MiB each: docs/routes.md. */
#define OWN_CACHES_BYTES ((size_t)24 << 20)

/* Whether what the slot stands for is on the device already. Where it is not, its prints are taken anew. */
static bool is_there(tb_cached_operand *operand, tb_slot *slot)
{
    tb_copy_job *job = &slot->job;
    const tb_host_copy copy = job->copy;
    const double bytes = (double)copy.row_bytes * (double)copy.rows;
    operand->looked_at += bytes;
    if (tb_compare_end(job)) {
        operand->same += bytes;
        return true;
    }
    tb_copy_begin(job, &copy);
    tb_copy_end(job);
    return false;
}

tb_status tb_send_filled(tb_stream_run *run)
{
    tb_slot *slot = run->filling;
    if (!slot)
        return TB_OK;
    run->filling = NULL;
    if (!slot->compared)
        tb_copy_end(&slot->job);
    else if (is_there(slot->compared, slot))
        return TB_OK;
    TB_TRY(tb_issue_copy(run->pipeline->load, &slot->upload));
    TB_TRY(tb_device.record(slot->done, run->pipeline->load));
    slot->busy = true;
    return TB_OK;
}

/* The slot's turn has come: nothing reads it any more. */
static tb_status wait_for_slot(tb_stream_run *run, tb_slot *slot)
{
    if (slot->busy && !tb_device.event_passed(slot->done) && !tb_returns_on_device(run))
        TB_TRY(tb_return_ready(run));
    if (slot->busy)
        TB_TRY(tb_device.event_wait(slot->done));
    slot->busy = false;
    return TB_OK;
}

/* Where a part of the operand begins. */
static tb_strip *find_strip(tb_cached_operand *operand, const tb_matrix *part, int64_t *column)
{
    const int64_t offset = part->data - operand->matrix.data, ld = operand->matrix.ld;
    *column = offset / ld;
    return tb_find_strip(operand, offset % ld, part->rows, *column, part->columns);
}

/* Ordinary memory, through the slots: they take the columns as far apart as they will be on the device, so that
 * the link moves one piece, or, where others' elements lie between them there, one behind the other. While one slot is filled
 * the one before is sent; the last of them stays to be sent. What is known of a cached operand is looked at instead.
 * For pinned memory slots only stand for what is looked at, and the link reads it where it is. */
static tb_status load_through_slots(tb_stream_run *run, tb_cached_operand *cached, bool is_pinned,
                                    const tb_matrix *matrix, float *target, int64_t target_ld, bool is_part)
{
    tb_pipeline *pipeline = run->pipeline;
    const int64_t ld = is_pinned ? matrix->ld : is_part ? tb_pitched(matrix->rows) : target_ld;
    const size_t pitch = (size_t)ld * sizeof(float), row_bytes = (size_t)matrix->rows * sizeof(float);
    const bool in_one = !is_part && ld == target_ld && (!is_pinned || ld == matrix->rows);
    const int64_t most = tb_larger((int64_t)(pipeline->slot_bytes / (is_pinned ? row_bytes : pitch)), 1);
    int64_t first_column = 0;
    tb_strip *strip = cached ? find_strip(cached, matrix, &first_column) : NULL;
    for (int64_t column = 0; column < matrix->columns; column += most) {
        const size_t columns = (size_t)tb_smaller(most, matrix->columns - column);
        tb_slot *slot = &pipeline->in[run->next_in];
        run->next_in = (run->next_in + 1) % TB_SLOTS;
        TB_TRY(is_pinned ? tb_need_event(pipeline, &slot->done) : tb_need_slot(pipeline, slot));
        TB_TRY(wait_for_slot(run, slot));
        const float *source = matrix->data + column * matrix->ld;
        const tb_host_copy copy = {
            .target = is_pinned ? NULL : slot->pinned.memory,
            .target_pitch = pitch,
            .source = (const char *)source,
            .source_pitch = (size_t)matrix->ld * sizeof(float),
            .row_bytes = row_bytes,
            .rows = columns,
            .past_caches = run->bytes_in <= OWN_CACHES_BYTES,
            .prints = strip ? tb_prints_of_column(strip, first_column + column) : NULL,
        };
        slot->upload = (tb_copy){.direction = TB_HOST_TO_DEVICE,
                                 .target = target + column * target_ld,
                                 .target_pitch = (size_t)target_ld * sizeof(float),
                                 .source = is_pinned ? (const void *)source : slot->pinned.memory,
                                 .source_pitch = pitch,
                                 .row_bytes = in_one ? (columns - 1) * pitch + row_bytes : row_bytes,
                                 .rows = in_one ? 1 : columns};
        const bool known = strip && tb_know(strip, first_column + column, (int64_t)columns);
        slot->compared = known ? cached : NULL;
        (known ? tb_compare_begin : tb_copy_begin)(&slot->job, &copy);
        tb_status status = tb_send_filled(run);
        run->filling = slot;
        TB_TRY(status);
        TB_TRY(tb_compute_due(run));
    }
    return TB_OK;
}

static tb_cached_operand *cached_at(const tb_stream_run *run, const tb_place *place)
{
    return place == &run->plan->a ? run->cached_a : place == &run->plan->b ? run->cached_b : NULL;
}

tb_status tb_load(tb_stream_run *run, const tb_place *place, const tb_matrix *matrix, float *target,
                  int64_t target_ld, bool is_part)
{
    if (matrix->rows == 0 || matrix->columns == 0)
        return TB_OK;
    tb_cached_operand *cached = cached_at(run, place);
    switch (place->memory) {
    case TB_MEMORY_HOST:
        return load_through_slots(run, cached, false, matrix, target, target_ld, is_part);
    case TB_MEMORY_PINNED:
        if (cached)
            return load_through_slots(run, cached, true, matrix, target, target_ld, is_part);
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
