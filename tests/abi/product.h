/* One product, made through the names under test and compared with what it must be. All elements are
 * small whole numbers, so every order of summation gives the same results and they are compared for equality.
 *
 * Built for the names PRODUCT_CBLAS and PRODUCT_FORTRAN of a routine of PRODUCT_CLASS, with integers of PRODUCT_BITS and elements
 * of the type PRODUCT_REAL, which are complex or not (PRODUCT_COMPLEX); PRODUCT_HERMITIAN: of SYMM's class it is HEMM, and of
 * SYR2K's HER2K; PRODUCT_SOLVES: of TRMM's it is TRSM. Fortran is called as many C programs do, without the lengths of its
 * strings.
 */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "tests/abi/classes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef PRODUCT_CBLAS
#define PRODUCT_CBLAS     cblas_sgemm
#define PRODUCT_FORTRAN   sgemm_
#define PRODUCT_CLASS     GEMM
#define PRODUCT_BITS      32
#define PRODUCT_REAL      float
#define PRODUCT_COMPLEX   0
#define PRODUCT_REAL_BETA 0
#define PRODUCT_HERMITIAN 0
#define PRODUCT_SOLVES    0
#endif

typedef PRODUCT_REAL real;
typedef OF_CLASS(PRODUCT_REAL, scalar) real_scalar;
typedef OF_CLASS(PRODUCT_REAL, part) real_part;

#if PRODUCT_BITS == 64
typedef int64_t integer;
#define PASSED(value) ((int64_t)(value))
#else
typedef int32_t integer;
/* What a register may hold in its upper half when an int is passed. */
#define PASSED(value) ((int64_t)(value) | 0x5a5a5a5a00000000)
#endif

#if PRODUCT_COMPLEX
#define PASSED_SCALAR(value) (&(value))
#define OF_PARTS(re, im)     ((re) + (real)1.0i * (im))
#define CONJUGATED(value)    ((real)__builtin_conj(value))
#define REAL_PART_OF(value)  ((real)__builtin_creal(value))
#else
#define PASSED_SCALAR(value) (value)
#define OF_PARTS(re, im)     (re)
#define CONJUGATED(value)    (value)
#define REAL_PART_OF(value)  (value)
#endif

/* beta as CBLAS and as Fortran takes it. */
#if PRODUCT_REAL_BETA
typedef real_part beta_scalar, beta_real;
#define PASSED_BETA(value) ((beta_scalar)__builtin_creal(value))
#else
typedef real_scalar beta_scalar;
typedef real beta_real;
#define PASSED_BETA(value) PASSED_SCALAR(value)
#endif

void PRODUCT_CBLAS(OF_CLASS(PRODUCT_CLASS, CBLAS_PARAMETERS)(int64_t, real));
void PRODUCT_FORTRAN(OF_CLASS(PRODUCT_CLASS, FORTRAN_PARAMETERS)(integer, real));

enum {
    FORTRAN = 0,
    ROW_MAJOR = 101,
    COLUMN_MAJOR = 102,
    NO_TRANSPOSE = 111,
    TRANSPOSE = 112,
    CONJUGATE = 113
};
enum { UPPER = 121, LOWER = 122, NON_UNIT = 131, UNIT = 132, LEFT = 141, RIGHT = 142 };
/* The class, for `if`. */
#define PRODUCT_OF OF_CLASS(PRODUCT_CLASS, NUMBER)

/* Arguments as they are passed, those of all classes. */
typedef struct product_call {
    int layout;                                             /* or FORTRAN */
    int side, triangle, transpose_a, transpose_b, diagonal; /* numbers, of Fortran letters */
    integer m, n, k, lda, ldb, ldc;
    real alpha, beta;
    const real *a, *b;
    real *c;
} product_call;

