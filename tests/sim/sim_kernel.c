/* What the simulated device computes, whichever kernel of the catalog it was asked for. */
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

bool sim_kernel_serves(const tb_kernel *kernel, const tb_problem *problem, int architecture)
{
    return tb_kernel_runs_on(kernel, architecture) &&
           (kernel->k_limit == 0 || problem->k <= kernel->k_limit) &&
           (problem->k == 0 || (tb_kernel_takes(kernel, problem->a, problem->lda) &&
                                tb_kernel_takes(kernel, problem->b, problem->ldb)));
}

/* On memory of its own: sanitizers, which look at every access, would take minutes for it. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
add_multiple(double *restrict sums, const double *restrict column, double factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sums[i] += column[i] * factor;
}

/* op(A), column by column. */
static double *copy_a(const tb_problem *p)
{
    const int64_t row = p->transpose_a ? p->lda : 1, column = p->transpose_a ? 1 : p->lda;
    double *a = sim_make(((size_t)p->m * (size_t)p->k + 1) * sizeof *a);
    for (int64_t l = 0; l < p->k; l++)
        for (int64_t i = 0; i < p->m; i++)
            a[i + l * p->m] = (double)p->a[i * row + l * column];
    return a;
}

void sim_multiply(const tb_problem *problem, int64_t columns)
{
    const tb_problem *p = problem;
    const int64_t b_row = p->transpose_b ? p->ldb : 1, b_column = p->transpose_b ? 1 : p->ldb;
    double *a = copy_a(p), *sums = sim_make(((size_t)p->m + 1) * sizeof *sums);

    for (int64_t j = 0; j < columns; j++) {
        memset(sums, 0, (size_t)p->m * sizeof *sums);
        for (int64_t l = 0; l < p->k; l++)
            add_multiple(sums, a + l * p->m, (double)p->b[l * b_row + j * b_column], p->m);
        float *c = p->c + j * p->ldc;
        for (int64_t i = 0; i < p->m; i++)
            c[i] = p->alpha * (float)sums[i] + (p->beta == 0 ? 0 : p->beta * c[i]);
    }
    free(sums);
    free(a);
}
