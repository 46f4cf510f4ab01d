/* The order of work, as the tiling has it. Panels of C go back while the next are computed and what those need is loaded.
 * The calling thread keeps all of it going: it fills slots on the way in, and empties those on the way out in
 * between.
 */
#include "lib/streaming/stream_product.h"

#include "lib/streaming/copy_threads.h"
#include "words/integers.h"
#include "lib/process/leaving.h"
#include "lib/call/stream.h"
#include "lib/streaming/stream_run.h"

/* ---- Computing ---------------------------------------------------------------------------------------- */

/* Work that is under way may be using the workspace that was too small. */
static tb_status need_workspace(tb_stream_run *run, size_t bytes)
{
    tb_pipeline *pipeline = run->pipeline;
    if (bytes <= run->workspace.bytes)
        return TB_OK;
    if (run->workspace.memory)
        TB_TRY(tb_device.synchronize(pipeline->compute));
    tb_give_buffer(&run->workspace);
    run->multiplied.a.data = NULL;
    return tb_take_buffer(pipeline->device, bytes, &run->workspace);
}

/* Where a part of that size finds an operand: in place, or where it is brought to. */
static void place_like(const tb_stream_run *run, tb_role role, tb_product *part)
{
    const bool whole = run->tiling->whole;
    tb_operand *operand = &part->operands[role];
    if (tb_is_on_device(&run->plan->places[role]) && !run->plan->pads[role])
        return;
    operand->data = run->operands[role].buffer.memory;
    operand->ld = whole ? run->operands[role].ld : tb_pitched(operand->rows, operand->element);
}

/* A product of that size, as multiply will see it. */
static tb_product part_like(const tb_stream_run *run, const tb_launch_size *size)
{
    tb_product part = tb_subproduct(run->product, (tb_range){0, size->rows}, (tb_range){0, size->columns},
                                    (tb_range){0, size->k});
    place_like(run, TB_A, &part);
    place_like(run, TB_B, &part);
    part.beta = size->beta;
    return part;
}

/* Before there is any such work: enough for all products that follow. */
static tb_status take_workspace(tb_stream_run *run)
{
    tb_launch_size sizes[TB_LAUNCH_SIZES];
    const int count = tb_tiling_sizes(run->product, run->tiling, sizes);
    for (int i = 0; i < count; i++) {
        const tb_product part = part_like(run, &sizes[i]);
        TB_TRY(need_workspace(run, tb_device.prepare(run->pipeline->compute, run->kernel, &part).workspace));
    }
    return TB_OK;
}

static tb_status multiply(tb_stream_run *run, const tb_product *part)
{
    tb_pipeline *pipeline = run->pipeline;
    const tb_schedule schedule = tb_device.prepare(pipeline->compute, run->kernel, part);
    TB_TRY(need_workspace(run, schedule.workspace));
    const tb_product *last = &run->multiplied;
    const bool same_a =
        last->a.data == part->a.data && last->a.ld == part->a.ld && last->m == part->m && last->k == part->k;
    run->multiplied = *part;
    return (same_a ? tb_device.launch_again : tb_device.launch)(pipeline->compute, run->kernel, part,
                                                                &schedule, run->workspace.memory);
}

/* ---- Parts ------------------------------------------------------------------------------------------- */

/* The columns of a block's product with one slab of k; where it finds A and B is filled in later. */
static tb_product part_of(const tb_stream_run *run, int64_t column, int64_t columns, int64_t first_k,
                          int64_t k)
{
    tb_product part = tb_subproduct(run->product, (tb_range){0, run->product->m}, (tb_range){column, columns},
                                    (tb_range){first_k, k});
    part.c.data = tb_device_column(run, column);
    part.c.ld = run->operands[TB_C].ld;
    return part;
}

/* Panel by panel; what completes C is on its way as soon as it is there. */
static tb_status multiply_panels(tb_stream_run *run, const tb_product *slab, int64_t panel_n, bool completes)
{
    for (int64_t column = 0; column < slab->n; column += panel_n) {
        const tb_product panel =
            tb_columns_of(slab, (tb_range){column, tb_smaller(panel_n, slab->n - column)});
        TB_TRY(multiply(run, &panel));
        if (completes && !tb_returns_on_device(run))
            TB_TRY(tb_note_panel(run, panel.n));
    }
    return TB_OK;
}