static inline void product_call_cblas(const product_call *x)
{
    const int layout = x->layout, side = x->side, triangle = x->triangle, transpose_a = x->transpose_a,
              transpose_b = x->transpose_b, diagonal = x->diagonal;
    const int64_t m = PASSED(x->m), n = PASSED(x->n), k = PASSED(x->k), lda = PASSED(x->lda),
                  ldb = PASSED(x->ldb), ldc = PASSED(x->ldc);
    const real_scalar alpha = PASSED_SCALAR(x->alpha);
    const beta_scalar beta = PASSED_BETA(x->beta);
    const real *a = x->a, *b = x->b;
    real *c = x->c;
    (void)side, (void)triangle, (void)transpose_a, (void)transpose_b, (void)m, (void)k, (void)b, (void)ldb;
    (void)diagonal, (void)beta;
    PRODUCT_CBLAS(OF_CLASS(PRODUCT_CLASS, CBLAS_ARGUMENTS));
}

static inline void product_call_fortran(const product_call *x)
{
    const char letters[] = {(char)x->triangle, (char)x->transpose_a, (char)x->transpose_b, (char)x->side,
                            (char)x->diagonal};
    const char *triangle = &letters[0], *transpose_a = &letters[1], *transpose_b = &letters[2],
               *side = &letters[3], *diagonal = &letters[4];
    const integer *m = &x->m, *n = &x->n, *k = &x->k, *lda = &x->lda, *ldb = &x->ldb, *ldc = &x->ldc;
    const real *alpha = &x->alpha, *a = x->a, *b = x->b;
    const beta_real *beta = (const beta_real *)&x->beta;
    real *c = x->c;
    (void)side, (void)triangle, (void)transpose_a, (void)transpose_b, (void)m, (void)k, (void)b, (void)ldb;
    (void)diagonal, (void)beta;
    PRODUCT_FORTRAN(OF_CLASS(PRODUCT_CLASS, FORTRAN_ARGUMENTS));
}

static inline void product_make(const product_call *x)
{
    (x->layout == FORTRAN ? product_call_fortran : product_call_cblas)(x);
}

/* Rows between the columns of a matrix that belong to nobody. */
enum { PRODUCT_GAP = 3, PRODUCT_UNTOUCHED = -77 };

typedef struct product {
    bool fortran, row_major, transpose_a, transpose_b;
    bool lower; /* the triangle, of a class that has one: m is n there; of SYMM and TRMM that of A */
    bool left;  /* the side of A, of SYMM and TRMM: m or n is k there */
    bool unit;  /* A's diagonal, of TRMM */
    integer m, n, k;
} product;

static inline real product_element(integer i, integer j)
{
    return OF_PARTS((real)((i * 5 + j * 3) % 7 - 3), (real)((i * 2 + j * 6) % 5 - 2));
}

/* Elements repeat along rows and columns, and so do sums of their products: what is expected is summed once for each of so many
 * rows and columns, or of all of them, where an operand of the class is not the same along them. */
enum { PRODUCT_PERIOD = PRODUCT_COMPLEX ? 35 : 7 };

