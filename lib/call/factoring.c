#include "lib/call/factoring.h"

#include "kernels/panels/launch_panel.h"
#include "lib/call/finish_factor.h"
#include "lib/call/replacing.h"
#include "lib/device/copies.h"
#include "lib/process/leaving.h"
#include "sequences/apply.h"
#include "sequences/factorization.h"
#include "sequences/substitution.h"
#include "words/integers.h"

/* ---- All steps -------------------------------------------------------------------------------------------- */

/* So often at most: the device waits for it. Not measured. */
#define TAU_TIMES 8

static tb_status finish_reflected(tb_factoring *work, int64_t columns)
{
    const int64_t all = work->factor->n, few = work->passes ? all / TAU_TIMES : all;
    if (columns < all && columns - work->matrices[0].walked < few)
        return TB_OK;
    TB_TRY(tb_tell_tau(work, columns));
    return tb_finish_factored(work, 0, columns);
}

/* In passing, a pivot that is not positive ends the walk; in the device's memory nobody looks before its end. */
static tb_status visit_factoring(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_factoring *work = (tb_factoring *)visitor;
    const int64_t end = step->finished.first + step->finished.count;
    TB_TRY(tb_take_factoring_step(work, step));
    if (step->finished.count == 0)
        return TB_OK;
    return tb_reflects(work) ? finish_reflected(work, end) : tb_finish_factored(work, 0, end);
}

static tb_status visit_solving(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_factoring *work = (tb_factoring *)visitor;
    TB_TRY(tb_take_factoring_step(work, step));
    return step->finished.count > 0 ? tb_finish_factored(work, 1, step->finished.first + step->finished.count)
                                    : TB_OK;
}

/* Where rows are exchanged all columns are finished in the end. */
static tb_status walk_factors(tb_factoring *work)
{
    work->visitor.visit = visit_factoring;
    TB_TRY(
        tb_walk_factor(&work->there, work->plan->block, tb_panel_order(work->there.routine), &work->visitor));
    if (!tb_exchanges_rows(work))
        return TB_OK;
    TB_TRY(tb_tell_pivots(work));
    return tb_finish_factored(work, 0, work->factor->n);
}

/* A is in the program's memory before anything is solved. */
static tb_status make_factors(tb_factoring *work)
{
    const tb_status status = walk_factors(work);
    if (status == TB_DEVICE_LOST)
        return status;
    const tb_status stored = work->passes ? tb_return_finished(&work->matrices[0].passing) : tb_store_a(work);
    return status != TB_OK ? status : stored;
}

static tb_status end_solving(tb_factoring *work, tb_status status)
{
    if (status == TB_DEVICE_LOST)
        return status;
    const tb_status stored = work->passes ? tb_return_finished(&work->matrices[1].passing) : tb_store_b(work);
    return status != TB_OK ? status : stored;
}

/* So many columns of B at a time. Not measured. */
#define SOLVED_COLUMNS 1024

static tb_status solve_by(tb_factoring *work, const tb_factor *solved)
{
    const int64_t all = solved->b.columns;
    tb_status status = TB_OK;
    work->visitor.visit = visit_solving;
    for (int64_t first = 0; first < all && status == TB_OK; first += SOLVED_COLUMNS)
        status = tb_walk_substitution(solved, (tb_range){first, tb_smaller(SOLVED_COLUMNS, all - first)},
                                      &work->visitor);
    return end_solving(work, status);
}

static tb_status solve(tb_factoring *work)
{
    const tb_factor solved = {.routine = work->factor->routine,
                              .m = work->there.m,
                              .n = work->there.n,
                              .a = work->there.a,
                              .stored = work->there.stored,
                              .transposed = work->there.transposed,
                              .conjugated = work->there.conjugated,
                              .unit_diagonal = work->there.unit_diagonal,
                              .pivots = work->there.pivots,
                              .b = work->there.b};
    return solve_by(work, &solved);
}

static tb_status apply(tb_factoring *work)
{
    if (work->factor->on_the_right)
        return tb_apply_on_the_right(work);
    work->visitor.visit = visit_solving;
    TB_TRY(tb_send_reflectors(work));
    return end_solving(work, tb_walk_applied(&work->there, &work->visitor));
}

/* Of a matrix on the device the first number on the diagonal that is 0, from 1, or 0. */
static tb_status look_at_diagonal(tb_factoring *work, const tb_factor *there)
{
    const tb_matrix *a = &there->a;
    const size_t element = tb_bytes_of(a->element);
    tb_factor diagonal = *there;
    diagonal.a.ld = 0;
    diagonal.a.data = work->narrowed = tb_make((size_t)a->rows * element);
    if (!work->narrowed)
        return TB_OUT_OF_MEMORY;
    const tb_copy copy = {.direction = TB_DEVICE_TO_HOST,
                          .target = diagonal.a.data,
                          .target_pitch = element,
                          .source = a->data,
                          .source_pitch = (size_t)(a->ld + 1) * element,
                          .row_bytes = element,
                          .rows = (size_t)a->rows};
    TB_TRY(tb_issue_copy(work->stream, &copy));
    TB_TRY(tb_synchronize(work->stream));
    work->result = tb_first_zero(&diagonal);
    tb_unmake(work->narrowed);
    work->narrowed = NULL; /* pivots may come here */
    return TB_OK;
}

/* What the factorization has made of B; where R's diagonal has a number that is 0, B is left as that. */
static tb_status solve_by_r(tb_factoring *work)
{
    const tb_factor by_r = tb_by_r(&work->there);
    TB_TRY(look_at_diagonal(work, &by_r));
    if (work->result == 0)
        return solve_by(work, &by_r);
    TB_TRY(tb_finish_factored(work, 1, by_r.b.columns));
    return end_solving(work, TB_OK);
}

static tb_status walk(tb_factoring *work)
{
    const tb_factor *factor = work->factor;
    if (tb_replacement_of(factor))
        return work->result == 0 ? tb_replace(work) : TB_OK;
    if (tb_applies_q(factor))
        return apply(work);
    if (tb_makes_factors(factor))
        TB_TRY(make_factors(work));
    else if (tb_exchanges_rows(work))
        TB_TRY(tb_send_pivots(work));
    if (tb_finds_least_squares(factor))
        return solve_by_r(work);
    return tb_solves(factor) && work->result == 0 ? solve(work) : TB_OK;
}

/* ---- In the program's stream ------------------------------------------------------------------------------ */

tb_status tb_factor_in_stream(tb_factoring *work)
{
    TB_TRY(tb_load_factored(work));
    if (tb_divides_by_diagonal(work->factor))
        TB_TRY(look_at_diagonal(work, &work->there));
    return walk(work);
}

/* ---- Through a pipeline ----------------------------------------------------------------------------------- */

/* What passes waits for what comes back: here it would be nothing. */
static bool is_nothing(const tb_factor *factor)
{
    return tb_solves(factor) && !tb_makes_factors(factor) && factor->b.columns == 0;
}

tb_status tb_factor_in_pipeline(tb_factoring *work, tb_pipeline *pipeline)
{
    work->result = tb_first_zero(work->factor);
    if (work->result != 0 || is_nothing(work->factor))
        return TB_OK;
    TB_TRY(tb_pass_factored(work, pipeline));
    return walk(work);
}
