#include "lib/call/finish_factor.h"

#include "lib/call/portable_panel.h"
#include "lib/call/portable_qr.h"
#include "lib/call/run.h"
#include "lib/process/callers_state.h"
#include "lib/user/log.h"
#include "sequences/factorization.h"
#include "sequences/substitution.h"

/* Takes steps on the host. */
typedef struct steps {
    tb_visitor visitor;
    const tb_host *host;
    bool by_loops; /* panels, where there is no LAPACK */
    int64_t info;
} steps;

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step);

static tb_status solve(steps *all, const tb_factor *factor, int64_t solved)
{
    const tb_range columns = {solved, factor->b.columns - solved};
    return columns.count > 0 ? tb_walk_substitution(factor, columns, &all->visitor) : TB_OK;
}

/* As one whose routine does nothing else. */
static tb_factor factored_alone(const tb_factor *factor)
{
    tb_factor alone = *factor;
    alone.routine = tb_factoring_routine(factor);
    return alone;
}

/* Where there is no LAPACK: by the sequence's steps, the host's products among them. */
static int64_t factor_by_steps(const tb_factor *factor, const tb_host *host)
{
    steps all = {.visitor = {visit}, .host = host, .by_loops = true, .info = tb_first_zero(factor)};
    tb_warn_once("neither this process nor the machine has a LAPACK: portable loops factor, which are slow");
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
    static const tb_host nobody = {.call = NULL};
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

tb_outcome tb_run_factor_on_host(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    if (tb_is_left_undone(task, plan)) {
        *task.factor->info = TB_INFO_UNDONE;
        return TB_DONE;
    }
    tb_enter_callers_environment();
    *task.factor->info = factor(task.factor, host);
    tb_leave_callers_environment();
    return TB_DONE;
}

/* ---- What a device has begun ------------------------------------------------------------------------------ */

int64_t tb_first_zero(const tb_factor *factor)
{
    const size_t bytes = tb_bytes_of(factor->a.element);
    const tb_element real = tb_real_of(factor->a.element);
    if (tb_factors_of(factor) != TB_A_ITSELF || factor->unit_diagonal)
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
    static const tb_host nobody = {.call = NULL};
    steps all = {.visitor = {visit}, .host = beside ? beside : &nobody, .info = info <= done ? info : 0};
    tb_enter_callers_environment();
    if (tb_makes_factors(factor) && done < factor->n)
        (void)tb_resume_factor(&alone, done, &all.visitor);
    all.host = host;
    if (tb_solves(factor) && all.info == 0)
        (void)solve(&all, factor, solved);
    tb_leave_callers_environment();
    *factor->info = all.info;
}