/* Work that follows finds loaded what has been sent so far. */
static tb_status follow_loading(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    TB_TRY(tb_mark(run, &pipeline->loaded, pipeline->load));
    return tb_device.stream_wait(pipeline->compute, pipeline->loaded);
}

/* Columns of the band that comes after so many columns of bands, first_column of which are there. */
static tb_status load_old_columns(tb_stream_run *run, int64_t first_column, int64_t columns)
{
    const tb_operand c = tb_program_columns(run, first_column, columns);
    if (tb_is_zero(run->product->beta))
        return TB_OK;
    return tb_load(run, TB_C, &c, tb_device_column(run, first_column), run->operands[TB_C].ld, false);
}

static tb_status return_ready(tb_stream_run *run)
{
    return tb_returns_on_device(run) ? TB_OK : tb_return_ready(run);
}

tb_status tb_compute_due(tb_stream_run *run)
{
    if (!run->is_due)
        return TB_OK;
    const tb_product part = run->due;
    run->is_due = false;
    TB_TRY(follow_loading(run));
    TB_TRY(multiply_panels(run, &part, run->due_panel_n, run->due_completes));
    return return_ready(run);
}

static tb_status finish_due(tb_stream_run *run)
{
    TB_TRY(tb_send_filled(run));
    return tb_compute_due(run);
}

tb_status tb_compute(tb_stream_run *run, const tb_product *part, int64_t panel_n, bool completes)
{
    if (run->is_due)
        TB_TRY(finish_due(run));
    run->is_due = true;
    run->due = *part;
    run->due_panel_n = panel_n;
    run->due_completes = completes;
    return run->filling ? TB_OK : tb_compute_due(run);
}

/* ---- Rings of slabs ----------------------------------------------------------------------------------- */

/* Where a slab has its place. A's slabs, when all of them are kept, have their own; otherwise both rings turn together. */
static void *place_of_slab(const tb_stream_run *run, tb_role role, int64_t index)
{
    const tb_tiling *tiling = run->tiling;
    const int64_t ring = role == TB_A ? tiling->ring_a : tiling->ring_b;
    const int64_t outer = role == TB_A ? tiling->block_m : tiling->block_n;
    const bool all_kept = role == TB_A && ring == tiling->slabs;
    const int64_t place = all_kept ? index : run->slabs_multiplied % ring;
    return (char *)run->operands[role].buffer.memory +
           place * tb_slab_bytes(outer, tiling->slab_k, tb_element_of(run->product));
}

/* The slab's operands, on the device or on their way there. */
static tb_status bring_slab(tb_stream_run *run, tb_product *slab, int64_t index)
{
    const tb_tiling *tiling = run->tiling;
    if (run->slabs_multiplied >= tiling->ring_b)
        TB_TRY(tb_device.stream_wait(run->pipeline->load,
                                     run->pipeline->consumed[run->slabs_multiplied % tiling->ring_b]));
    TB_TRY(tb_bring(run, TB_A, &slab->a, place_of_slab(run, TB_A, index), run->a_loaded));
    return tb_bring(run, TB_B, &slab->b, place_of_slab(run, TB_B, index), false);
}

static tb_status stream_block(tb_stream_run *run, int64_t column, int64_t columns)
{
    tb_pipeline *pipeline = run->pipeline;
    const tb_product *product = run->product;
    const tb_tiling *tiling = run->tiling;

    /* This block takes the place of the one before the last. */
    if (!run->whole_c && column >= 2 * tiling->block_n)
        TB_TRY(tb_return_columns(run, column - tiling->block_n));
    TB_TRY(load_old_columns(run, column, columns));
    for (int64_t index = 0; index < tiling->slabs; index++) {
        const int64_t first_k = index * tiling->slab_k;
        tb_product slab =
            part_of(run, column, columns, first_k, tb_smaller(tiling->slab_k, product->k - first_k));
        TB_TRY(bring_slab(run, &slab, index));
        TB_TRY(tb_send_filled(run));
        TB_TRY(follow_loading(run));
        if (index + 1 < tiling->slabs)
            TB_TRY(multiply(run, &slab));
        else
            TB_TRY(multiply_panels(run, &slab, tiling->panel_n, true));
        TB_TRY(tb_mark(run, &pipeline->consumed[run->slabs_multiplied % tiling->ring_b], pipeline->compute));
        run->slabs_multiplied++;
        TB_TRY(return_ready(run));
    }
    run->a_loaded = tiling->ring_a == tiling->slabs;
    return TB_OK;
}

