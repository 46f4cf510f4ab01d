/* Matrices for tests: guarded on all sides, and the oracle that products of them are held against.
 *
 * A matrix is a number of lines, columns in a column-major call and rows in a row-major one, of length elements
 * each, that begin ld elements apart. All else in its block, before, between and behind the lines, is canaries, and so is
 * what a mask leaves out of C: one written over is found, even with what it is added to, and one read makes the result NaN.
 */
#ifndef TB_MATRIX_H
#define TB_MATRIX_H

#include "tests/check.h"
#include "words/operand.h"

#include <stddef.h>

typedef struct matrix {
    tb_element element;
    int64_t length, lines, ld;
    size_t first; /* element 0, counted in elements from the start of the block */
    size_t bytes; /* of the whole block */
    void *block;
} matrix;

/* All canaries. offset, in elements, is how far element 0 is from an address that is a multiple of 64 bytes. */
matrix matrix_make_of(tb_element element, int64_t length, int64_t lines, int64_t ld, int64_t offset);

/* Of floats, as most tests' are. */
static inline matrix matrix_make(int64_t length, int64_t lines, int64_t ld, int64_t offset)
{
    return matrix_make_of(TB_FP32, length, lines, ld, offset);
}
matrix matrix_clone(const matrix *original);
void matrix_free(matrix *matrix);

/* Of a matrix of floats. */
static inline float *matrix_elements(const matrix *matrix)
{
    return (float *)matrix->block + matrix->first;
}

/* Element 0 in another block that is laid out as the matrix's. */
void *matrix_start_in(const matrix *matrix, void *block);

/* Of a complex one, the real part; matrix_set_imaginary the other. */
void matrix_set(const matrix *matrix, int64_t line, int64_t position, double value);
void matrix_set_imaginary(const matrix *matrix, int64_t line, int64_t position, double value);

typedef enum matrix_family {
    MATRIX_UNIFORM,  /* in [-1, 1] */
    MATRIX_INTEGERS, /* -4 to 4: with such scalars every product of moderate k is exact */
    MATRIX_NANS,     /* NaN everywhere */
} matrix_family;

void matrix_fill(matrix *matrix, matrix_family family, check_random *random);

/* What was asked for: the matrices as they were before the call. */
typedef struct product {
    bool row_major, transpose_a, transpose_b;
    bool conjugate_a, conjugate_b;
    tb_structure structure_a, structure_b; /* symmetric or Hermitian, ... */
    tb_triangle stored_a, stored_b;        /* ... of which this triangle is stored, as the caller calls it */
    int64_t m, n, k;
    double alpha, beta;
    double alpha_im, beta_im; /* their imaginary parts, of complex numbers */
    int terms;                /* 2: another product is added, with A and B in each other's place */
    bool hermitian;     /* C is: on its diagonal imaginary parts count for nothing, and come back as zero */
    bool exact;         /* every rounding error is to be zero */
    int more_roundings; /* that a kernel of less than FP32's accuracy is allowed */
    tb_triangle mask;   /* of C: all else of it is canaries */
    matrix a, b, c;     /* B may be A */
} product;

/* Makes canaries of what the mask leaves out of C, and of what is not read of a structured A or B; and numbers of imaginary
 * parts on the diagonal of a Hermitian C. */
void product_hide_the_rest(const product *product);

/* Whether c holds the product: elements within (k + 3 + more_roundings) u d of the product in double, or for doubles in
 * long double precision, with d = |alpha||A||B| + |beta||C| and u = 2^-24 or 2^-53, |z| being |re| + |im| and k twice as large of
 * complex numbers, which is what any order of k fused or separate roundings keeps
 * (Higham, Accuracy and Stability, section 3.5); NaN and infinities where IEEE arithmetic has them; canaries
 * as they were. If not, writes the first bad index and its values. Of products above 2^25 multiply-adds a
 * regular sample of elements is looked at. */
bool product_holds(const product *product, const matrix *c, char *message, size_t size);

/* Bit for bit, canaries included. */
bool matrix_equals(const matrix *before, const matrix *after);

#endif
