#include "bench/lapack_geqrf.h"

double lapack_geqrf_flop(const lapack_operands *operands)
{
    const double m = operands->m, n = operands->n;
    return 2 * m * n * n - 2 * n * n * n / 3;
}

static int factor(const lapack_fortran *fortran, const lapack_operands *operands, void *work, int work_count)
{
    typedef void geqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                       const int *work_count, int *info);
    int info = 0;
    ((geqrf *)fortran->functions[0])(&operands->m, &operands->n, operands->a.data, &operands->m,
                                     operands->tau, work, &work_count, &info);
    return info;
}

int lapack_geqrf_count_work(const lapack_fortran *fortran, const lapack_operands *operands)
{
    double first[2] = {0};
    factor(fortran, operands, first, -1);
    return lapack_count_in(operands->element, first);
}

int lapack_geqrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    return factor(fortran, operands, fortran->work, fortran->work_count);
}

bool lapack_geqrf_prepare(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_prepare_geqrf(&a);
}

bool lapack_geqrf_enqueue(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_enqueue_geqrf(&a);
}

void lapack_geqrf_collect(const lapack_operands *operands)
{
    bench_fetch_tau(operands->element, operands->tau, operands->n);
}

/* x := (1 - tau v v') x, with v a column below the diagonal, and a one on it. */
static void reflect(const lapack_stored *a, size_t column, lapack_number tau, lapack_number *x)
{
    lapack_number sum = x[column];
    for (size_t i = column + 1; i < a->m; i++)
        sum += lapack_product(conj(lapack_at(a, i, column)), x[i]);
    const lapack_number scaled = lapack_product(tau, sum);
    x[column] -= scaled;
    for (size_t i = column + 1; i < a->m; i++)
        x[i] -= lapack_product(lapack_at(a, i, column), scaled);
}

double lapack_geqrf_residual(const lapack_operands *operands, const void *a, const void *b)
{
    (void)b;
    const lapack_stored made = lapack_a_made(operands), factored = {made.element, made.m, made.n, a};
    const lapack_check check = lapack_begin_check(made.n, made.m);
    const double norm = lapack_multiply(&made, check.x, check.expected);
    lapack_multiply_upper(&factored, check.x, check.found);
    for (size_t column = made.n; column-- > 0;)
        reflect(&factored, column, lapack_read_number(made.element, operands->tau, column), check.found);
    return lapack_end_check(&check, made.element, norm);
}
