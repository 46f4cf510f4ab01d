/* One product, made through the names under test and compared with what it must be. All elements are
 * small whole numbers, so every order of summation gives the same results and they are compared for equality.
 *
 * Built for the names PRODUCT_CBLAS and PRODUCT_FORTRAN, with integers of PRODUCT_BITS and elements of the type PRODUCT_REAL.
 * Fortran is called as many C programs do, without the lengths of its strings.
 */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef PRODUCT_CBLAS
#define PRODUCT_CBLAS   cblas_sgemm
#define PRODUCT_FORTRAN sgemm_
#define PRODUCT_BITS    32
#define PRODUCT_REAL    float
#endif

typedef PRODUCT_REAL real;

#if PRODUCT_BITS == 64
typedef int64_t integer;
#define PASSED(value) ((int64_t)(value))
#else
typedef int32_t integer;
/* What a register may hold in its upper half when an int is passed. */
#define PASSED(value) ((int64_t)(value) | 0x5a5a5a5a00000000)
#endif

void PRODUCT_CBLAS(int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, real alpha,
                   const real *a, int64_t lda, const real *b, int64_t ldb, real beta, real *c, int64_t ldc);
void PRODUCT_FORTRAN(const char *transpose_a, const char *transpose_b, const integer *m, const integer *n,
                     const integer *k, const real *alpha, const real *a, const integer *lda, const real *b,
                     const integer *ldb, const real *beta, real *c, const integer *ldc);

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

/* Rows between the columns of a matrix that belong to nobody. */
enum { PRODUCT_GAP = 3, PRODUCT_UNTOUCHED = -77 };

typedef struct product {
    bool fortran, row_major, transpose_a, transpose_b;
    integer m, n, k;
} product;

static inline real product_element(integer i, integer j)
{
    return (real)((i * 5 + j * 3) % 7 - 3);
}

/* Element (i, j) of a matrix lies at lines[j][i] in column-major order, at lines[i][j] in row-major order. */
static inline size_t product_at(bool row_major, integer i, integer j, integer ld)
{
    return row_major ? (size_t)i * (size_t)ld + (size_t)j : (size_t)j * (size_t)ld + (size_t)i;
}

static inline size_t product_size(integer lines, integer line)
{
    return (size_t)lines * (size_t)(line + PRODUCT_GAP);
}

/* The distance between the lines of a matrix. It says nothing when there is only one line, so a 64-bit caller
 * gives one there that is irregular to whoever takes its integers for 32 bits wide. */
static inline integer product_ld(integer lines, integer line)
{
    return lines == 1 && PRODUCT_BITS == 64 ? (integer)INT64_C(0x100000000) : line + PRODUCT_GAP;
}

static inline real *product_matrix(bool row_major, integer rows, integer columns, integer *ld)
{
    integer lines = row_major ? rows : columns, line = row_major ? columns : rows;
    *ld = product_ld(lines, line);
    size_t size = product_size(lines, line);
    real *matrix = malloc(size * sizeof *matrix);
    for (size_t i = 0; i < size; i++)
        matrix[i] = PRODUCT_UNTOUCHED;
    for (integer i = 0; i < rows; i++)
        for (integer j = 0; j < columns; j++)
            matrix[product_at(row_major, i, j, *ld)] = product_element(i, j);
    return matrix;
}

/* Makes the product C := -2 op(A) op(B) + C. The number of elements of C, gaps included, that came out wrong.
 */
static inline long product_errors(const product *p)
{
    const real alpha = -2, beta = 1;
    integer lda, ldb, ldc;
    real *a = product_matrix(p->row_major, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, &lda);
    real *b = product_matrix(p->row_major, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, &ldb);
    real *c = product_matrix(p->row_major, p->m, p->n, &ldc);

    if (p->fortran)
        PRODUCT_FORTRAN(p->transpose_a ? "t" : "N", p->transpose_b ? "C" : "n", &p->m, &p->n, &p->k, &alpha,
                        a, &lda, b, &ldb, &beta, c, &ldc);
    else
        PRODUCT_CBLAS(p->row_major ? ROW_MAJOR : COLUMN_MAJOR, p->transpose_a ? TRANSPOSE : NO_TRANSPOSE,
                      p->transpose_b ? TRANSPOSE : NO_TRANSPOSE, PASSED(p->m), PASSED(p->n), PASSED(p->k),
                      alpha, a, PASSED(lda), b, PASSED(ldb), beta, c, PASSED(ldc));

    integer ldd;
    real *expected = product_matrix(p->row_major, p->m, p->n, &ldd);
    for (integer i = 0; i < p->m; i++)
        for (integer j = 0; j < p->n; j++) {
            real sum = 0;
            for (integer l = 0; l < p->k; l++)
                sum += (p->transpose_a ? product_element(l, i) : product_element(i, l)) *
                       (p->transpose_b ? product_element(j, l) : product_element(l, j));
            expected[product_at(p->row_major, i, j, ldd)] += alpha * sum;
        }
    long errors = 0;
    for (size_t i = 0; i < (p->row_major ? product_size(p->m, p->n) : product_size(p->n, p->m)); i++)
        errors += c[i] != expected[i];
    free(a);
    free(b);
    free(c);
    free(expected);
    return errors;
}

#endif
