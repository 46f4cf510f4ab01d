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

static double number_at(const tb_operand *operand, int64_t row, int64_t column)
{
    const void *at = tb_at(operand, row, column);
    return operand->element == TB_FP64 ? *(const double *)at : (double)*(const float *)at;
}

/* Element (i, j) of op(X). */
static double element_of(const tb_operand *x, int64_t i, int64_t j)
{
    return x->transposed ? number_at(x, j, i) : number_at(x, i, j);
}

/* Tells op(A) from what else lay in its place. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static uint64_t hash_of(const double *a,
                                                                                       int64_t count)
{
    uint64_t hash = 0, bits;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&bits, &a[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* op(A), column by column. */
static double *copy_a(const tb_product *p)
{
    double *a = sim_make(((size_t)p->m * (size_t)p->k + 1) * sizeof *a);
    for (int64_t l = 0; l < p->k; l++)
        for (int64_t i = 0; i < p->m; i++)
            a[i + l * p->m] = element_of(&p->a, i, l);
    return a;
}

/* c := alpha * sums + beta * c for a column of C, in the arithmetic of its elements. */
#define COMBINE(real, c, product, rows, sums)                                                                \
    do {                                                                                                     \
        const real alpha = (real)(product)->alpha.re, beta = (real)(product)->beta.re;                       \
        real *column = (c);                                                                                  \
        for (int64_t i = (rows).first; i < (rows).first + (rows).count; i++)                                 \
            column[i] = alpha * (real)(sums)[i] + (beta == 0 ? 0 : beta * column[i]);                        \
    } while (0)

uint64_t sim_multiply(const tb_product *product, int64_t columns)
{
    const tb_product *p = product;
    double *a = copy_a(p), *sums = sim_make(((size_t)p->m + 1) * sizeof *sums);

    for (int64_t j = 0; j < columns; j++) {
        memset(sums, 0, (size_t)p->m * sizeof *sums);
        for (int64_t l = 0; l < p->k; l++)
            add_multiple(sums, a + l * p->m, element_of(&p->b, l, j), p->m);
        const tb_range rows = tb_masked_rows(p, j);
        if (tb_element_of(p) == TB_FP64)
            COMBINE(double, tb_at(&p->c, 0, j), p, rows, sums);
        else
            COMBINE(float, tb_at(&p->c, 0, j), p, rows, sums);
    }
    const uint64_t hash = hash_of(a, p->m * p->k);
    free(sums);
    free(a);
    return hash;
}
