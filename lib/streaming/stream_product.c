/* A streamed product from its beginning to its end, whatever happens on the way. Swaths of C go back while
 * the next are computed and what those need is loaded. The calling thread keeps all of it going: it fills
 * slots on the way in, and empties those on the way out in between.
 */
#include "lib/streaming/stream_product.h"

#include "lib/streaming/call_helpers.h"
#include "lib/streaming/copy_threads.h"
#include "lib/streaming/others_copies.h"
#include "words/integers.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/streaming/stream_run.h"
#include "lib/device/platform.h"

/* Operands on the device may still be in the making, by work that the program's stream orders. */
static tb_status follow_program(tb_stream_run *run)
{
    const tb_plan *plan = run->plan;
    tb_pipeline *pipeline = run->pipeline;
    if (!tb_is_on_device(&plan->places[TB_A]) && !tb_is_on_device(&plan->places[TB_B]) &&
        !tb_is_on_device(&plan->places[TB_C]))
        return TB_OK;
    tb_stream *programs;
    TB_TRY(tb_adopt_stream(&plan->place, run->programs_stream, &programs));
    tb_status status = tb_mark(run, &pipeline->ordered, programs);
    tb_destroy_stream(programs);
    TB_TRY(status);
    TB_TRY(tb_stream_wait(pipeline->load, pipeline->ordered));
    return tb_stream_wait(pipeline->compute, pipeline->ordered);
}

static tb_status stream_all(tb_stream_run *run)
{
    TB_TRY(tb_take_places(run));
    TB_TRY(follow_program(run));
    TB_TRY(tb_stream_steps(run));
    return tb_returns_on_device(run) ? tb_return_on_device(run) : tb_return_columns(run, run->all);
}

/* Bytes that the host's threads copy on the way in, or look at, if they do so once. */
static size_t slot_bytes_in(const tb_stream_run *run)
{
    size_t bytes = 0;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const bool by_slots = run->plan->places[role].memory == TB_MEMORY_HOST || run->operands[role].cached;
        if (by_slots && tb_place_of(run, role) == role && (role != TB_C || !tb_is_zero(run->product->beta)))
            bytes += (size_t)tb_bytes_read(run->product, role) / (tb_is_halved(run, role) ? 2 : 1);
    }
    return bytes;
}

static size_t slot_bytes_out(const tb_stream_run *run)
{
    return tb_returns_on_device(run) || tb_skips_slots(run) ? 0 : tb_matrix_bytes(&run->product->c.matrix);
}

static void call_helpers(tb_stream_run *run)
{
    const size_t bytes = run->bytes_in + slot_bytes_out(run);
    const int devices = tb_devices_at_work(), parts = run->plan->region_count;
    if (bytes == 0)
        return;
    run->has_helpers = true;
    tb_call_helpers(run->pipeline, bytes, parts > devices ? parts : devices);
}

/* A C that has just been allocated has no pages yet. They come while operands are on their way. */
static void see_to_pages(tb_stream_run *run)
{
    const tb_matrix *c = &run->product->c.matrix;
    const tb_pages pages = {.memory = c->data,
                            .pitch = tb_pitch(c),
                            .row_bytes = tb_column_bytes(c),
                            .rows = (size_t)c->columns,
                            .stairs = tb_stairs_in(run->product, 0, 0)};
    if (run->plan->places[TB_C].memory != TB_MEMORY_HOST || !tb_pages_are_missing(&pages))
        return;
    run->touches = true;
    tb_touch_begin(&run->pipeline->touching, &pages);
}

static void dismiss_helpers(tb_stream_run *run)
{
    if (run->touches)
        tb_touch_leave(&run->pipeline->touching);
    run->touches = false;
    if (run->has_helpers)
        tb_copy_dismiss_helpers();
    run->has_helpers = false;
}

static void give_buffers(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_give_buffer(&run->operands[role].buffer);
    for (tb_role role = TB_A; role <= TB_B; role++)
        tb_give_buffer(&run->stored_there[role]);
    tb_give_buffer(&run->staging);
    tb_give_buffer(&run->workspace);
    for (int i = 0; i < TB_SLOTS; i++) {
        pipeline->in[i].busy = false;
        tb_give_buffer(&pipeline->in[i].pinned);
        tb_give_buffer(&pipeline->out[i].pinned);
    }
}