static inline integer product_first_alike(integer index, bool repeats)
{
    return repeats ? index % PRODUCT_PERIOD : index;
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

/* Element (i, j) of a symmetric or Hermitian matrix of which one triangle is stored. */
static inline real product_mirrored(bool lower, integer i, integer j)
{
    const bool stored = lower ? i >= j : i <= j;
    const real element = stored ? product_element(i, j) : product_element(j, i);
    if (!PRODUCT_HERMITIAN)
        return element;
    return i == j ? REAL_PART_OF(element) : stored ? element : CONJUGATED(element);
}

static inline real product_operand(integer i, integer j, bool transposed, bool conjugated)
{
    const real element = transposed ? product_element(j, i) : product_element(i, j);
    return conjugated ? CONJUGATED(element) : element;
}

static inline size_t product_room(bool row_major, integer rows, integer columns)
{
    return row_major ? product_size(rows, columns) : product_size(columns, rows);
}

/* Element (i, l) of op(A), where A is triangular and has a diagonal of minus ones, or of ones that are not stored. */
static inline real product_triangular(const product *p, bool conjugated, integer i, integer l)
{
    const integer row = p->transpose_a ? l : i, column = p->transpose_a ? i : l;
    if (row == column)
        return p->unit ? 1 : -1;
    return (p->lower ? row > column : row < column) ? product_operand(i, l, p->transpose_a, conjugated) : 0;
}

/* op(A) times a matrix, or that times op(A): an element. */
static inline real product_by_triangle(const product *p, bool conjugated, integer i, integer j)
{
    real sum = 0;
    for (integer l = 0; l < (p->left ? p->m : p->n); l++)
        sum += p->left ? product_triangular(p, conjugated, i, l) * product_element(l, j)
                       : product_element(i, l) * product_triangular(p, conjugated, l, j);
    return sum;
}

/* TRMM or TRSM, whose solutions are small whole numbers too, on the transposition of B. The number of elements of C that came
 * out wrong. */
static inline long product_errors_in_place(const product *given)
{
    product p = *given;
    p.transpose_a = given->transpose_b;
    const bool conjugate = p.transpose_a && p.fortran;
    const integer order = p.left ? p.m : p.n;
    integer lda, ldc;
    real *a = product_matrix(p.row_major, order, order, &lda),
         *c = product_matrix(p.row_major, p.m, p.n, &ldc),
         *expected = product_matrix(p.row_major, p.m, p.n, &ldc);
    const real alpha = PRODUCT_SOLVES ? OF_PARTS(PRODUCT_COMPLEX ? 0 : -1, 1) : OF_PARTS(-2, 1);
    for (integer i = 0; i < order; i++)
        for (integer j = 0; j < order; j++)
            if (i == j ? p.unit : p.lower ? i < j : i > j)
                a[product_at(p.row_major, i, j, lda)] = PRODUCT_UNTOUCHED;
            else if (i == j)
                a[product_at(p.row_major, i, j, lda)] = -1;
    for (integer i = 0; i < p.m; i++)
        for (integer j = 0; j < p.n; j++) {
            real *const target = PRODUCT_SOLVES ? c : expected;
            const integer as_i = product_first_alike(i, !p.left), as_j = product_first_alike(j, p.left);
            target[product_at(p.row_major, i, j, ldc)] =
                as_i < i || as_j < j
                    ? target[product_at(p.row_major, as_i, as_j, ldc)]
                    : product_by_triangle(&p, conjugate, i, j) * (PRODUCT_SOLVES ? CONJUGATED(alpha) : alpha);
        }
    const bool letters = p.fortran;
    const product_call call = {.layout = letters       ? FORTRAN
                                         : p.row_major ? ROW_MAJOR
                                                       : COLUMN_MAJOR,
                               .side = letters  ? (p.left ? 'l' : 'R')
                                       : p.left ? LEFT
                                                : RIGHT,
                               .triangle = letters   ? (p.lower ? 'l' : 'U')
                                           : p.lower ? LOWER
                                                     : UPPER,
                               .transpose_a = letters         ? (p.transpose_a ? 'c' : 'N')
                                              : p.transpose_a ? TRANSPOSE
                                                              : NO_TRANSPOSE,
                               .diagonal = letters  ? (p.unit ? 'u' : 'N')
                                           : p.unit ? UNIT
                                                    : NON_UNIT,
                               .m = p.m,
                               .n = p.n,
                               .lda = lda,
                               .ldc = ldc,
                               .alpha = alpha,
                               .a = a,
                               .c = c};
    product_make(&call);
    long errors = 0;
    for (size_t i = 0; i < product_room(p.row_major, p.m, p.n); i++)
        errors += c[i] != expected[i];
    free(a);
    free(c);
    free(expected);
    return errors;
}

/* SYR2K's or HER2K's sum at (i, j), where B is A one row later. */
static inline real product_of_two_terms(const product *p, const product_call *call, integer i, integer j)
{
    const bool conjugates = PRODUCT_HERMITIAN, turns = p->transpose_a;
    real first = 0, second = 0;
    for (integer l = 0; l < p->k; l++) {
        real at_i[2], at_j[2]; /* of op(A) and op(B) */
        for (int of = 0; of < 2; of++) {
            at_i[of] = turns ? product_element(l + of, i) : product_element(i + of, l);
            at_j[of] = turns ? product_element(l + of, j) : product_element(j + of, l);
            if (conjugates)
                *(turns ? &at_i[of] : &at_j[of]) = CONJUGATED(turns ? at_i[of] : at_j[of]);
        }
        first += at_i[0] * at_j[1];
        second += at_i[1] * at_j[0];
    }
    return call->alpha * first + (conjugates ? CONJUGATED(call->alpha) : call->alpha) * second;
}

/* SYR2K or HER2K: the number of elements of C that came out wrong. B differs from A, so that it is known which term is which. */
static inline long product_errors_of_two_terms(const product *p)
{
    const integer rows = p->transpose_a ? p->k : p->n, columns = p->transpose_a ? p->n : p->k;
    const bool conjugates = PRODUCT_HERMITIAN;
    integer lda, ldb, ldc;
    real *a = product_matrix(p->row_major, rows, columns, &lda),
         *b = product_matrix(p->row_major, rows, columns, &ldb),
         *c = product_matrix(p->row_major, p->n, p->n, &ldc),
         *expected = product_matrix(p->row_major, p->n, p->n, &ldc);
    for (integer i = 0; i < rows; i++)
        for (integer j = 0; j < columns; j++)
            b[product_at(p->row_major, i, j, ldb)] = product_element(i + 1, j);
    const int transposed = conjugates ? CONJUGATE : TRANSPOSE, letter = conjugates ? 'c' : 't';
    const product_call call = {.layout = p->fortran     ? FORTRAN
                                         : p->row_major ? ROW_MAJOR
                                                        : COLUMN_MAJOR,
                               .triangle = p->fortran ? (p->lower ? 'l' : 'U')
                                           : p->lower ? LOWER
                                                      : UPPER,
                               .transpose_a = p->fortran       ? (p->transpose_a ? letter : 'N')
                                              : p->transpose_a ? transposed
                                                               : NO_TRANSPOSE,
                               .n = p->n,
                               .k = p->k,
                               .lda = lda,
                               .ldb = ldb,
                               .ldc = ldc,
                               .alpha = OF_PARTS(-2, 1),
                               .beta = 1,
                               .a = a,
                               .b = b,
                               .c = c};
    product_make(&call);
    real sums[PRODUCT_PERIOD][PRODUCT_PERIOD];
    for (integer i = 0; i < p->n && i < PRODUCT_PERIOD; i++)
        for (integer j = 0; j < p->n && j < PRODUCT_PERIOD; j++)
            sums[i][j] = product_of_two_terms(p, &call, i, j);
    for (integer i = 0; i < p->n; i++)
        for (integer j = 0; j < p->n; j++) {
            real *const element = &expected[product_at(p->row_major, i, j, ldc)];
            if (p->lower ? i >= j : i <= j)
                *element += sums[i % PRODUCT_PERIOD][j % PRODUCT_PERIOD];
            if (conjugates && i == j)
                *element = REAL_PART_OF(*element);
        }
    long errors = 0;
    for (size_t i = 0; i < product_room(p->row_major, p->n, p->n); i++)
        errors += c[i] != expected[i];
    free(a);
    free(b);
    free(c);
    free(expected);
    return errors;
}

/* Element (i, j) of op(A) op(B). */
static inline real product_sum(const product *p, bool conjugate_a, bool conjugate_b, integer i, integer j)
{
    real sum = 0;
    for (integer l = 0; l < p->k; l++)
        if (PRODUCT_OF == SYMM_NUMBER)
            sum += p->left ? product_mirrored(p->lower, i, l) * product_element(l, j)
                           : product_element(i, l) * product_mirrored(p->lower, l, j);
        else
            sum += product_operand(i, l, p->transpose_a, conjugate_a) *
                   product_operand(l, j, p->transpose_b, conjugate_b);
    return sum;
}

/* Makes the product C := alpha op(A) op(B) + C; in SYRK's class B is A transposed, in SYMM's A is square and may stand on the
 * right. The number of elements of C, gaps and what is outside of the triangle included, that came out wrong. */
static inline long product_errors(const product *given)
{
    if (PRODUCT_OF == TRIANGULAR_NUMBER)
        return product_errors_in_place(given);
    if (PRODUCT_OF == RANK_2K_NUMBER)
        return product_errors_of_two_terms(given);
    product p = *given;
    const bool rank_k = PRODUCT_OF == RANK_K_NUMBER, symm = PRODUCT_OF == SYMM_NUMBER;
    const bool has_triangle = rank_k || PRODUCT_OF == TRIANGLE_NUMBER;
    if (has_triangle)
        p.m = p.n;
    if (rank_k)
        p.transpose_b = !p.transpose_a;
    if (symm) {
        p.k = p.left ? p.m : p.n;
        p.transpose_a = p.transpose_b = false;
    }
    /* Conjugation and transposition are the same of real numbers, so that either may be asked for. */
    const bool conjugate_a = p.transpose_a && p.row_major, conjugate_b = p.transpose_b && p.fortran;
    integer lda, ldb, ldc, ldd;
    real *a = symm ? product_matrix(p.row_major, p.k, p.k, &lda)
                   : product_matrix(p.row_major, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, &lda);
    real *b = symm ? product_matrix(p.row_major, p.m, p.n, &ldb)
                   : product_matrix(p.row_major, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, &ldb);
    real *c = product_matrix(p.row_major, p.m, p.n, &ldc);
    real *expected = product_matrix(p.row_major, p.m, p.n, &ldd);
    for (integer i = 0; symm && i < p.k; i++)
        for (integer j = 0; j < p.k; j++)
            if (p.lower ? i < j : i > j)
                a[product_at(p.row_major, i, j, lda)] = PRODUCT_UNTOUCHED;
    product_call call = {.layout = p.fortran     ? FORTRAN
                                   : p.row_major ? ROW_MAJOR
                                                 : COLUMN_MAJOR,
                         .side = p.left ? LEFT : RIGHT,
                         .triangle = p.lower ? LOWER : UPPER,
                         .transpose_a = conjugate_a     ? CONJUGATE
                                        : p.transpose_a ? TRANSPOSE
                                                        : NO_TRANSPOSE,
                         .transpose_b = p.transpose_b ? TRANSPOSE : NO_TRANSPOSE,
                         .m = p.m,
                         .n = p.n,
                         .k = p.k,
                         .lda = lda,
                         .ldb = ldb,
                         .ldc = ldc,
                         .alpha = OF_PARTS(-2, 1),
                         .beta = 1,
                         .a = a,
                         .b = b,
                         .c = c};
    if (p.fortran) {
        call.side = p.left ? 'l' : 'R';
        call.triangle = p.lower ? 'l' : 'U';
        call.transpose_a = p.transpose_a ? 't' : 'N';
        call.transpose_b = p.transpose_b ? 'C' : 'n';
    }
    product_make(&call);

    real *const sums = malloc(((size_t)p.m + 1) * ((size_t)p.n + 1) * sizeof *sums);
    for (integer i = 0; i < p.m; i++)
        for (integer j = 0; j < p.n; j++) {
            const integer as_i = product_first_alike(i, !symm || !p.left),
                          as_j = product_first_alike(j, !symm || p.left);
            if (as_i == i && as_j == j)
                sums[i * p.n + j] = call.alpha * product_sum(&p, conjugate_a, conjugate_b, i, j);
            if (!has_triangle || (p.lower ? i >= j : i <= j))
                expected[product_at(p.row_major, i, j, ldd)] += sums[as_i * p.n + as_j];
        }
    free(sums);
    long errors = 0;
    for (size_t i = 0; i < product_room(p.row_major, p.m, p.n); i++)
        errors += c[i] != expected[i];
    free(a);
    free(b);
    free(c);
    free(expected);
    return errors;
}

#endif