static tb_status stream_blocks(tb_stream_run *run)
{
    const int64_t n = run->product->n, most = run->tiling->block_n;
    for (int64_t column = 0; column < n; column += most)
        TB_TRY(stream_block(run, column, tb_smaller(most, n - column)));
    return TB_OK;
}

/* ---- The call ----------------------------------------------------------------------------------------- */

static tb_status take_buffers(tb_stream_run *run)
{
    const tb_tiling *tiling = run->tiling;
    const tb_element element = tb_element_of(run->product);
    const int device = run->pipeline->device;
    tb_stream_operand *operands = run->operands;
    if (tiling->whole)
        return tb_take_whole(run);
    /* C on the device is written at the very end, so that a failure leaves it as it was. */
    run->whole_c = tb_returns_on_device(run) || tiling->block_n >= run->product->n;
    operands[TB_C].ld = tb_pitched(tb_smaller(tiling->block_m, run->product->m), element);
    const int64_t columns = run->whole_c ? run->product->n : tiling->ring_c * tiling->block_n;
    const int64_t bytes[TB_ROLES] = {
        [TB_A] = tiling->ring_a * tb_slab_bytes(tiling->block_m, tiling->slab_k, element),
        [TB_B] = tiling->ring_b * tb_slab_bytes(tiling->block_n, tiling->slab_k, element),
        [TB_C] = columns * operands[TB_C].ld * (int64_t)tb_bytes_of(element),
    };
    TB_TRY(tb_take_buffer(device, (size_t)bytes[TB_C], &operands[TB_C].buffer));
    TB_TRY(tb_take_buffer(device, (size_t)bytes[TB_A], &operands[TB_A].buffer));
    return tb_take_buffer(device, (size_t)bytes[TB_B], &operands[TB_B].buffer);
}

/* Operands on the device may still be in the making, by work that the program's stream orders. */
static tb_status follow_program(tb_stream_run *run)
{
    const tb_plan *plan = run->plan;
    tb_pipeline *pipeline = run->pipeline;
    if (!tb_is_on_device(&plan->places[TB_A]) && !tb_is_on_device(&plan->places[TB_B]) &&
        !tb_is_on_device(&plan->places[TB_C]))
        return TB_OK;
    tb_stream *programs;
    TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &programs));
    tb_status status = tb_mark(run, &pipeline->ordered, programs);
    tb_device.destroy_stream(programs);
    TB_TRY(status);
    TB_TRY(tb_device.stream_wait(pipeline->load, pipeline->ordered));
    return tb_device.stream_wait(pipeline->compute, pipeline->ordered);
}

static tb_status stream_all(tb_stream_run *run)
{
    TB_TRY(take_buffers(run));
    TB_TRY(take_workspace(run));
    TB_TRY(follow_program(run));
    TB_TRY(run->tiling->whole ? tb_stream_whole(run) : stream_blocks(run));
    TB_TRY(finish_due(run));
    return tb_returns_on_device(run) ? tb_return_on_device(run) : tb_return_columns(run, run->all);
}

/* Bytes that the host's threads copy on the way in, or look at, if they do so once. */
static size_t slot_bytes_in(const tb_stream_run *run)
{
    size_t bytes = 0;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const bool by_slots = run->plan->places[role].memory == TB_MEMORY_HOST || run->operands[role].cached;
        if (by_slots && (role != TB_C || !tb_is_zero(run->product->beta)))
            bytes += tb_operand_bytes(&run->product->operands[role]);
    }
    return bytes;
}

