#include "bench/lapack_getri.h"

#include "bench/lapack_getrf.h"

#include <string.h>

double lapack_getri_flop(const lapack_operands *operands)
{
    const double n = operands->n;
    return 2 * n * n * n;
}

static int invert(const lapack_fortran *fortran, const lapack_operands *operands, void *work, int work_count)
{
    typedef void getri(const int *n, void *a, const int *lda, const int *pivots, void *work,
                       const int *work_count, int *info);
    int info = 0;
    ((getri *)fortran->functions[1])(&operands->n, operands->a.data, &operands->n, operands->pivots, work,
                                     &work_count, &info);
    return info;
}

int lapack_getri_count_work(const lapack_fortran *fortran, const lapack_operands *operands)
{
    double first[2] = {0};
    invert(fortran, operands, first, -1);
    return lapack_count_in(operands->element, first);
}

int lapack_getri_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    const int info = lapack_getrf_fortran(fortran, operands);
    return info != 0 ? info : invert(fortran, operands, fortran->work, fortran->work_count);
}

bool lapack_getri_prepare(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_prepare_inverse(&a);
}

bool lapack_getri_enqueue(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_enqueue_inverse(&a);
}

double lapack_getri_residual(const lapack_operands *operands, const void *a, const void *b)
{
    (void)b;
    const lapack_stored made = lapack_a_made(operands), inverse = {made.element, made.n, made.n, a};
    const lapack_check check = lapack_begin_check(made.n, made.n);
    memcpy(check.expected, check.x, made.n * sizeof *check.x);
    const double norm = lapack_multiply(&made, check.x, check.halfway),
                 inverse_norm = lapack_multiply(&inverse, check.halfway, check.found);
    return lapack_end_check(&check, made.element, norm * inverse_norm);
}
