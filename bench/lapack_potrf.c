#include "bench/lapack_potrf.h"

#include "bench/cusolver.h"
#include "bench/expect.h"

#include <complex.h>
#include <math.h>

typedef double complex number;

double lapack_potrf_flop(double n)
{
    return n * n * n / 3;
}

double lapack_potrf_moved(double n)
{
    return n * (n + 1) / 2;
}

static number read_number(tb_element element, const void *matrix, size_t i)
{
    const float *floats = matrix;
    const double *doubles = matrix;
    switch (element) {
    case TB_FP32:
        return (double)floats[i];
    case TB_FP64:
        return doubles[i];
    case TB_COMPLEX_FP32:
        return (double)floats[2 * i] + I * (double)floats[2 * i + 1];
    default:
        return doubles[2 * i] + I * doubles[2 * i + 1];
    }
}

static void write_number(tb_element element, void *matrix, size_t i, number value)
{
    const size_t stride = tb_is_complex(element) ? 2 : 1;
    const double parts[] = {creal(value), cimag(value)};
    for (size_t part = 0; part < stride; part++)
        if (tb_real_of(element) == TB_FP32)
            ((float *)matrix)[stride * i + part] = (float)parts[part];
        else
            ((double *)matrix)[stride * i + part] = parts[part];
}

/* Each number on the diagonal is larger than the absolute values of its row together: the matrix is positive definite. */
void lapack_potrf_make(const lapack_operands *operands, void *matrix)
{
    const size_t n = (size_t)operands->n;
    for (size_t i = 0; i < n; i++) {
        const number diagonal = read_number(operands->element, matrix, i * (n + 1));
        write_number(operands->element, matrix, i * (n + 1), creal(diagonal) + 2 * (double)n);
    }
}

int lapack_potrf_fortran(bench_function *function, const lapack_operands *operands)
{
    typedef void potrf(const char *triangle, const int *n, void *a, const int *lda, int *info, size_t length);
    int info = 0;
    ((potrf *)function)(operands->upper ? "U" : "L", &operands->n, operands->a, &operands->n, &info, 1);
    return info;
}

static bench_stored_triangle triangle_of(const lapack_operands *operands)
{
    return (bench_stored_triangle){
        .element = operands->element, .upper = operands->upper, .n = operands->n, .a = operands->on_device};
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

static number stored(const lapack_operands *operands, const void *matrix, size_t row, size_t column)
{
    return read_number(operands->element, matrix, row + column * (size_t)operands->n);
}

/* Without the cases of infinity that the language's own product looks for. */
static number times(number x, number y)
{
    return CMPLX(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

/* Within a factor of the square root of 2. */
static double size_of(number x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

/* y := A x. Returns the largest sum of a row's absolute values. */
static double multiply_hermitian(const lapack_operands *operands, const number *x, number *y)
{
    const size_t n = (size_t)operands->n;
    double largest = 0, *sums = calloc(n, sizeof *sums);
    bench_expect(sums != NULL, "no memory is left");
    for (size_t j = 0; j < n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++) {
            const number a = stored(operands, operands->made, i, j);
            y[i] += times(a, x[j]);
            sums[i] += size_of(a);
            if (i == j)
                continue;
            y[j] += times(conj(a), x[i]);
            sums[j] += size_of(a);
        }
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, sums[i]);
    free(sums);
    return largest;
}

/* y := T x, with T the triangle as it is stored. */
static void multiply_triangle(const lapack_operands *operands, const void *triangle, const number *x,
                              number *y)
{
    for (size_t j = 0; j < (size_t)operands->n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++)
            y[i] += times(stored(operands, triangle, i, j), x[j]);
}

/* y := T' x. */
static void multiply_adjoint(const lapack_operands *operands, const void *triangle, const number *x,
                             number *y)
{
    for (size_t j = 0; j < (size_t)operands->n; j++)
        for (size_t i = rows_of(operands, j).first; i < rows_of(operands, j).end; i++)
            y[j] += times(conj(stored(operands, triangle, i, j)), x[i]);
}

double lapack_potrf_residual(const lapack_operands *operands, const void *result)
{
    const size_t n = (size_t)operands->n;
    number *vectors = calloc(4 * n, sizeof *vectors);
    bench_expect(vectors != NULL, "no memory is left");
    number *x = vectors, *expected = x + n, *halfway = x + 2 * n, *found = x + 3 * n;
    bench_fill_random(TB_FP64, x, 2 * n);
    const double norm = multiply_hermitian(operands, x, expected);
    (operands->upper ? multiply_triangle : multiply_adjoint)(operands, result, x, halfway);
    (operands->upper ? multiply_adjoint : multiply_triangle)(operands, result, halfway, found);
    double largest = 0, difference = 0;
    for (size_t i = 0; i < n; i++) {
        const double apart = size_of(found[i] - expected[i]);
        difference = isnan(apart) ? INFINITY : fmax(difference, apart);
        largest = fmax(largest, size_of(x[i]));
    }
    free(vectors);
    return difference / ((double)n * norm * largest * tb_element_rows[operands->element].roundoff);
}
