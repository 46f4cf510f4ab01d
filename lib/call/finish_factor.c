#include "lib/call/finish_factor.h"

#include "lib/call/portable_panel.h"
#include "lib/call/portable_qr.h"
#include "lib/call/run.h"
#include "lib/process/callers_state.h"
#include "lib/process/leaving.h"
#include "lib/user/log.h"
#include "sequences/factorization.h"
#include "sequences/inversion.h"
#include "sequences/substitution.h"
#include "words/integers.h"

#include <string.h>

/* Takes steps on the host. */
typedef struct steps {
    tb_visitor visitor;
    const tb_host *host;
    bool by_loops; /* panels, where there is no LAPACK */
    int64_t info;
} steps;

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step);

static const tb_host nobody = {.call = NULL};

static int64_t factor(const tb_factor *factor, const tb_host *host);
static tb_status solve(steps *all, const tb_factor *factor, int64_t solved);

/* The columns that are left, by the host's own routine. */
static tb_status apply(const steps *all, const tb_factor *whole, int64_t applied)
{
    tb_factor rest = *whole;
    rest.b = tb_rectangle(&whole->b, 0, applied, whole->b.rows, whole->b.columns - applied);
    (void)factor(&rest, all->host);
    return TB_OK;
}

/* Least squares, when A has been factored. B is left as Q' B where R's diagonal has a number that is 0. */
static tb_status solve_by_r(steps *all, const tb_factor *factor, int64_t solved)
{
    const tb_host *host = all->host;
    tb_factor rest = *factor;
    rest.b = tb_rectangle(&factor->b, 0, solved, factor->b.rows, factor->b.columns - solved);
    const tb_factor by_q = tb_by_q(&rest), by_r = tb_by_r(&rest);
    const steps beside = {.host = host->beside ? host->beside(host, by_q.routine) : NULL};
    const steps alone = {.host = &nobody};
    (void)apply(beside.host ? &beside : &alone, &by_q, 0);
    all->info = tb_first_zero(&by_r);
    return all->info == 0 ? solve(all, &by_r, 0) : TB_OK;
}

static tb_status solve(steps *all, const tb_factor *factor, int64_t solved)
{
    const tb_range columns = {solved, factor->b.columns - solved};
    if (columns.count == 0)
        return TB_OK;
    return tb_applies_q(factor)             ? apply(all, factor, solved)
           : tb_finds_least_squares(factor) ? solve_by_r(all, factor, solved)
                                            : tb_walk_substitution(factor, columns, &all->visitor);
}

/* As one whose routine does nothing else. */
static tb_factor factored_alone(const tb_factor *factor)
{
    tb_factor alone = *factor;
    alone.routine = tb_factoring_routine(factor);
    return alone;
}

void tb_set_identity(const tb_matrix *matrix)
{
    const bool wide = tb_real_of(matrix->element) == TB_FP64;
    for (int64_t j = 0; j < matrix->columns; j++) {
        memset(tb_at(matrix, 0, j), 0, tb_column_bytes(matrix));
        if (wide)
            *(double *)tb_at(matrix, j, j) = 1;
        else
            *(float *)tb_at(matrix, j, j) = 1;
    }
}

/* What is stored, but for a diagonal of ones. */
static void copy_stored(const tb_factor *factor, const tb_matrix *from)
{
    const size_t bytes = tb_bytes_of(from->element);
    for (int64_t j = 0; j < factor->n; j++) {
        const int64_t unit = factor->unit_diagonal, first = factor->stored == TB_LOWER ? j + unit : 0,
                      end = factor->stored == TB_UPPER ? j + 1 - unit : factor->n;
        if (first < end)
            memcpy(tb_at(&factor->a, first, j), tb_at(from, first, j), (size_t)(end - first) * bytes);
    }
}

static int64_t replace(steps *all, const tb_factor *factor)
{
    tb_factor own = *factor;
    if (all->info != 0)
        return all->info;
    own.b = (tb_matrix){
        .rows = factor->n, .columns = factor->n, .ld = tb_larger(factor->n, 1), .element = factor->a.element};
    own.b.data = tb_make(tb_matrix_bytes(&own.b));
    if (!own.b.data)
        return TB_INFO_UNDONE;
    tb_set_identity(&own.b);
    (void)tb_walk_replacement(&own, &all->visitor);
    if (tb_replacement_is_in_b(factor))
        copy_stored(factor, &own.b);
    tb_unmake(own.b.data);
    return 0;
}

static int64_t make_by_rows(const tb_factor *factor)
{
    const bool is_made =
        tb_makes_q(factor) ? tb_make_q_of_rows_by_loops(factor) : tb_reflect_rows_by_loops(factor);
    return is_made ? 0 : TB_INFO_UNDONE;
}

/* Where there is no LAPACK: by the sequence's steps, the host's products among them. */
static int64_t factor_by_steps(const tb_factor *factor, const tb_host *host)
{
    steps all = {.visitor = {visit}, .host = host, .by_loops = true, .info = tb_first_zero(factor)};
    tb_warn_once("neither this process nor the machine has a LAPACK: portable loops factor, which are slow");
    if (tb_is_by_rows(factor))
        return make_by_rows(factor);
    if (tb_makes_q(factor)) {
        tb_make_q_by_loops(factor);
        return 0;
    }
    if (tb_applies_q(factor)) {
        tb_apply_q_by_loops(factor);
        return 0;
    }
    if (tb_finds_least_squares(factor))
        return tb_find_least_squares_by_loops(factor);
    if (tb_replacement_of(factor))
        return replace(&all, factor);
    if (tb_factors_of(factor) == TB_QR)
        tb_reflect_by_loops(factor);
    else if (tb_makes_factors(factor)) {
        const tb_factor alone = factored_alone(factor);
        (void)tb_walk_factor(&alone, TB_PORTABLE_PANEL_ORDER, TB_PORTABLE_PANEL_ORDER, &all.visitor);
    }
    if (tb_solves(factor) && all.info == 0)
        (void)solve(&all, factor, 0);
    return all.info;
}

