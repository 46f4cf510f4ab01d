/* C's way back: computed columns go through the slots on the way out into the program's memory. Pinned memory
 * is written by the link itself where beta is 0, once the status of the work that made the columns is known,
 * and a slot stands for columns on their way; otherwise a copy that fails half way would lose what the host
 * has to begin with. */
#include "lib/streaming/stream_run.h"

#include "lib/device/copies.h"
#include "lib/streaming/copy_threads.h"

/* A larger C does not stay in the caches until the program reads it. */
#define CACHES_BYTES ((size_t)8 << 20)

static tb_event **swath_event(const tb_stream_run *run, int swath)
{
    return &run->pipeline->finished[swath];
}

static tb_status send_columns(tb_stream_run *run, tb_slot *slot)
{
    tb_stream *unload = run->pipeline->unload;
    const tb_returned returned = tb_columns_to_return(run, run->sent, slot->columns);
    const tb_matrix *to = &returned.program;
    tb_matrix columns = *to;
    columns.data = returned.there;
    columns.ld = run->operands[TB_C].ld;
    if (tb_skips_slots(run)) {
        TB_TRY(tb_need_event(run->pipeline, &slot->done));
        TB_TRY(tb_copy_operand(unload, TB_DEVICE_TO_HOST, &columns, to->data, to->ld));
    } else {
        TB_TRY(tb_need_slot(run->pipeline, slot));
        if (columns.rows > 0)
            TB_TRY(tb_copy_operand(unload, TB_DEVICE_TO_HOST, &columns, slot->pinned.memory, columns.rows));
    }
    return tb_record(slot->done, unload);
}

/* The unload stream finds the oldest swath computed; what goes straight into C is waited for. */
static tb_status follow_computing(tb_stream_run *run)
{
    tb_event *computed = *swath_event(run, run->first_swath);
    return tb_skips_slots(run) ? tb_event_wait(computed) : tb_stream_wait(run->pipeline->unload, computed);
}

/* Whether columns that go straight into C would have to be waited for, while others are on their way already. */
static bool is_early(const tb_stream_run *run, bool may_wait)
{
    return tb_skips_slots(run) && !(may_wait && run->out_count == 0) &&
           !tb_event_passed(*swath_event(run, run->first_swath));
}

/* Sends computed columns on their way while there are free slots; may wait for the first where none are on
 * their way. A slot holds columns of one swath. */
static tb_status send_computed(tb_stream_run *run, bool may_wait)
{
    tb_pipeline *pipeline = run->pipeline;
    while (run->sent < run->computed && run->out_count < TB_SLOTS && !is_early(run, may_wait)) {
        tb_slot *slot = &pipeline->out[(run->first_out + run->out_count) % TB_SLOTS];
        const int64_t end = run->swath_ends[run->first_swath];
        const size_t column_bytes =
            (size_t)tb_band_at(run, run->sent).rows * tb_bytes_of(run->product->c.element);
        const int64_t most = tb_skips_slots(run) ? end : (int64_t)(pipeline->slot_bytes / column_bytes);
        slot->columns = tb_smaller(most, end - run->sent);
        slot->posts = run->side ? run->side->taken : 0;
        TB_TRY(follow_computing(run));
        TB_TRY(send_columns(run, slot));
        run->sent += slot->columns;
        run->out_count++;
        if (run->sent == end) {
            run->first_swath = (run->first_swath + 1) % TB_SWATHS_IN_FLIGHT;
            run->swath_count--;
        }
    }
    return TB_OK;
}

/* Columns that the link has written into C, and at which nobody looks behind it: the host reads write-combined memory slowly. */
static bool goes_unseen(const tb_stream_run *run)
{
    return tb_skips_slots(run) && (!run->seen || run->plan->places[TB_C].write_combined);
}

void tb_finish_emptying(tb_stream_run *run)
{
    tb_slot *slot = &run->pipeline->out[run->first_out];
    if (!goes_unseen(run))
        tb_copy_end(&slot->job);
    run->returned += slot->columns;
    run->first_out = (run->first_out + 1) % TB_SLOTS;
    run->out_count--;
    run->emptying--;
}

/* The slots whose columns have not been handed to the program, counted from the oldest. */
static tb_slot *waiting_slot(const tb_stream_run *run, int index)
{
    return &run->pipeline->out[(run->first_out + run->emptying + index) % TB_SLOTS];
}

