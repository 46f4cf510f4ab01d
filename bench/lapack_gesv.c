#include "bench/lapack_gesv.h"

#include "bench/lapack_getrf.h"

double lapack_gesv_flop(const lapack_operands *operands)
{
    const double n = operands->n;
    return lapack_getrf_flop(operands) + 2 * n * n * operands->right_sides;
}

int lapack_gesv_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    typedef void gesv(const int *n, const int *right_sides, void *a, const int *lda, int *pivots, void *b,
                      const int *ldb, int *info);
    int info = 0;
    ((gesv *)fortran->functions[0])(&operands->n, &operands->right_sides, operands->a.data, &operands->n,
                                    operands->pivots, operands->b.data, &operands->n, &info);
    return info;
}

bool lapack_gesv_enqueue(const lapack_operands *operands)
{
    const bench_device_matrix a = lapack_a_on_device(operands),
                              b = {operands->element, operands->n, operands->right_sides,
                                   operands->b.on_device};
    return bench_enqueue_getrf(&a) && bench_enqueue_getrs(&a, &b);
}

static double residual_of_solution(const lapack_operands *operands, const void *solution)
{
    const size_t right_sides = (size_t)operands->right_sides;
    const lapack_stored a = lapack_a_made(operands), b = {a.element, a.n, right_sides, operands->b.made},
                        x = {a.element, a.n, right_sides, solution};
    const lapack_check check = lapack_begin_check(right_sides, a.n);
    lapack_multiply(&b, check.x, check.expected);
    const double solution_norm = lapack_multiply(&x, check.x, check.halfway),
                 norm = lapack_multiply(&a, check.halfway, check.found);
    return lapack_end_check(&check, a.element, norm * solution_norm);
}

double lapack_gesv_residual(const lapack_operands *operands, const void *a, const void *b)
{
    return fmax(lapack_getrf_residual(operands, a, NULL), residual_of_solution(operands, b));
}
