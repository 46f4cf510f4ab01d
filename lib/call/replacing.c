#include "lib/call/replacing.h"

#include "kernels/panels/launch_panel.h"
#include "lib/call/finish_factor.h"
#include "lib/device/copies.h"
#include "lib/process/large_pages.h"
#include "lib/process/leaving.h"
#include "lib/streaming/stream_run.h"
#include "sequences/apply.h"
#include "sequences/inversion.h"
#include "sequences/lq.h"
#include "words/integers.h"

/* ---- Saved ------------------------------------------------------------------------------------------------ */

static int number_of_replaced(const tb_factoring *work)
{
    return tb_replacement_of(work->factor) ? 0 : 1;
}

static const tb_matrix *program_matrix(const tb_factoring *work)
{
    return &work->matrices[number_of_replaced(work)].stored.c.matrix;
}

static size_t saved_bytes(const tb_factoring *work)
{
    const tb_matrix *matrix = program_matrix(work);
    const size_t bytes = tb_column_bytes(matrix) * (size_t)matrix->columns;
    return (bytes + TB_LARGE_PAGE - 1) / TB_LARGE_PAGE * TB_LARGE_PAGE;
}

/* Between columns of the program's matrix and what is saved of them: what is stored. */
static void copy_saved(tb_factoring *work, tb_range columns, bool back)
{
    const tb_matrix *matrix = program_matrix(work);
    const size_t column = tb_column_bytes(matrix);
    char *const own = tb_at(matrix, 0, columns.first), *const saved = (char *)work->saved +
                                                                      (size_t)columns.first * column;
    const tb_host_copy copy = {
        .target = back ? own : saved,
        .target_pitch = back ? tb_pitch(matrix) : column,
        .source = back ? saved : own,
        .source_pitch = back ? column : tb_pitch(matrix),
        .row_bytes = column,
        .rows = (size_t)columns.count,
        .stairs = tb_stairs_in(&work->matrices[number_of_replaced(work)].stored, 0, columns.first)};
    tb_copy_begin(&work->saving, &copy);
    tb_copy_end(&work->saving);
}

/* Columns up to this one. */
static tb_status save(tb_factoring *work, int64_t end)
{
    const tb_range some = {work->saved_columns, end - work->saved_columns};
    if (!work->saved)
        work->saved = tb_map_large_pages(saved_bytes(work));
    if (!work->saved)
        return TB_OUT_OF_MEMORY;
    copy_saved(work, some, false);
    work->saved_columns = end;
    return TB_OK;
}

void tb_restore_saved(tb_factoring *work)
{
    tb_factored *of = &work->matrices[number_of_replaced(work)];
    tb_copy_leave(&work->saving);
    if (!work->saved)
        return;
    copy_saved(work, (tb_range){0, work->saved_columns}, true);
    of->finished = of->passing.returned = work->saved_columns = 0;
}

/* It is the call's no more before it is gone: who leaves between would have it restored. */
void tb_give_saved(tb_factoring *work)
{
    void *const saved = work->saved;
    work->saved = NULL;
    if (saved)
        tb_unmap_large_pages(saved, saved_bytes(work));
}

/* ---- Finished --------------------------------------------------------------------------------------------- */

/* Columns are saved, so many bytes at a time, before they may come back; the device is at work meanwhile. Not measured. */
#define SAVED_BYTES ((size_t)16 << 20)

static tb_status save_and_return(tb_factoring *work, int64_t end)
{
    const int64_t few = (int64_t)(SAVED_BYTES / tb_column_bytes(program_matrix(work))) + 1;
    while (work->saved_columns < end) {
        TB_TRY(save(work, tb_smaller(work->saved_columns + few, end)));
        TB_TRY(tb_finish_factored(work, number_of_replaced(work), work->saved_columns));
    }
    return TB_OK;
}

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_factoring *work = (tb_factoring *)visitor;
    const int64_t end = step->finished.first + step->finished.count;
    TB_TRY(tb_take_factoring_step(work, step));
    if (step->finished.count == 0)
        return TB_OK;
    return work->passes ? save_and_return(work, end) : tb_finish_factored(work, 0, end);
}

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
static tb_status give_tile(tb_factoring *work)
{
    tb_matrix tile = tile_at(work, NULL);
    const size_t bytes = tb_matrix_bytes(&tile);
    tile.data = work->given = tb_make(bytes);
    if (!work->given)
        return TB_OUT_OF_MEMORY;
    tb_set_identity(&tile);
    const tb_copy copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->further, work->given, bytes);
    return tb_issue_copy(work->stream, &copy);
}

static tb_status make_q(tb_factoring *work)
{
    TB_TRY(tb_send_reflectors(work));
    return tb_walk_q(&work->there, &work->visitor);
}

static tb_status make_lq(tb_factoring *work)
{
    TB_TRY(tb_walk_lq(&work->there, tb_panel_order(tb_factoring_routine(work->factor)), &work->visitor));
    return tb_tell_tau(work, INT64_MAX); /* who makes these anew tells it again */
}

static tb_status make_inverse(tb_factoring *work)
{
    const tb_matrix tile = tile_at(work, work->further);
    TB_TRY(give_tile(work));
    TB_TRY(tb_walk_identity(&work->there.b, &tile, &work->visitor));
    return tb_walk_replacement(&work->there, &work->visitor);
}

static tb_status visit_to_the_end(tb_visitor *visitor, const tb_sequence_step *step)
{
    return tb_take_factoring_step((tb_factoring *)visitor, step);
}

/* All at once. In host memory, where copies may fail, what was there is saved; also where another matrix of the task lies on the device. */
static tb_status put_in_place(tb_factoring *work, int number)
{
    tb_factored *of = &work->matrices[number];
    if (work->passes) {
        TB_TRY(save_and_return(work, of->there.columns));
        return tb_return_finished(&of->passing);
    }
    if (of->place.memory != TB_MEMORY_DEVICE)
        TB_TRY(save(work, of->there.columns));
    TB_TRY(tb_finish_factored(work, number, of->there.columns));
    return number == 0 ? tb_store_a(work) : tb_store_b(work);
}

/* What is by rows is made of the adjoint, beside A, and moved there in the end. */
static tb_status replace_by_rows(tb_factoring *work)
{
    work->visitor.visit = visit_to_the_end;
    TB_TRY(tb_makes_lq(work->factor) ? make_lq(work) : make_q(work));
    return put_in_place(work, 0);
}

tb_status tb_replace(tb_factoring *work)
{
    if (tb_is_by_rows(work->factor))
        return replace_by_rows(work);
    work->visitor.visit = visit;
    if (tb_exchanges_rows(work))
        TB_TRY(tb_send_pivots(work));
    TB_TRY(tb_makes_q(work->factor) ? make_q(work) : make_inverse(work));
    if (work->passes)
        return tb_return_finished(&work->matrices[0].passing);
    if (tb_replacement_is_in_b(work->factor))
        work->matrices[0].there = work->there.b;
    return tb_store_a(work);
}

tb_status tb_apply_on_the_right(tb_factoring *work)
{
    work->visitor.visit = visit_to_the_end;
    TB_TRY(tb_send_reflectors(work));
    TB_TRY(tb_walk_applied(&work->there, &work->visitor));
    return put_in_place(work, 1);
}