/* LAPACKE refuses what has a NaN, which is no less a result here: then the pivot has to be told. */
static int64_t factor(const tb_factor *factor, const tb_host *host)
{
    int64_t info = 0;
    tb_factor own = *factor;
    own.info = &info;
    if (host->call && host->call(host, tb_task_of_factor(&own)) && info >= 0)
        return info;
    return factor_by_steps(factor, host);
}

static void compute(const tb_product *product, const tb_host *host)
{
    const tb_host *beside = host->beside ? host->beside(host, product->routine) : NULL;
    tb_compute_on_host(product, beside ? beside : &nobody);
}

/* With pivots, which the host's own routine counts from the panel's first row. */
static int64_t eliminate(const steps *all, const tb_factor *panel, int64_t position)
{
    if (all->by_loops)
        return tb_eliminate_by_loops(panel, position);
    const int64_t info = factor(panel, all->host);
    for (int64_t i = 0; i < tb_factor_order(panel); i++)
        tb_set_pivot(panel->pivots, i, tb_pivot_at(panel->pivots, i) + position);
    return info;
}

/* Cholesky's, and then what is below it. */
static int64_t factor_and_solve(const steps *all, const tb_factor *panel)
{
    const tb_factor triangle = tb_panel_triangle(panel);
    const tb_product rest = tb_panel_solve(panel);
    const int64_t info = all->by_loops ? tb_factor_by_loops(&triangle) : factor(&triangle, all->host);
    if (info == 0 && rest.m > 0 && rest.n > 0)
        compute(&rest, all->host);
    return info;
}

/* Where there are pivots the factorization goes on, whatever they are. */
static tb_status do_panel(steps *all, const tb_sequence_step *step)
{
    const tb_factor *panel = &step->panel;
    const bool has_pivots = panel->pivots.data != NULL;
    if (tb_factors_of(panel) == TB_QR) {
        (void)factor(panel, all->host);
        return TB_OK;
    }
    const int64_t info = has_pivots ? eliminate(all, panel, step->position) : factor_and_solve(all, panel);
    if (info > 0 && all->info == 0)
        all->info = step->position + info;
    return info == 0 || has_pivots ? TB_OK : TB_UNSUPPORTED;
}

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    steps *all = (steps *)visitor;
    if (step->kind == TB_STEP_PANEL)
        return do_panel(all, step);
    if (step->kind == TB_STEP_EXCHANGE)
        tb_exchange_rows(&step->exchange);
    else if (step->kind == TB_STEP_REFLECT)
        tb_apply_reflectors(&step->panel);
    else
        compute(&step->product, all->host);
    return TB_OK;
}

static void do_all(const tb_factor *what, const tb_host *host)
{
    tb_enter_callers_environment();
    *what->info = factor(what, host);
    tb_leave_callers_environment();
}

tb_outcome tb_run_factor_on_host(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    if (tb_is_left_undone(task, plan)) {
        *task.factor->info = TB_INFO_UNDONE;
        return TB_DONE;
    }
    do_all(task.factor, host);
    return TB_DONE;
}

/* ---- What a device has begun ------------------------------------------------------------------------------ */

bool tb_divides_by_diagonal(const tb_factor *factor)
{
    const bool solves = tb_solves(factor) && tb_factors_of(factor) == TB_A_ITSELF;
    return (solves || tb_replacement_of(factor) == TB_INVERSE) && !factor->unit_diagonal;
}

int64_t tb_first_zero(const tb_factor *factor)
{
    const size_t bytes = tb_bytes_of(factor->a.element);
    const tb_element real = tb_real_of(factor->a.element);
    if (!tb_divides_by_diagonal(factor))
        return 0;
    for (int64_t i = 0; i < factor->n; i++) {
        const void *number = tb_at(&factor->a, i, i);
        bool is_zero = true;
        for (size_t part = 0; part < bytes / tb_bytes_of(real); part++)
            is_zero = is_zero && (real == TB_FP64 ? ((const double *)number)[part] == 0
                                                  : ((const float *)number)[part] == 0);
        if (is_zero)
            return i + 1;
    }
    return 0;
}

void tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                      const tb_host *host)
{
    const tb_factor alone = factored_alone(factor);
    const bool is_alone = alone.routine == factor->routine || !host->beside;
    const tb_host *beside = is_alone ? host : host->beside(host, alone.routine);
    steps all = {.visitor = {visit}, .host = beside ? beside : &nobody, .info = info <= done ? info : 0};
    const bool is_whole = tb_finds_least_squares(factor) && done == 0 && solved == 0;
    if (tb_replacement_of(factor) || is_whole) {
        do_all(factor, host);
        return;
    }
    tb_enter_callers_environment();
    if (tb_makes_factors(factor) && done < factor->n)
        (void)tb_resume_factor(&alone, done, &all.visitor);
    all.host = host;
    if (tb_solves(factor) && (all.info == 0 || tb_finds_least_squares(factor)))
        (void)solve(&all, factor, solved);
    tb_leave_callers_environment();
    *factor->info = all.info;
}
