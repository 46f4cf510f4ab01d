#include "bench/lapack_potrf.h"

#include "bench/expect.h"

double lapack_potrf_flop(const lapack_operands *operands)
{
    const double n = operands->n;
    return n * n * n / 3;
}

double lapack_potrf_moved(const lapack_operands *operands)
{
    const double n = operands->n;
    return n * (n + 1) / 2;
}

/* Each number on the diagonal is larger than the absolute values of its row together: the matrix is positive definite. */
void lapack_potrf_make(const lapack_operands *operands, void *matrix)
{
    const size_t n = (size_t)operands->n;
    for (size_t i = 0; i < n; i++) {
        const lapack_number diagonal = lapack_read_number(operands->element, matrix, i * (n + 1));
        lapack_write_number(operands->element, matrix, i * (n + 1), creal(diagonal) + 2 * (double)n);
    }
}

int lapack_potrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands)
{
    typedef void potrf(const char *triangle, const int *n, void *a, const int *lda, int *info, size_t length);
    int info = 0;
    ((potrf *)fortran->functions[0])(operands->upper ? "U" : "L", &operands->n, operands->a.data,
                                     &operands->n, &info, 1);
    return info;
}

static bench_stored_triangle triangle_of(const lapack_operands *operands)
{
    return (bench_stored_triangle){
        .element = operands->element, .upper = operands->upper, .n = operands->n, .a = operands->a.on_device};
}

bool lapack_potrf_prepare(const lapack_operands *operands)
{
    const bench_stored_triangle triangle = triangle_of(operands);
    return bench_prepare_potrf(&triangle);
}

bool lapack_potrf_enqueue(const lapack_operands *operands)
{
    const bench_stored_triangle triangle = triangle_of(operands);
    return bench_enqueue_potrf(&triangle);
}

/* Rows of a column that are stored: from first, up to end. */
typedef struct rows {
    size_t first, end;
} rows;

static rows rows_of(const lapack_operands *operands, size_t column)
{
    return operands->upper ? (rows){0, column + 1} : (rows){column, (size_t)operands->n};
}

static lapack_number stored(const lapack_operands *operands, const void *matrix, size_t row, size_t column)
{
    return lapack_read_number(operands->element, matrix, row + column * (size_t)operands->n);
}

/* y := A x. Returns the largest sum of a row's absolute values. */
static double multiply_hermitian(const lapack_operands *operands, const lapack_number *x, lapack_number *y)
{
    const size_t n = (size_t)operands->n;
    double largest = 0, *sums = calloc(n, sizeof *sums);
    bench_expect(sums != NULL, "no memory is left");
    for (size_t j = 0; j < n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++) {
            const lapack_number a = stored(operands, operands->a.made, i, j);
            y[i] += lapack_product(a, x[j]);
            sums[i] += lapack_size_of(a);
            if (i == j)
                continue;
            y[j] += lapack_product(conj(a), x[i]);
            sums[j] += lapack_size_of(a);
        }
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, sums[i]);
    free(sums);
    return largest;
}

/* y := T x, with T the triangle as it is stored. */
static void multiply_triangle(const lapack_operands *operands, const void *triangle, const lapack_number *x,
                              lapack_number *y)
{
    for (size_t j = 0; j < (size_t)operands->n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++)
            y[i] += lapack_product(stored(operands, triangle, i, j), x[j]);
}

/* y := T' x. */
static void multiply_adjoint(const lapack_operands *operands, const void *triangle, const lapack_number *x,
                             lapack_number *y)
{
    for (size_t j = 0; j < (size_t)operands->n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++)
            y[j] += lapack_product(conj(stored(operands, triangle, i, j)), x[i]);
}

double lapack_potrf_residual(const lapack_operands *operands, const void *a, const void *b)
{
    (void)b;
    const size_t n = (size_t)operands->n;
    const lapack_check check = lapack_begin_check(n, n);
    const double norm = multiply_hermitian(operands, check.x, check.expected);
    (operands->upper ? multiply_triangle : multiply_adjoint)(operands, a, check.x, check.halfway);
    (operands->upper ? multiply_adjoint : multiply_triangle)(operands, a, check.halfway, check.found);
    return lapack_end_check(&check, operands->element, norm);
}
