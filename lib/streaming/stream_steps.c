/* The order of work: step by step, as the tiling has them. Where not everything has its place on the device,
 * slabs of A and B follow each other in rings, and two blocks of C in two places.
 */

#include "lib/device/copies.h"
#include "lib/streaming/stream_pump.h"
#include "words/integers.h"

/* How many rows lie in one place on the device, where this row does: those of a band that has a place of its own, or else all. */
static int64_t rows_there(const tb_stream_run *run, tb_role role, int64_t row)
{
    const int64_t band_m = run->tiling->band_m, rows = run->product->operands[role].rows;
    return tb_is_in_bands(run->product, run->tiling, role) ? tb_smaller(band_m, rows - row / band_m * band_m)
                                                           : rows;
}

/* Where a slab has its place in a ring. A's slabs, when all of them are kept, have their own; otherwise both
 * rings go on together. */
static void *place_of_slab(const tb_stream_run *run, tb_role given, const tb_step *step)
{
    const tb_tiling *tiling = run->tiling;
    const tb_role role = tb_place_of(run, given);
    const int64_t ring = role == TB_A ? tiling->ring_a : tiling->ring_b;
    const int64_t outer = role == TB_A ? tiling->block_m : tiling->block_n;
    const bool all_kept = role == TB_A && ring == tiling->slabs;
    const int64_t place = all_kept ? step->k.first / tiling->slab_k : run->slabs_multiplied % ring;
    return (char *)run->operands[role].buffer.memory +
           place * tb_slab_bytes(outer, tiling->slab_k, tb_element_of(run->product));
}

/* Lets the rectangle describe where it lies, or is going to, on the device. */
static void place(const tb_stream_run *run, tb_role role, const tb_step *step, tb_range rows,
                  tb_range columns, tb_matrix *rectangle)
{
    if (run->tiling->whole || role == TB_C) {
        rectangle->data = tb_on_device(run, role, rows.first, columns.first);
        rectangle->ld = run->operands[tb_place_of(run, role)].ld;
    } else {
        rectangle->data = place_of_slab(run, role, step);
        rectangle->ld = tb_pitched(rectangle->rows, rectangle->element);
    }
}

/* In C's place: the triangle, or C, which has been placed before. */
static tb_status bring_in_place(tb_stream_run *run, tb_role role, tb_product *part)
{
    if (tb_is_in_place_of(part, role)) {
        part->operands[role].data = part->c.data;
        return TB_OK;
    }
    if (tb_is_on_device(&run->plan->places[role]))
        return TB_OK;
    TB_TRY(tb_bring_stored(run, role));
    part->operands[role] = run->stored[role];
    return TB_OK;
}

/* A rectangle of an operand into device memory, by the load stream. */
static tb_status load(tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                      int64_t target_ld, bool is_part)
{
    tb_stream *stream = run->pipeline->load;
    if (rectangle->rows == 0 || rectangle->columns == 0)
        return TB_OK;
    if (run->product->expanded[role].from > 0)
        return tb_load_expanded(run, role, rectangle, target, target_ld);
    if (tb_is_on_device(&run->plan->places[role]))
        return tb_copy_operand(stream, TB_DEVICE_TO_DEVICE, rectangle, target, target_ld);
    const tb_transfer transfer = tb_make_transfer(run, role, rectangle, target, target_ld, is_part);
    if (tb_goes_straight(run, role, &transfer))
        return tb_copy_operand(stream, TB_HOST_TO_DEVICE, rectangle, target, target_ld);
    return (tb_is_halved(run, role) ? tb_pump_in_halves : tb_pump)(run, &transfer);
}

/* What the step's product finds of the operand, on the device or on its way there. C is always computed in a
 * buffer, so that a failure leaves the program's as it was. */
static tb_status bring(tb_stream_run *run, tb_role role, const tb_step *step, tb_product *part)
{
    const tb_matrix *operand = &run->product->operands[role].matrix;
    tb_range of_rows, of_columns, k, rows, columns;
    if (role != TB_C && run->product->in_place != TB_OUT_OF_PLACE)
        return bring_in_place(run, role, part);
    if (role != TB_C && tb_is_on_device(&run->plan->places[role]) && !run->plan->pads[role])
        return TB_OK;
    tb_stored_ranges(run->product, role, step->rows, step->columns, step->k, &rows, &columns);
    place(run, role, step, rows, columns, &part->operands[role].matrix);
    const bool is_left_out = role == TB_C && tb_is_masked_out(part);
    if (!tb_step_brings(step, run->product, role, &of_rows, &of_columns, &k) ||
        tb_place_of(run, role) != role || is_left_out)
        return TB_OK;
    tb_stored_ranges(run->product, role, of_rows, of_columns, k, &rows, &columns);
    const tb_matrix from = tb_rectangle(operand, rows.first, columns.first, rows.count, columns.count);
    tb_matrix to = from;
    place(run, role, step, rows, columns, &to);
    if (role == TB_A)
        run->multiplied.a.data = NULL;
    const bool is_part =
        (run->tiling->whole || role == TB_C) && rows.count < rows_there(run, role, rows.first);
    return load(run, role, &from, to.data, to.ld, is_part);
}

/* ---- Rings ------------------------------------------------------------------------------------------------ */

/* A block of C takes the place of the one before the last. */
static tb_status make_room_for_block(tb_stream_run *run, const tb_step *step)
{
    const int64_t column = step->columns.first, block_n = run->tiling->block_n;
    if (step->k.first > 0 || run->whole_c || column < 2 * block_n)
        return TB_OK;
    return tb_return_columns(run, column - block_n);
}

/* A slab takes the place of one that has been multiplied. */
static tb_status make_room_for_slab(tb_stream_run *run)
{
    const int64_t ring = run->tiling->ring_b;
    if (run->slabs_multiplied < ring)
        return TB_OK;
    return tb_stream_wait(run->pipeline->load, run->pipeline->consumed[run->slabs_multiplied % ring]);
}

/* The slab's places are free when what has been launched is done. Nothing stays due, as they are wanted. */
static tb_status free_slab(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    TB_TRY(tb_finish_due(run));
    TB_TRY(tb_mark(run, &pipeline->consumed[run->slabs_multiplied % run->tiling->ring_b], pipeline->compute));
    run->slabs_multiplied++;
    return tb_returns_on_device(run) ? TB_OK : tb_return_ready(run);
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

static tb_status take_step(tb_stream_run *run, const tb_step *step)
{
    const bool in_rings = !run->tiling->whole;
    tb_product part = tb_subproduct(run->product, step->rows, step->columns, step->k);
    if (in_rings)
        TB_TRY(make_room_for_block(run, step));
    TB_TRY(bring(run, TB_C, step, &part));
    if (in_rings)
        TB_TRY(make_room_for_slab(run));
    TB_TRY(bring(run, TB_B, step, &part));
    TB_TRY(bring(run, TB_A, step, &part));
    TB_TRY(tb_compute_when_sent(run, &part, step->swath_n, step->completes));
    return in_rings ? free_slab(run) : TB_OK;
}

tb_status tb_stream_steps(tb_stream_run *run)
{
    const int64_t count = tb_step_count(run->product, run->tiling);
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(run->product, run->tiling, i);
        TB_TRY(take_step(run, &step));
    }
    return tb_finish_due(run);
}
