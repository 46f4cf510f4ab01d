#include "lib/call/finish_factor.h"

#include "lib/call/run.h"
#include "lib/process/callers_state.h"
#include "lib/user/log.h"
#include "sequences/cholesky.h"
#include "words/integers.h"

#include <math.h>

/* Where there is no LAPACK, panels of this order are factored here. */
enum { PANEL_ORDER = 64 };

/* Takes steps on the host. */
typedef struct steps {
    tb_visitor visitor;
    const tb_host *host;
    bool by_loops; /* panels */
    int64_t info;
} steps;

/* ---- Where there is no LAPACK ----------------------------------------------------------------------------- */

/* L's element, of U the transpose's. */
static double *at(const tb_factor *panel, int64_t row, int64_t column)
{
    return panel->stored == TB_LOWER ? tb_at(&panel->a, row, column) : tb_at(&panel->a, column, row);
}

/* The panel is of double precision. Column by column; returns info. */
static int64_t factor_by_loops(const tb_factor *panel)
{
    for (int64_t j = 0; j < panel->n; j++)
        for (int64_t i = j; i < panel->n; i++) {
            double sum = *at(panel, i, j);
            for (int64_t l = 0; l < j; l++)
                sum -= *at(panel, i, l) * *at(panel, j, l);
            if (i == j && !(sum > 0))
                return j + 1;
            *at(panel, i, j) = i == j ? sqrt(sum) : sum / *at(panel, j, j);
        }
    return 0;
}

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step);

/* By the sequence's steps, the host's products among them. */
static int64_t factor_by_steps(const tb_factor *factor, const tb_host *host)
{
    steps all = {.visitor = {visit}, .host = host, .by_loops = true};
    tb_warn_once("neither this process nor the machine has a LAPACK: portable loops factor, which are slow");
    (void)tb_walk_cholesky(factor, PANEL_ORDER, PANEL_ORDER, &all.visitor);
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

static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    steps *all = (steps *)visitor;
    if (step->kind == TB_STEP_PRODUCT) {
        static const tb_host nobody = {.call = NULL};
        const tb_host *beside =
            all->host->beside ? all->host->beside(all->host, step->product.routine) : NULL;
        tb_compute_on_host(&step->product, beside ? beside : &nobody);
        return TB_OK;
    }
    const int64_t info = all->by_loops ? factor_by_loops(&step->panel) : factor(&step->panel, all->host);
    all->info = info > 0 ? step->position + info : 0;
    return info == 0 ? TB_OK : TB_UNSUPPORTED;
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

void tb_finish_factor(const tb_factor *factor, int64_t done, const tb_host *host)
{
    steps all = {.visitor = {visit}, .host = host};
    tb_enter_callers_environment();
    (void)tb_resume_cholesky(factor, done, &all.visitor);
    tb_leave_callers_environment();
    *factor->info = all.info;
}
