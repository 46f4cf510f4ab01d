/* What the simulated device computes, whichever kernel of the catalog it was asked for. */
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

bool sim_kernel_serves(const tb_kernel *kernel, const tb_product *product, int architecture)
{
    return tb_kernel_runs_on(kernel, architecture) &&
           (kernel->k_limit == 0 || product->k <= kernel->k_limit) &&
           (product->k == 0 ||
            (tb_kernel_takes(kernel, &product->a) && tb_kernel_takes(kernel, &product->b)));
}

/* On memory of its own: sanitizers, which look at every access, would take minutes for it. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
add_multiple(double *restrict sums, const double *restrict column, double factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sums[i] += column[i] * factor;
}

/* op(A), column by column. */
static double *copy_a(const tb_product *p)
{
    const int64_t row = p->a.transposed ? p->a.ld : 1, column = p->a.transposed ? 1 : p->a.ld;
    const float *stored = p->a.data;
    double *a = sim_make(((size_t)p->m * (size_t)p->k + 1) * sizeof *a);
    for (int64_t l = 0; l < p->k; l++)
        for (int64_t i = 0; i < p->m; i++)
            a[i + l * p->m] = (double)stored[i * row + l * column];
    return a;
}

void sim_multiply(const tb_product *product, int64_t columns)
{
    const tb_product *p = product;
    const int64_t b_row = p->b.transposed ? p->b.ld : 1, b_column = p->b.transposed ? 1 : p->b.ld;
    const float alpha = (float)p->alpha.re, beta = (float)p->beta.re, *b = p->b.data;
    double *a = copy_a(p), *sums = sim_make(((size_t)p->m + 1) * sizeof *sums);

    for (int64_t j = 0; j < columns; j++) {
        memset(sums, 0, (size_t)p->m * sizeof *sums);
        for (int64_t l = 0; l < p->k; l++)
            add_multiple(sums, a + l * p->m, (double)b[l * b_row + j * b_column], p->m);
        float *c = tb_at(&p->c, 0, j);
        for (int64_t i = 0; i < p->m; i++)
            c[i] = alpha * (float)sums[i] + (beta == 0 ? 0 : beta * c[i]);
    }
    free(sums);
    free(a);
}