static void let_streams_end(const tb_pipeline *pipeline, bool in_the_middle)
{
    tb_stream *const streams[TB_STREAMS_OF_CALL] = {pipeline->load, pipeline->compute, pipeline->unload,
                                                    pipeline->across};
    tb_come_to_rest(streams, TB_STREAMS_OF_CALL, in_the_middle);
}

/* ---- When the caller leaves ------------------------------------------------------------------------------- */

/* Whether the device itself reads or writes the program's memory. What lies in ordinary host memory goes through slots, so that
 * nobody but this thread and its helpers touches it. */
static bool device_reaches_operands(const tb_stream_run *run)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (run->plan->places[role].memory != TB_MEMORY_HOST)
            return true;
    return false;
}

/* The other side gives its buffers back when it is told that this one reads them no more. */
static bool reads_other_device(const tb_stream_run *run)
{
    return run->side && run->side->taken > 0;
}

/* The program's memory is touched no more, by whomever, nor is the other device's, and nothing stays taken. */
static void leave(void *left)
{
    tb_stream_run *run = left;
    const bool in_the_middle = tb_left_in_the_middle();
    for (int i = 0; i < TB_SLOTS; i++) {
        tb_copy_leave(&run->pipeline->in[i].job);
        tb_copy_leave(&run->pipeline->out[i].job);
    }
    dismiss_helpers(run);
    if (!in_the_middle || device_reaches_operands(run) || reads_other_device(run))
        let_streams_end(run->pipeline, in_the_middle);
    tb_close_side(run->side);
    if (in_the_middle)
        return;
    tb_await_other_side(run->side);
    give_buffers(run);
}

/* ---- The product ------------------------------------------------------------------------------------------ */

/* All of C has come after all else that was to be done. Otherwise, whatever failed, nothing may go on reading
 * or writing buffers, slots and operands. */
static void come_to_rest(tb_stream_run *run, tb_status status)
{
    if (run->filling)
        tb_copy_end(&run->filling->job);
    while (run->emptying > 0)
        tb_finish_emptying(run);
    dismiss_helpers(run);
    if (status != TB_OK)
        let_streams_end(run->pipeline, false);
    tb_close_side(run->side);
    tb_await_other_side(run->side);
}

/* Where nothing takes the place of the common operand on the device. What came before is compared by each device for itself. */
static bool may_exchange(const tb_stream_run *run, const tb_streamed_region *region)
{
    return run->tiling->whole && !run->one_operand && run->product->m == region->product.m &&
           !run->operands[run->side->exchange->role].cached;
}

tb_status tb_stream_product(tb_pipeline *pipeline, const tb_streamed_region *region,
                            const tb_product *product, const tb_tiling *tiling, tb_part_schedules *schedules,
                            tb_progress *done)
{
    tb_stream_run run = {.pipeline = pipeline,
                         .product = product,
                         .given = &region->given,
                         .plan = region->plan,
                         .kernel = region->kernel,
                         .tiling = tiling,
                         .schedules = schedules,
                         .side = region->side,
                         .seen = region->seen,
                         .programs_stream = region->programs_stream};
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &run);
    run.one_operand = tb_shares_operand(product, tiling);
    run.all = tb_ceil_div(product->m, tb_band_rows(&run)) * product->n;
    tb_lay_out(&run);
    if (run.side && !may_exchange(&run, region))
        tb_quit_exchange(run.side);
    run.bytes_in = slot_bytes_in(&run);
    call_helpers(&run);
    see_to_pages(&run);
    tb_status status = stream_all(&run);
    come_to_rest(&run, status);
    if (status == TB_OK)
        tb_note_answered(&pipeline->operands);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (run.operands[role].cached) {
            if (status == TB_OK)
                tb_offer_copy(pipeline, run.operands[role].cached, &run.operands[role].buffer);
            tb_give_operand(run.operands[role].cached, &run.operands[role].buffer, status == TB_OK);
        }
    give_buffers(&run);
    tb_not_left(&leaving);
    const tb_band next = tb_band_at(&run, run.returned);
    *done = run.returned < run.all ? (tb_progress){next.row, next.rows, next.column}
                                   : (tb_progress){.rows = product->m};
    return status;
}
