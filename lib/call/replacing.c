#include "lib/call/replacing.h"

#include "kernels/panels/launch_panel.h"
#include "lib/call/finish_factor.h"
#include "lib/device/copies.h"
#include "lib/process/leaving.h"
#include "lib/streaming/stream_run.h"
#include "sequences/generate.h"
#include "sequences/inversion.h"
#include "sequences/lq.h"

/* ---- Made ------------------------------------------------------------------------------------------------- */

static tb_matrix tile_at(const tb_factoring *work, void *data)
{
    return (tb_matrix){.data = data,
                       .rows = TB_TILE_ORDER,
                       .columns = TB_TILE_ORDER,
                       .ld = TB_TILE_ORDER,
                       .element = work->factor->a.element};
}

/* What the walk is given, which lies in host memory until it is there. */
static tb_status give(tb_factoring *work)
{
    const bool makes_q = tb_makes_q(work->factor);
    tb_matrix tile = tile_at(work, NULL);
    const size_t bytes = makes_q ? tb_q_given_bytes(work->factor) : tb_matrix_bytes(&tile);
    tile.data = work->given = tb_make(bytes);
    if (!work->given)
        return TB_OUT_OF_MEMORY;
    if (makes_q)
        tb_write_q_given(work->factor, work->given);
    else
        tb_set_identity(&tile);
    const tb_copy copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->further, work->given, bytes);
    return tb_issue_copy(work->stream, &copy);
}

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    return tb_take_factoring_step((tb_factoring *)visitor, step);
}

static tb_status make_lq(tb_factoring *work)
{
    return tb_walk_lq(&work->there, tb_panel_order(tb_factoring_routine(work->factor)), &work->visitor);
}

static tb_status make_q(tb_factoring *work)
{
    TB_TRY(give(work));
    tb_place_q(&work->there, work->further);
    return tb_walk_q(&work->there, &work->visitor);
}

static tb_status make_inverse(tb_factoring *work)
{
    const tb_matrix tile = tile_at(work, work->further);
    TB_TRY(give(work));
    TB_TRY(tb_walk_identity(&work->there.b, &tile, &work->visitor));
    return tb_walk_replacement(&work->there, &work->visitor);
}

/* A diagonal that counts as ones keeps what it holds. */
static tb_status keep_diagonal(const tb_factoring *work)
{
    const tb_matrix *a = &work->there.a, *b = &work->there.b;
    const size_t element = tb_bytes_of(a->element);
    const tb_copy copy = {.direction = TB_DEVICE_TO_DEVICE,
                          .target = b->data,
                          .target_pitch = (size_t)(b->ld + 1) * element,
                          .source = a->data,
                          .source_pitch = (size_t)(a->ld + 1) * element,
                          .row_bytes = element,
                          .rows = (size_t)a->rows};
    return work->factor->unit_diagonal ? tb_issue_copy(work->stream, &copy) : TB_OK;
}

/* In the end `there` of A is where that is which replaces it. */
static tb_status make(tb_factoring *work)
{
    tb_factored *a = &work->matrices[0];
    work->visitor.visit = visit;
    if (tb_exchanges_rows(work))
        TB_TRY(tb_send_pivots(work));
    TB_TRY(tb_makes_lq(work->factor)  ? make_lq(work)
           : tb_makes_q(work->factor) ? make_q(work)
                                      : make_inverse(work));
    TB_TRY(keep_diagonal(work));
    if (tb_replacement_is_in_b(work->factor))
        a->there = a->passing.there = work->there.b;
    return TB_OK;
}

/* ---- Saved ------------------------------------------------------------------------------------------------ */

/* Between the program's A and what is saved of it: what is stored. */
static void copy_saved(tb_factoring *work, bool back)
{
    const tb_matrix *a = &work->factor->a;
    const size_t column = tb_column_bytes(a);
    const tb_host_copy copy = {.target = back ? a->data : work->saved,
                               .target_pitch = back ? tb_pitch(a) : column,
                               .source = back ? work->saved : a->data,
                               .source_pitch = back ? column : tb_pitch(a),
                               .row_bytes = column,
                               .rows = (size_t)a->columns,
                               .stairs = tb_stairs_in(&work->matrices[0].stored, 0, 0)};
    tb_copy_begin(&work->saving, &copy);
    tb_copy_end(&work->saving);
}

/* The device is at work meanwhile. */
static tb_status save(tb_factoring *work)
{
    work->saved = tb_make(tb_column_bytes(&work->factor->a) * (size_t)work->factor->n);
    if (!work->saved)
        return TB_OUT_OF_MEMORY;
    copy_saved(work, false);
    work->is_saved = true;
    return TB_OK;
}

void tb_restore_saved(tb_factoring *work)
{
    tb_copy_leave(&work->saving);
    if (work->is_saved)
        copy_saved(work, true);
    work->matrices[0].finished = work->matrices[0].passing.returned = 0;
}

tb_status tb_replace(tb_factoring *work)
{
    tb_factored *a = &work->matrices[0];
    TB_TRY(make(work));
    if (work->passes)
        TB_TRY(save(work));
    if (tb_makes_lq(work->factor)) /* who makes these anew tells it again */
        TB_TRY(tb_tell_tau(work, INT64_MAX));
    TB_TRY(tb_finish_factored(work, 0, work->factor->n));
    return work->passes ? tb_return_finished(&a->passing) : tb_store_a(work);
}