/* While one slot is emptied the next is waited for. */
static void hand_over(tb_stream_run *run, tb_slot *slot)
{
    const tb_returned returned = tb_columns_to_return(run, run->handed, slot->columns);
    const tb_matrix columns = returned.program;
    run->handed += slot->columns;
    run->emptying++;
    if (goes_unseen(run)) {
        tb_finish_emptying(run);
        return;
    }
    const bool is_there = tb_skips_slots(run); /* and is only looked at */
    const tb_host_copy copy = {
        .target = is_there ? NULL : columns.data,
        .target_pitch = tb_pitch(&columns),
        .source = is_there ? columns.data : slot->pinned.memory,
        .source_pitch = is_there ? tb_pitch(&columns) : tb_column_bytes(&columns),
        .row_bytes = tb_column_bytes(&columns),
        .rows = (size_t)columns.columns,
        .stairs = returned.stairs,
        .past_caches = !is_there && tb_matrix_bytes(&run->product->c.matrix) > CACHES_BYTES,
        .seen = run->seen,
        .element = tb_real_of(columns.element),
        .has_older = !tb_is_zero(run->product->beta) && run->product->in_place == TB_OUT_OF_PLACE,
    };
    tb_copy_begin(&slot->job, &copy);
    if (run->emptying > 1)
        tb_finish_emptying(run);
}

/* ---- What is handed over together ------------------------------------------------------------------------ */

/* Whether all columns of a band are handed over together: in C's place with the triangle on the right, where a row's numbers
 * depend on each other. Should the device fail, the host could not compute the rest of a row of which a part has been
 * overwritten. */
static bool goes_by_bands(const tb_stream_run *run)
{
    return run->product->in_place != TB_OUT_OF_PLACE && !tb_goes_by_columns(run->product);
}

/* Where that ends which is handed over next, in columns of bands. The first of it is on its way. */
static int64_t end_of_next(const tb_stream_run *run)
{
    const int64_t n = run->product->n;
    return goes_by_bands(run) ? (run->handed / n + 1) * n : run->handed + waiting_slot(run, 0)->columns;
}

/* How many slots hold it. */
static int slots_of_next(const tb_stream_run *run)
{
    const int64_t end = end_of_next(run);
    int count = 0;
    for (int64_t columns = run->handed; columns < end; count++)
        columns += waiting_slot(run, count)->columns;
    return count;
}

/* Sends columns until all of it is on its way. The slots together hold a band. */
static tb_status send_next(tb_stream_run *run)
{
    TB_TRY(send_computed(run, true));
    while (run->sent < end_of_next(run)) {
        if (run->emptying == 0)
            return TB_UNSUPPORTED;
        tb_finish_emptying(run);
        TB_TRY(send_computed(run, true));
    }
    return TB_OK;
}

/* Waits until all of it has left the device. What it was computed from may have come from another device: whether that was right
 * only its own events tell. */
static tb_status wait_for_next(tb_stream_run *run)
{
    const int count = slots_of_next(run);
    for (int i = 0; i < count; i++) {
        const tb_slot *slot = waiting_slot(run, i);
        TB_TRY(tb_event_wait(slot->done));
        TB_TRY(tb_check_posts(run->side, slot->posts));
    }
    return TB_OK;
}

static bool has_next_left(const tb_stream_run *run)
{
    if (run->emptying == run->out_count || run->sent < end_of_next(run))
        return false;
    const int count = slots_of_next(run);
    for (int i = 0; i < count; i++)
        if (!tb_event_passed(waiting_slot(run, i)->done))
            return false;
    return true;
}

/* Nothing can fail between its first column and its last. */
static void hand_over_next(tb_stream_run *run)
{
    const int64_t end = end_of_next(run);
    while (run->handed < end)
        hand_over(run, waiting_slot(run, 0));
}

tb_status tb_return_columns(tb_stream_run *run, int64_t columns)
{
    while (run->handed < columns) {
        TB_TRY(send_next(run));
        TB_TRY(wait_for_next(run));
        hand_over_next(run);
    }
    return send_computed(run, false);
}

tb_status tb_note_swath(tb_stream_run *run, int64_t columns)
{
    const int swath = (run->first_swath + run->swath_count) % TB_SWATHS_IN_FLIGHT;
    TB_TRY(tb_mark(run, swath_event(run, swath), run->pipeline->compute));
    run->computed += columns;
    run->swath_ends[swath] = run->computed;
    run->swath_count++;
    return TB_OK;
}

tb_status tb_return_ready(tb_stream_run *run)
{
    TB_TRY(send_computed(run, false));
    while (has_next_left(run)) {
        TB_TRY(wait_for_next(run));
        hand_over_next(run);
        TB_TRY(send_computed(run, false));
    }
    return TB_OK;
}

tb_status tb_return_on_device(tb_stream_run *run)
{
    const tb_matrix *to = &run->product->c.matrix;
    tb_matrix whole = *to;
    whole.data = run->operands[TB_C].buffer.memory;
    whole.ld = run->operands[TB_C].ld;
    int64_t columns;
    if (run->plan->place.context && run->product->mask != TB_FULL)
        return TB_UNSUPPORTED; /* no kernel of ours writes to memory of another context */
    const tb_status status = tb_copy_masked(run->pipeline->compute, TB_DEVICE_TO_DEVICE, run->product, &whole,
                                            to->data, to->ld, &columns);
    TB_TRY(tb_synchronize(run->pipeline->compute));
    run->returned = run->computed = columns;
    return status;
}
