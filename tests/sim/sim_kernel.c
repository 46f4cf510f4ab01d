/* What the simulated device computes, whichever kernel of the catalog it was asked for. */
#include "tests/sim/sim.h"

#include <stdlib.h>

bool sim_kernel_serves(const tb_kernel *kernel, const tb_problem *problem, int architecture)
{
    return tb_kernel_runs_on(kernel, architecture) &&
           (kernel->k_limit == 0 || problem->k <= kernel->k_limit) &&
           (problem->k == 0 || (tb_kernel_takes(kernel, problem->a, problem->lda) &&
                                tb_kernel_takes(kernel, problem->b, problem->ldb)));
}

void sim_multiply(const tb_problem *problem, int64_t columns)
{
    const tb_problem *p = problem;
    int64_t a_row = p->transpose_a ? p->lda : 1, a_column = p->transpose_a ? 1 : p->lda;
    int64_t b_row = p->transpose_b ? p->ldb : 1, b_column = p->transpose_b ? 1 : p->ldb;
    double *sums = sim_make(((size_t)p->m + 1) * sizeof *sums);

    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < p->m; i++)
            sums[i] = 0;
        for (int64_t l = 0; l < p->k; l++) {
            double b = (double)p->b[l * b_row + j * b_column];
            for (int64_t i = 0; i < p->m; i++)
                sums[i] += (double)p->a[i * a_row + l * a_column] * b;
        }
        float *c = p->c + j * p->ldc;
        for (int64_t i = 0; i < p->m; i++)
            c[i] = p->alpha * (float)sums[i] + (p->beta == 0 ? 0 : p->beta * c[i]);
    }
    free(sums);
}
