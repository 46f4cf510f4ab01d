#include "lib/streaming/passing.h"

#include "lib/device/copies.h"
#include "lib/machine/calls.h"
#include "lib/streaming/call_helpers.h"
#include "lib/streaming/stream_run.h"
#include "words/integers.h"

#include <string.h>

/* Behind the columns in a slot on the way out: info, as it was when they left the device. */
#define INFO_BYTES ((size_t)64)

static int64_t *info_in(const tb_passing *passing, const tb_slot *slot)
{
    return (int64_t *)((char *)slot->pinned.memory + passing->pipeline->slot_bytes - INFO_BYTES);
}

/* What of the columns passes: a rectangle with stairs. It has a row also where nothing is stored of them, as of a triangle's last column
 * without its diagonal. */
static tb_range rows_of(const tb_passing *passing, tb_range columns)
{
    const tb_range box = tb_masked_box(passing->stored, (tb_range){0, passing->there.rows}, columns);
    return box.count > 0 ? box : (tb_range){tb_smaller(box.first, passing->there.rows - 1), 1};
}

/* Of these columns as many as a slot takes; 0: not even one. */
static tb_range fit_slot(const tb_passing *passing, int64_t first, int64_t end)
{
    const size_t room = passing->pipeline->slot_bytes - INFO_BYTES,
                 column = (size_t)rows_of(passing, (tb_range){first, end - first}).count *
                          tb_bytes_of(passing->there.element);
    return (tb_range){first, tb_smaller((int64_t)(room / column), end - first)};
}

/* ---- The way in ------------------------------------------------------------------------------------------- */

static void fill(const tb_passing *passing, tb_slot *slot, tb_range columns)
{
    const tb_range rows = rows_of(passing, columns);
    const tb_matrix from =
        tb_rectangle(&passing->stored->c.matrix, rows.first, columns.first, rows.count, columns.count);
    const size_t bytes = tb_column_bytes(&from) * (size_t)columns.count;
    const tb_host_copy copy = {
        .target = slot->pinned.memory,
        .target_pitch = tb_column_bytes(&from),
        .source = from.data,
        .source_pitch = tb_pitch(&from),
        .row_bytes = tb_column_bytes(&from),
        .rows = (size_t)columns.count,
        .finds_pages = bytes > slot->found,
        .stairs = tb_stairs_in(passing->stored, rows.first, columns.first),
    };
    if (copy.finds_pages)
        slot->found = bytes;
    tb_copy_begin(&slot->job, &copy);
    tb_copy_end(&slot->job);
}

static tb_status send(const tb_passing *passing, tb_slot *slot, tb_range columns)
{
    const tb_range rows = rows_of(passing, columns);
    const tb_matrix filled = {.data = slot->pinned.memory,
                              .rows = rows.count,
                              .columns = columns.count,
                              .ld = rows.count,
                              .element = passing->there.element};
    TB_TRY(tb_copy_operand(passing->pipeline->load, TB_HOST_TO_DEVICE, &filled,
                           tb_at(&passing->there, rows.first, columns.first), passing->there.ld));
    TB_TRY(tb_record(slot->done, passing->pipeline->load));
    slot->busy = true;
    return TB_OK;
}

static tb_status bring_slot(tb_passing *passing, int64_t end)
{
    tb_slot *slot = &passing->pipeline->in[passing->next_in];
    const tb_range columns = fit_slot(passing, passing->brought, end);
    if (columns.count == 0)
        return TB_UNSUPPORTED;
    TB_TRY(tb_need_slot(passing->pipeline, slot));
    if (slot->busy)
        TB_TRY(tb_event_wait(slot->done));
    slot->busy = false;
    fill(passing, slot, columns);
    TB_TRY(send(passing, slot, columns));
    passing->brought += columns.count;
    passing->next_in = (passing->next_in + 1) % TB_SLOTS;
    return TB_OK;
}

