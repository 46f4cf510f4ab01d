/* Matrices for tests, guarded on all sides.
 *
 * A matrix is a number of lines, columns in a column-major call and rows in a row-major one, of length elements
 * each, that begin ld elements apart. All else in its block, before, between and behind the lines, is canaries:
 * one written over is found, even with what it is added to, and one read makes the result NaN.
 */
#ifndef TB_TEST_MATRIX_H
#define TB_TEST_MATRIX_H

#include "tests/check.h"
#include "words/element.h"

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

/* Makes a matrix of floats, as most tests' are. */
static inline matrix matrix_make(int64_t length, int64_t lines, int64_t ld, int64_t offset)
{
    return matrix_make_of(TB_FP32, length, lines, ld, offset);
}
matrix matrix_clone(const matrix *original);
void matrix_free(matrix *matrix);

/* The elements of a matrix of floats. */
static inline float *matrix_elements(const matrix *matrix)
{
    return (float *)matrix->block + matrix->first;
}

/* Element 0 in another block that is laid out as the matrix's. */
void *matrix_start_in(const matrix *matrix, void *block);

/* Sets an element, or the real part of a complex one; matrix_set_imaginary sets the other. */
void matrix_set(const matrix *matrix, int64_t line, int64_t position, double value);
void matrix_set_imaginary(const matrix *matrix, int64_t line, int64_t position, double value);

/* Makes it a canary. */
void matrix_hide(const matrix *matrix, int64_t line, int64_t position);

typedef enum matrix_family {
    MATRIX_UNIFORM,  /* in [-1, 1] */
    MATRIX_INTEGERS, /* -4 to 4: with such scalars every product of moderate k is exact */
    MATRIX_EVEN,     /* of these, twice each */
    MATRIX_NANS,     /* NaN everywhere */
    /* Triangles of them have solutions that do not grow: */
    MATRIX_SOLVABLE,          /* diagonal in [1, 3], the rest uniform, and smaller the more lines there are */
    MATRIX_INTEGERS_SOLVABLE, /* diagonal a power of two, of complex numbers times i or not: inverses are exact */
} matrix_family;

void matrix_fill(matrix *matrix, matrix_family family, check_random *random);

/* Bit for bit, canaries included. */
bool matrix_equals(const matrix *before, const matrix *after);

#endif
