/* The host route: the caller's own BLAS, and what has to be done here because no BLAS can be trusted with it or because
 * there is none. Calls too small to matter come here only where the driver had to be asked where their operands lie.
 */
#include "lib/call/run.h"

#include "lib/reports/log.h"

/* C := beta * C. Columns are scaled one by one: what lies between them is the caller's. */
static void scale(const tb_problem *problem)
{
    for (int64_t j = 0; j < problem->n; j++) {
        float *column = problem->c + j * problem->ldc;
        for (int64_t i = 0; i < problem->m; i++)
            column[i] = problem->beta == 0 ? 0 : problem->beta * column[i];
    }
}

void tb_portable_sgemm(const tb_problem *problem)
{
    const int64_t step_a = problem->transpose_a ? 1 : problem->lda;
    const int64_t step_b = problem->transpose_b ? problem->ldb : 1;
    for (int64_t j = 0; j < problem->n; j++) {
        for (int64_t i = 0; i < problem->m; i++) {
            const float *a = problem->a + (problem->transpose_a ? i * problem->lda : i);
            const float *b = problem->b + (problem->transpose_b ? j : j * problem->ldb);
            float sum = 0;
            for (int64_t l = 0; l < problem->k; l++)
                sum += a[l * step_a] * b[l * step_b];
            float *c = problem->c + i + j * problem->ldc;
            *c = problem->alpha * sum + (problem->beta == 0 ? 0 : problem->beta * *c);
        }
    }
}

tb_outcome tb_run_host(const tb_problem *problem, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    if (plan->needs_device) {
        tb_warn_once("a product of matrices in device memory was left undone: %s",
                     tb_reason_text(plan->reason));
        return TB_DONE;
    }
    /* Some BLAS read A and B all the same when alpha is 0. */
    if (problem->k == 0) {
        scale(problem);
        return TB_DONE;
    }
    if (host->sgemm)
        host->sgemm(host, problem);
    else
        tb_portable_sgemm(problem);
    return TB_DONE;
}