tb_status tb_bring_columns(tb_passing *passing, int64_t columns)
{
    tb_pipeline *pipeline = passing->pipeline;
    if (columns <= passing->brought)
        return TB_OK;
    while (passing->brought < columns)
        TB_TRY(bring_slot(passing, columns));
    TB_TRY(tb_need_event(pipeline, &pipeline->loaded));
    TB_TRY(tb_record(pipeline->loaded, pipeline->load));
    return tb_stream_wait(pipeline->compute, pipeline->loaded);
}

/* ---- The way out ------------------------------------------------------------------------------------------ */

static tb_event **event_of_end(const tb_passing *passing, int index)
{
    return &passing->pipeline->finished[(passing->first_end + index) % TB_SWATHS_IN_FLIGHT];
}

static int64_t *info_of_end(const tb_passing *passing, int index)
{
    return passing->infos + 1 + (passing->first_end + index) % TB_SWATHS_IN_FLIGHT;
}

static tb_status send_back(const tb_passing *passing, tb_slot *slot, tb_range columns)
{
    tb_stream *unload = passing->pipeline->unload;
    const tb_range rows = rows_of(passing, columns);
    const tb_matrix results =
        tb_rectangle(&passing->results, rows.first, columns.first, rows.count, columns.count);
    TB_TRY(tb_need_slot(passing->pipeline, slot));
    TB_TRY(tb_stream_wait(unload, *event_of_end(passing, 0)));
    TB_TRY(tb_copy_operand(unload, TB_DEVICE_TO_HOST, &results, slot->pinned.memory, rows.count));
    const tb_copy info =
        tb_copy_of_bytes(TB_DEVICE_TO_HOST, info_in(passing, slot), info_of_end(passing, 0), sizeof(int64_t));
    TB_TRY(tb_issue_copy(unload, &info));
    slot->columns = columns.count;
    return tb_record(slot->done, unload);
}

/* As long as there are slots for them. */
static tb_status send_finished(tb_passing *passing)
{
    while (passing->end_count > 0 && passing->out_count < TB_SLOTS) {
        const int64_t end = passing->ends[passing->first_end];
        const tb_range columns = fit_slot(passing, passing->leaving, end);
        tb_slot *slot = &passing->pipeline->out[(passing->first_out + passing->out_count) % TB_SLOTS];
        TB_TRY(send_back(passing, slot, columns));
        passing->leaving += columns.count;
        passing->out_count++;
        if (passing->leaving < end)
            continue;
        passing->first_end = (passing->first_end + 1) % TB_SWATHS_IN_FLIGHT;
        passing->end_count--;
    }
    return TB_OK;
}

/* Nothing can fail between the first column of a slot and its last. */
static void empty(const tb_passing *passing, tb_slot *slot, tb_range columns)
{
    const tb_range rows = rows_of(passing, columns);
    const tb_matrix to =
        tb_rectangle(&passing->stored->c.matrix, rows.first, columns.first, rows.count, columns.count);
    const tb_host_copy copy = {
        .target = to.data,
        .target_pitch = tb_pitch(&to),
        .source = slot->pinned.memory,
        .source_pitch = tb_column_bytes(&to),
        .row_bytes = tb_column_bytes(&to),
        .rows = (size_t)columns.count,
        .stairs = tb_stairs_in(passing->stored, rows.first, columns.first),
    };
    tb_copy_begin(&slot->job, &copy);
    tb_copy_end(&slot->job);
}

/* The oldest slot on its way, which is there. */
static tb_status take_back(tb_passing *passing)
{
    tb_slot *slot = &passing->pipeline->out[passing->first_out];
    const tb_range columns = {passing->returned, slot->columns};
    passing->found = *info_in(passing, slot);
    if (passing->found != 0)
        return TB_UNSUPPORTED;
    empty(passing, slot, columns);
    passing->returned += columns.count;
    passing->first_out = (passing->first_out + 1) % TB_SLOTS;
    passing->out_count--;
    return TB_OK;
}

