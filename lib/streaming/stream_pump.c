#include "lib/streaming/stream_pump.h"

#include "words/integers.h"

/* ---- What slots have been filled with --------------------------------------------------------------------- */

tb_status tb_send_filled(tb_stream_run *run)
{
    tb_slot *slot = run->filling;
    bool is_sent;
    if (!slot)
        return TB_OK;
    run->filling = NULL;
    TB_TRY(tb_send_slot(run, slot, &is_sent));
    if (is_sent)
        tb_post_half(run, slot->done);
    return TB_OK;
}

/* Over this device's own link where the other side does not bring it. */
tb_status tb_take_half(tb_stream_run *run)
{
    tb_halves *halves = &run->halves;
    bool is_coming;
    if (halves->missing.columns == 0)
        return TB_OK;
    TB_TRY(tb_copy_half(run, &is_coming));
    if (!is_coming) {
        TB_TRY(tb_pump(run, &halves->others));
        TB_TRY(tb_send_filled(run));
    }
    halves->missing.columns = 0;
    return TB_OK;
}

/* ---- Products that are due -------------------------------------------------------------------------------- */

/* Products that follow find loaded what has been sent so far. */
static tb_status follow_loading(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    TB_TRY(tb_mark(run, &pipeline->loaded, pipeline->load));
    return tb_stream_wait(pipeline->compute, pipeline->loaded);
}

/* Launches a part of the product, behind what has been launched before. */
static tb_status compute(tb_stream_run *run, const tb_product *part)
{
    if (tb_is_masked_out(part))
        return TB_OK;
    const tb_schedule *schedule = tb_schedule_of_part(run->schedules, part);
    if (schedule->workspace > run->workspace.bytes)
        return TB_UNSUPPORTED; /* no part needs more than the parts that were gone through */
    const tb_product *last = &run->multiplied;
    const bool same_a =
        last->a.data == part->a.data && last->a.ld == part->a.ld && last->m == part->m && last->k == part->k;
    run->multiplied = *part;
    return tb_enqueue_launch(run->pipeline->compute, run->kernel, part, schedule, run->workspace.memory,
                             same_a);
}

/* Waits where too many swaths are on their way already. */
static tb_status note_swath(tb_stream_run *run, int64_t columns)
{
    if (run->swath_count == TB_SWATHS_IN_FLIGHT)
        TB_TRY(tb_return_columns(run, run->swath_ends[run->first_swath]));
    return tb_note_swath(run, columns);
}

/* Swath by swath; what completes C is on its way as soon as it is there. */
static tb_status compute_swaths(tb_stream_run *run, const tb_product *part)
{
    TB_TRY(follow_loading(run));
    for (int64_t column = 0; column < part->n; column += run->due_swath_n) {
        const tb_product swath = tb_swath_of(part, run->tiling, column, run->due_swath_n);
        TB_TRY(compute(run, &swath));
        if (run->due_completes && !tb_returns_on_device(run))
            TB_TRY(note_swath(run, tb_smaller(run->due_swath_n, part->n - column)));
    }
    return TB_OK;
}

/* After what has been sent so far. */
static tb_status compute_due(tb_stream_run *run)
{
    if (!run->is_due)
        return TB_OK;
    run->is_due = false;
    TB_TRY(tb_take_half(run));
    TB_TRY(compute_swaths(run, &run->due));
    /* In rings the places of its operands are given free first (stream_steps.c). */
    return tb_returns_on_device(run) || !run->tiling->whole ? TB_OK : tb_return_ready(run);
}

tb_status tb_finish_due(tb_stream_run *run)
{
    TB_TRY(tb_send_filled(run));
    return compute_due(run);
}

tb_status tb_compute_when_sent(tb_stream_run *run, const tb_product *part, int64_t swath_n, bool completes)
{
    if (run->is_due)
        TB_TRY(tb_finish_due(run));
    run->is_due = true;
    run->due = *part;
    run->due_swath_n = swath_n;
    run->due_completes = completes;
    return run->filling ? TB_OK : compute_due(run);
}

/* ---- Slot after slot -------------------------------------------------------------------------------------- */

/* The next slot, when nothing reads it any more. */
static tb_status take_slot(tb_stream_run *run, tb_slot **slot)
{
    tb_pipeline *pipeline = run->pipeline;
    tb_slot *next = *slot = &pipeline->in[run->next_in];
    run->next_in = (run->next_in + 1) % TB_SLOTS;
    TB_TRY(tb_need_slot(pipeline, next));
    if (next->busy && !tb_event_passed(next->done) && !tb_returns_on_device(run))
        TB_TRY(tb_return_ready(run));
    if (next->busy)
        TB_TRY(tb_event_wait(next->done));
    next->busy = false;
    return TB_OK;
}

tb_status tb_pump(tb_stream_run *run, const tb_transfer *transfer)
{
    const int64_t all = transfer->from->columns, most = tb_columns_in_slot(run, transfer);
    for (int64_t column = 0; column < all; column += most) {
        tb_slot *slot;
        TB_TRY(take_slot(run, &slot));
        tb_fill_slot(run, transfer, slot, (tb_range){column, tb_smaller(most, all - column)});
        const tb_status status = tb_send_filled(run);
        run->filling = slot;
        TB_TRY(status);
        TB_TRY(compute_due(run));
    }
    return TB_OK;
}

static tb_status pump_half(tb_stream_run *run, const tb_transfer *part)
{
    tb_matrix columns;
    const tb_transfer own = tb_own_half(run, part, &columns);
    TB_TRY(tb_pump(run, &own));
    TB_TRY(tb_take_half(run)); /* of what came before, if nothing has been computed with it */
    tb_miss_half(run, part, &own);
    return TB_OK;
}

tb_status tb_pump_in_halves(tb_stream_run *run, const tb_transfer *transfer)
{
    const int64_t all = transfer->from->columns;
    tb_matrix columns;
    for (int64_t column = 0; column < all; column += columns.columns) {
        const tb_transfer part = tb_exchanged_part(run, transfer, column, &columns);
        TB_TRY((columns.columns > 1 ? pump_half : tb_pump)(run, &part));
    }
    return TB_OK;
}