static size_t slot_bytes_out(const tb_stream_run *run)
{
    return tb_returns_on_device(run) || tb_skips_slots(run) ? 0 : tb_operand_bytes(&run->product->c);
}

static void call_helpers(tb_stream_run *run)
{
    const size_t bytes = run->bytes_in + slot_bytes_out(run);
    const int devices = tb_devices_at_work(), parts = run->plan->region_count;
    if (bytes == 0)
        return;
    run->has_helpers = true;
    tb_copy_call_helpers(bytes, parts > devices ? parts : devices);
}

/* A C that has just been allocated has no pages yet. They come while operands are on their way. */
static void see_to_pages(tb_stream_run *run)
{
    const tb_operand *c = &run->product->c;
    const tb_pages pages = {
        .memory = c->data, .pitch = tb_pitch(c), .row_bytes = tb_column_bytes(c), .rows = (size_t)c->columns};
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
    tb_give_buffer(&run->workspace);
    for (int i = 0; i < TB_SLOTS; i++) {
        pipeline->in[i].busy = false;
        tb_give_buffer(&pipeline->in[i].pinned);
        tb_give_buffer(&pipeline->out[i].pinned);
    }
}

static void synchronize_streams(const tb_pipeline *pipeline)
{
    tb_stream *streams[] = {pipeline->load, pipeline->compute, pipeline->unload};
    for (int i = 0; i < 3; i++)
        tb_device.synchronize(streams[i]);
}

/* ---- When the caller leaves ------------------------------------------------------------------------------- */

/* C is written no more, by whomever, and nothing stays taken. */
static void leave(void *left)
{
    tb_stream_run *run = left;
    const bool in_the_middle = tb_left_in_the_middle();
    for (int i = 0; i < TB_SLOTS; i++) {
        tb_copy_leave(&run->pipeline->in[i].job);
        tb_copy_leave(&run->pipeline->out[i].job);
    }
    dismiss_helpers(run);
    /* Where C goes through slots nobody but this thread and its helpers writes into it. */
    if (!in_the_middle || tb_skips_slots(run) || tb_returns_on_device(run)) {
        tb_stream *streams[] = {run->pipeline->load, run->pipeline->compute, run->pipeline->unload};
        tb_come_to_rest(streams, 3, in_the_middle);
    }
    if (!in_the_middle)
        give_buffers(run);
}

/* ---- The product ------------------------------------------------------------------------------------------ */

/* All of C has come after all else that was to be done. Otherwise, whatever failed, nothing may go on reading or writing
 * buffers, slots and operands. */
static void come_to_rest(tb_stream_run *run, tb_status status)
{
    if (run->filling)
        tb_copy_end(&run->filling->job);
    while (run->emptying > 0)
        tb_finish_emptying(run);
    dismiss_helpers(run);
    if (status != TB_OK)
        synchronize_streams(run->pipeline);
}

tb_status tb_stream_product(tb_pipeline *pipeline, const tb_product *product, const tb_plan *plan,
                            const tb_kernel *kernel, const tb_tiling *tiling, tb_progress *done)
{
    tb_stream_run run = {
        .pipeline = pipeline, .product = product, .plan = plan, .kernel = kernel, .tiling = tiling};
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &run);
    run.all = (product->m + tiling->band_m - 1) / tiling->band_m * product->n;
    if (tiling->whole)
        tb_lay_out_whole(&run);
    run.bytes_in = slot_bytes_in(&run);
    call_helpers(&run);
    see_to_pages(&run);
    tb_status status = stream_all(&run);
    come_to_rest(&run, status);
    if (status == TB_OK)
        tb_note_answered(&pipeline->operands);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (run.operands[role].cached)
            tb_give_operand(run.operands[role].cached, &run.operands[role].buffer, status == TB_OK);
    give_buffers(&run);
    tb_not_left(&leaving);
    const tb_band next = tb_band_at(&run, run.returned);
    *done = run.returned < run.all ? (tb_progress){next.row, next.rows, next.column}
                                   : (tb_progress){.rows = product->m};
    return status;
}
