/* Numbers of any element in double precision, and matrices by vectors of them: what bench/lapack makes its matrices with, and
 * checks results by. Plain loops; no matrix has gaps. What cannot go on ends the program.
 */
#ifndef BENCH_LAPACK_NUMBERS_H
#define BENCH_LAPACK_NUMBERS_H

#include "words/element.h"

#include <complex.h>
#include <math.h>

typedef double complex lapack_number;

lapack_number lapack_read_number(tb_element element, const void *matrix, size_t i);

/* Of a real element the imaginary part is left out. */
void lapack_write_number(tb_element element, void *matrix, size_t i, lapack_number value);

/* Without the cases of infinity that the language's own product looks for. */
static inline lapack_number lapack_product(lapack_number x, lapack_number y)
{
    return CMPLX(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

/* The absolute value within a factor of the square root of 2. */
static inline double lapack_size_of(lapack_number x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

/* The number that LAPACK leaves in the workspace of those that ask how large it shall be. */
static inline int lapack_count_in(tb_element element, const void *work)
{
    return (int)creal(lapack_read_number(element, work, 0));
}

/* A product with a random vector x, as it is expected and as it is found. */
typedef struct lapack_check {
    size_t columns, rows;
    lapack_number *x;                          /* columns, always the same ones */
    lapack_number *halfway, *expected, *found; /* rows, zeros at first */
} lapack_check;

lapack_check lapack_begin_check(size_t columns, size_t rows);

/* How far what is found is from what is expected, over rows norm |x| roundoff, in the largest elements; infinite where anything of
 * that is no number. Frees the vectors. */
double lapack_end_check(const lapack_check *check, tb_element element, double norm);

/* m x n. */
typedef struct lapack_stored {
    tb_element element;
    size_t m, n;
    const void *data;
} lapack_stored;

static inline lapack_number lapack_at(const lapack_stored *a, size_t row, size_t column)
{
    return lapack_read_number(a->element, a->data, row + column * a->m);
}

/* y := y + A x. Returns the largest sum of a row's absolute values. */
double lapack_multiply(const lapack_stored *a, const lapack_number *x, lapack_number *y);

/* y := y + A' x. */
void lapack_multiply_adjoint(const lapack_stored *a, const lapack_number *x, lapack_number *y);

/* y := y + R x, with R on the diagonal and above it. */
void lapack_multiply_upper(const lapack_stored *a, const lapack_number *x, lapack_number *y);

#endif
