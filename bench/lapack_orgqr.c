#include "bench/lapack_orgqr.h"

#include "bench/driver.h"
#include "bench/lapack_geqrf.h"

#include <string.h>

/* GEQRF's, and as many again. */
double lapack_orgqr_flop(const lapack_operands *operands)
{
    return 2 * lapack_geqrf_flop(operands);
}

static int form(const lapack_fortran *fortran, const lapack_operands *operands, void *work, int work_count)
{
    typedef void orgqr(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,
                       void *work, const int *work_count, int *info);
    int info = 0;
    ((orgqr *)fortran->functions[1])(&operands->m, &operands->n, &operands->n, operands->a.data, &operands->m,
                                     operands->tau, work, &work_count, &info);
    return info;
}

int lapack_orgqr_count_work(const lapack_fortran *fortran, const lapack_operands *operands)
{
    double first[2] = {0};
    form(fortran, operands, first, -1);
    const int formed = lapack_count_in(operands->element, first),
              factored = lapack_geqrf_count_work(fortran, operands);
    return formed > factored ? formed : factored;
}

/* Of what GEQRF left, if anybody asks for it. */
static void keep_triangle(const lapack_operands *operands, const void *matrix)
{
    if (!operands->triangle)
        return;
    const bool is_on_device = matrix == operands->a.on_device;
    if (is_on_device)
        bench_await_device();
    const size_t element = tb_bytes_of(operands->element), m = (size_t)operands->m, n = (size_t)operands->n;
    for (size_t j = 0; j < n; j++) {
        void *target = (char *)operands->triangle + j * n * element;
        const void *source = (const char *)matrix + j * m * element;
        if (is_on_device)
            bench_copy(target, source, n * element);
        else
            memcpy(target, source, n * element);
    }
}

int lapack_orgqr_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    const int info = lapack_geqrf_fortran(fortran, operands);
    keep_triangle(operands, operands->a.data);
    return info != 0 ? info : form(fortran, operands, fortran->work, fortran->work_count);
}

bool lapack_orgqr_prepare(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    return bench_prepare_orgqr(&a);
}

bool lapack_orgqr_enqueue(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands);
    if (!bench_enqueue_geqrf(&a))
        return false;
    keep_triangle(operands, operands->a.on_device);
    return bench_enqueue_orgqr(&a);
}

static double residual_of_columns(const lapack_stored *q)
{
    const lapack_check check = lapack_begin_check(q->n, q->m);
    memcpy(check.expected, check.x, q->n * sizeof *check.x);
    lapack_multiply(q, check.x, check.halfway);
    lapack_multiply_adjoint(q, check.halfway, check.found);
    return lapack_end_check(&check, q->element, 1);
}

static double residual_of_factors(const lapack_stored *made, const lapack_stored *q, const lapack_stored *r)
{
    const lapack_check check = lapack_begin_check(q->n, q->m);
    const double norm = lapack_multiply(made, check.x, check.expected);
    lapack_multiply_upper(r, check.x, check.halfway);
    lapack_multiply(q, check.halfway, check.found);
    return lapack_end_check(&check, q->element, norm);
}

double lapack_orgqr_residual(const lapack_operands *operands, const void *a, const void *b)
{
    (void)b;
    const lapack_stored made = lapack_a_made(operands), q = {made.element, made.m, made.n, a},
                        r = {made.element, made.n, made.n, operands->triangle};
    return fmax(residual_of_columns(&q), residual_of_factors(&made, &q, &r));
}
