/* Matrices for tests: guarded on all sides, and the oracle that products of them are held against.
 *
 * A matrix is a number of lines, columns in a column-major call and rows in a row-major one, of length floats
 * each, that begin ld floats apart. All else in its block, before, between and behind the lines, is canaries:
 * one written over is found, one read makes the result NaN.
 */
#ifndef TB_MATRIX_H
#define TB_MATRIX_H

#include "tests/check.h"

#include <stddef.h>

typedef struct matrix {
    int64_t length, lines, ld;
    size_t first;  /* element 0, counted in floats from the start of the block */
    size_t floats; /* of the whole block */
    float *block;
} matrix;

/* All canaries. offset, in floats, is how far element 0 is from an address that is a multiple of 64 bytes. */
matrix matrix_make(int64_t length, int64_t lines, int64_t ld, int64_t offset);
matrix matrix_clone(const matrix *original);
void matrix_free(matrix *matrix);

static inline float *matrix_elements(const matrix *matrix)
{
    return matrix->block + matrix->first;
}

typedef enum matrix_family {
    MATRIX_UNIFORM,  /* in [-1, 1] */
    MATRIX_INTEGERS, /* -4 to 4: with such scalars every product of moderate k is exact */
    MATRIX_NANS,     /* NaN everywhere */
} matrix_family;

void matrix_fill(matrix *matrix, matrix_family family, check_random *random);

/* What was asked for: the matrices as they were before the call. */
typedef struct product {
    bool row_major, transpose_a, transpose_b;
    int64_t m, n, k;
    float alpha, beta;
    bool exact;         /* every rounding error is to be zero */
    int more_roundings; /* that a kernel of less than FP32's accuracy is allowed */
    matrix a, b, c;
} product;

/* Whether c holds the product: elements within (k + 3 + more_roundings) u d of the product in double precision, with
 * d = |alpha||A||B| + |beta||C| and u = 2^-24, which is what any order of k fused or separate roundings keeps
 * (Higham, Accuracy and Stability, section 3.5); NaN and infinities where IEEE arithmetic has them; canaries
 * as they were. If not, writes the first bad index and its values. Of products above 2^25 multiply-adds a
 * regular sample of elements is looked at. */
bool product_holds(const product *product, const matrix *c, char *message, size_t size);

/* Bit for bit, canaries included. */
bool matrix_equals(const matrix *before, const matrix *after);

#endif