static tb_status take_back_ready(tb_passing *passing)
{
    TB_TRY(send_finished(passing));
    while (passing->out_count > 0 && tb_event_passed(passing->pipeline->out[passing->first_out].done)) {
        TB_TRY(take_back(passing));
        TB_TRY(send_finished(passing));
    }
    return TB_OK;
}

static tb_status wait_for_one(tb_passing *passing)
{
    TB_TRY(tb_event_wait(passing->pipeline->out[passing->first_out].done));
    TB_TRY(take_back(passing));
    return send_finished(passing);
}

tb_status tb_finish_columns(tb_passing *passing, int64_t columns)
{
    while (passing->end_count == TB_SWATHS_IN_FLIGHT)
        TB_TRY(wait_for_one(passing));
    const tb_copy note = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, info_of_end(passing, passing->end_count),
                                          passing->infos, sizeof(int64_t));
    TB_TRY(tb_issue_copy(passing->pipeline->compute, &note));
    tb_event **event = event_of_end(passing, passing->end_count);
    TB_TRY(tb_need_event(passing->pipeline, event));
    TB_TRY(tb_record(*event, passing->pipeline->compute));
    passing->ends[(passing->first_end + passing->end_count++) % TB_SWATHS_IN_FLIGHT] = passing->finished =
        columns;
    return take_back_ready(passing);
}

tb_status tb_return_finished(tb_passing *passing)
{
    TB_TRY(send_finished(passing));
    while (passing->out_count > 0)
        TB_TRY(wait_for_one(passing));
    return TB_OK;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------ */

/* By way of a slot on the way out, which the first columns come to when this has been read. */
static tb_status clear(tb_passing *passing)
{
    tb_slot *slot = &passing->pipeline->out[0];
    TB_TRY(tb_need_slot(passing->pipeline, slot));
    memset(slot->pinned.memory, 0, passing->cleared);
    const tb_copy zeros =
        tb_copy_of_bytes(TB_HOST_TO_DEVICE, passing->infos, slot->pinned.memory, passing->cleared);
    return tb_issue_copy(passing->pipeline->compute, &zeros);
}

tb_status tb_begin_passing(tb_passing *passing)
{
    const size_t bytes = tb_matrix_bytes(&passing->stored->c.matrix) + passing->bytes_behind;
    if (passing->is_second)
        return TB_OK;
    passing->has_helpers = true;
    tb_call_helpers(passing->pipeline, bytes, tb_devices_at_work());
    return clear(passing);
}

static void dismiss_helpers(tb_passing *passing)
{
    if (passing->has_helpers)
        tb_copy_dismiss_helpers();
    passing->has_helpers = false;
}

static void give_slots(const tb_passing *passing)
{
    for (int i = 0; i < TB_SLOTS; i++) {
        passing->pipeline->in[i].busy = false;
        tb_give_buffer(&passing->pipeline->in[i].pinned);
        tb_give_buffer(&passing->pipeline->out[i].pinned);
    }
}

static void let_streams_end(const tb_passing *passing, bool in_the_middle)
{
    tb_stream *const streams[] = {passing->pipeline->load, passing->pipeline->compute,
                                  passing->pipeline->unload};
    tb_come_to_rest(streams, sizeof streams / sizeof *streams, in_the_middle);
}

void tb_end_passing(tb_passing *passing, tb_status status)
{
    dismiss_helpers(passing);
    if (status != TB_OK)
        let_streams_end(passing, false);
    give_slots(passing);
}

void tb_leave_passing(tb_passing *passing, bool in_the_middle)
{
    for (int i = 0; i < TB_SLOTS; i++) {
        tb_copy_leave(&passing->pipeline->in[i].job);
        tb_copy_leave(&passing->pipeline->out[i].job);
    }
    dismiss_helpers(passing);
    if (in_the_middle) /* what the device still does, it does to slots and to memory of its own */
        return;
    let_streams_end(passing, false);
    give_slots(passing);
}
