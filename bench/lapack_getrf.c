#include "bench/lapack_getrf.h"

double lapack_getrf_flop(const lapack_operands *operands)
{
    const double m = operands->m, n = operands->n;
    return m * n * n - n * n * n / 3;
}

int lapack_getrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    typedef void getrf(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
    int info = 0;
    ((getrf *)fortran->functions[0])(&operands->m, &operands->n, operands->a.data, &operands->m,
                                     operands->pivots, &info);
    return info;
}

bool lapack_getrf_prepare(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_prepare_getrf(&a);
}

bool lapack_getrf_enqueue(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_enqueue_getrf(&a);
}

void lapack_getrf_collect(const lapack_operands *operands)
{
    bench_fetch_pivots(operands->pivots, operands->n);
}

/* x := P x. False where a pivot is none of the rows that are left. */
static bool exchange(const lapack_operands *operands, lapack_number *x)
{
    for (int i = 0; i < operands->n; i++) {
        const int pivot = operands->pivots[i] - 1;
        if (pivot < i || pivot >= operands->m)
            return false;
        const lapack_number moved = x[i];
        x[i] = x[pivot];
        x[pivot] = moved;
    }
    return true;
}

/* y := y + L x, with L below the diagonal, and ones on it. */
static void multiply_unit_lower(const lapack_stored *a, const lapack_number *x, lapack_number *y)
{
    for (size_t j = 0; j < a->n; j++) {
        y[j] += x[j];
        for (size_t i = j + 1; i < a->m; i++)
            y[i] += lapack_product(lapack_at(a, i, j), x[j]);
    }
}

double lapack_getrf_residual(const lapack_operands *operands, const void *a, const void *b)
{
    (void)b;
    const lapack_stored made = lapack_a_made(operands), factors = {made.element, made.m, made.n, a};
    const lapack_check check = lapack_begin_check(made.n, made.m);
    const double norm = lapack_multiply(&made, check.x, check.expected);
    const bool exchanged = exchange(operands, check.expected);
    lapack_multiply_upper(&factors, check.x, check.halfway);
    multiply_unit_lower(&factors, check.halfway, check.found);
    const double residual = lapack_end_check(&check, made.element, norm);
    return exchanged ? residual : INFINITY;
}
