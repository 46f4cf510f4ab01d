/* A small BLAS that stands for the caller's own in these tests: one routine, compiled once more for each further one that a
 * library has, under other names of fixture_blas and fixture_square. Built by macros:
 *
 *   FIXTURE_CBLAS, FIXTURE_FORTRAN   the names under which it exports the routine
 *   FIXTURE_CLASS                    the routine's class (classes.h)
 *   FIXTURE_REAL                     float or double, its elements, or complex_float or complex_double
 *   FIXTURE_COMPLEX                  whether they are complex
 *   FIXTURE_HERMITIAN                whether SYMM's class is HEMM, and SYR2K's HER2K
 *   FIXTURE_REAL_BETA                whether that of complex numbers is real
 *   FIXTURE_SOLVES                   whether TRMM's class is TRSM
 *   FIXTURE_BITS                     the width of its integers, which its isamax shows
 *   FIXTURE_STATE, FIXTURE_SQUARE    what fixture_blas and fixture_square are called; by default just so
 *   FIXTURE_NESTS                    1: reference BLAS's way, cblas_sgemm calls sgemm_ through the symbol
 * that somebody may have taken over; 0: OpenBLAS's way, which also knows 114
 */
#include "tests/abi/fixture_blas.h"
#include "tests/abi/classes.h"

#include <ctype.h>
#include <stdint.h>

#if FIXTURE_BITS == 64
typedef int64_t integer;
#else
typedef int32_t integer;
#endif
typedef FIXTURE_REAL real;
typedef OF_CLASS(FIXTURE_REAL, scalar) real_scalar;
typedef OF_CLASS(FIXTURE_REAL, part) real_part;
#if FIXTURE_COMPLEX
#define VALUE(scalar)       (*(scalar))
#define CONJUGATED(value)   ((real)__builtin_conj(value))
#define REAL_PART_OF(value) ((real)__builtin_creal(value))
#else
#define VALUE(scalar)       (scalar)
#define CONJUGATED(value)   (value)
#define REAL_PART_OF(value) (value)
#endif
#if FIXTURE_REAL_BETA
typedef real_part beta_real;
#define BETA_VALUE(scalar) (scalar)
#else
typedef real beta_real;
#define BETA_VALUE(scalar) VALUE(scalar)
#endif

#if defined FIXTURE_STATE && !defined fixture_blas
#define fixture_blas   FIXTURE_STATE
#define fixture_square FIXTURE_SQUARE
#endif

/* Two fixtures of a process count for themselves. */
__attribute__((visibility("protected"))) fixture_state fixture_blas = {.nests = FIXTURE_NESTS};

/* The program's handlers, where it has some. */
__attribute__((weak)) void cblas_xerbla(integer number, const char *routine, const char *format, ...);
__attribute__((weak)) void xerbla_(const char *routine, const integer *number, size_t length);

#define CBLAS_TAKEN     OF_CLASS(FIXTURE_CLASS, CBLAS_PARAMETERS)(integer, real)
#define FORTRAN_TAKEN   OF_CLASS(FIXTURE_CLASS, FORTRAN_PARAMETERS)(integer, real)
#define FORTRAN_GIVEN   OF_CLASS(FIXTURE_CLASS, FORTRAN_ARGUMENTS)
#define LENGTHS_TAKEN   OF_CLASS(FIXTURE_CLASS, LENGTHS)
#define LENGTHS_GIVEN   OF_CLASS(FIXTURE_CLASS, ONES)
#define GEMM_ONES       1, 1
#define RANK_K_ONES     1, 1
#define RANK_2K_ONES    1, 1
#define HER2K_ONES      1, 1
#define SYMM_ONES       1, 1
#define TRIANGLE_ONES   1, 1, 1
#define TRIANGULAR_ONES 1, 1, 1, 1
/* Whether those behind the second one are as well. */
#define GEMM_MORE_ARE_ONES       true
#define RANK_K_MORE_ARE_ONES     true
#define RANK_2K_MORE_ARE_ONES    true
#define HER2K_MORE_ARE_ONES      true
#define SYMM_MORE_ARE_ONES       true
#define TRIANGLE_MORE_ARE_ONES   (length_3 == 1)
#define TRIANGULAR_MORE_ARE_ONES (length_3 == 1 && length_4 == 1)

/* What a class has no argument for. */
#define DECLARE_ABSENT OF_CLASS(FIXTURE_CLASS, ABSENT)
#define GEMM_ABSENT(type, letter)                                                                            \
    letter diagonal = 0;                                                                                     \
    letter triangle = 0;                                                                                     \
    letter side = 0;
#define TRIANGLE_ABSENT(type, letter)                                                                        \
    letter diagonal = 0;                                                                                     \
    letter side = 0;                                                                                         \
    type m = n;
#define RANK_K_ABSENT(type, letter)                                                                          \
    letter diagonal = 0;                                                                                     \
    letter transpose_b = 0;                                                                                  \
    letter side = 0;                                                                                         \
    type m = n;                                                                                              \
    type ldb = lda;                                                                                          \
    const real *b = a;
#define RANK_2K_ABSENT(type, letter)                                                                         \
    letter diagonal = 0;                                                                                     \
    letter transpose_b = 0;                                                                                  \
    letter side = 0;                                                                                         \
    type m = n;
#define HER2K_ABSENT(type, letter) RANK_2K_ABSENT(type, letter)
#define SYMM_ABSENT(type, letter)                                                                            \
    letter diagonal = 0;                                                                                     \
    letter transpose_a = 0;                                                                                  \
    letter transpose_b = 0;                                                                                  \
    type k = n;

#define TRIANGULAR_ABSENT(type, letter)                                                                      \
    letter transpose_b = 0;                                                                                  \
    type k = n;                                                                                              \
    type ldb = lda;                                                                                          \
    const real *b = a;                                                                                       \
    __typeof__(alpha) beta = alpha;

void FIXTURE_FORTRAN(FORTRAN_TAKEN, LENGTHS_TAKEN);

/* The class, for `if`. */
#define OF             OF_CLASS(FIXTURE_CLASS, NUMBER)
#define HAS_OPERATIONS (OF != SYMM_NUMBER)
#define IS_UPDATE      (OF == RANK_K_NUMBER || OF == RANK_2K_NUMBER)
/* B has a transposition of its own. */
#define HAS_TWO_OPERATIONS (!IS_UPDATE && OF != TRIANGULAR_NUMBER)
#define HAS_SIDE           (OF == SYMM_NUMBER || OF == TRIANGULAR_NUMBER)
#define MASKS_C            (IS_UPDATE || OF == TRIANGLE_NUMBER)
#define HAS_TRIANGLE       (OF != GEMM_NUMBER)

typedef struct operation {
    bool flips, conjugates;
} operation;

/* Whether it is none of TileBLAS's probes, which have an alpha of 0, or this one. */
#define COUNTS(alpha) ((alpha) != 0 && (alpha) != (real)0x1.6a7c3ep-9)

/* A call in column-major order. */
typedef struct job {
    bool left, lower, unit;
    operation of_a, of_b;
    integer m, n, k, lda, ldb, ldc;
    real alpha, beta;
    const real *a, *b;
    real *c;
} job;

static bool is_regular(const job *x)
{
    integer rows_a = x->of_a.flips ? x->k : x->m, rows_b = x->of_b.flips ? x->n : x->k;
    if (HAS_SIDE) {
        rows_a = x->left ? x->m : x->n;
        rows_b = OF == SYMM_NUMBER ? x->m : 0;
    }
    return x->m >= 0 && x->n >= 0 && x->k >= 0 && x->lda >= (rows_a > 1 ? rows_a : 1) &&
           x->ldb >= (rows_b > 1 ? rows_b : 1) && x->ldc >= (x->m > 1 ? x->m : 1);
}

static real element_of(const real *x, integer ld, ptrdiff_t i, ptrdiff_t j, operation operation)
{
    const real element = operation.flips ? x[j + i * ld] : x[i + j * ld];
    return operation.conjugates ? CONJUGATED(element) : element;
}

/* A row of an operand, or a column of one that is on the right: one element after the other. */
typedef struct vector {
    const real *start;
    ptrdiff_t step;
    bool conjugates;
} vector;

static vector row_of(const real *x, integer ld, ptrdiff_t i, operation of)
{
    return of.flips ? (vector){x + i * ld, 1, of.conjugates} : (vector){x + i, ld, of.conjugates};
}

static vector column_of(const real *x, integer ld, ptrdiff_t j, operation of)
{
    return of.flips ? (vector){x + j, ld, of.conjugates} : (vector){x + j * ld, 1, of.conjugates};
}

/* The products of the elements from one to another. */
static real dot(vector x, vector y, ptrdiff_t from, ptrdiff_t to)
{
    real sum = 0;
    if (x.conjugates || y.conjugates)
        for (ptrdiff_t l = from; l < to; l++)
            sum += (x.conjugates ? CONJUGATED(x.start[l * x.step]) : x.start[l * x.step]) *
                   (y.conjugates ? CONJUGATED(y.start[l * y.step]) : y.start[l * y.step]);
    else
        for (ptrdiff_t l = from; l < to; l++)
            sum += x.start[l * x.step] * y.start[l * y.step];
    return sum;
}

/* A row of SYMM's A, or a column, times a line of B: up to the diagonal, on it, and behind it. Where the triangle is the
 * lower one what is before the diagonal of a row is stored; of a column it is what is behind. */
static real mirrored_dot(const job *x, bool is_row, ptrdiff_t at, vector other, ptrdiff_t order)
{
    const operation stored = {false, false}, mirrored = {true, FIXTURE_HERMITIAN};
    const operation before = x->lower == is_row ? stored : mirrored,
                    behind = x->lower == is_row ? mirrored : stored;
    const real diagonal = x->a[at + at * x->lda];
    vector (*const line_of)(const real *, integer, ptrdiff_t, operation) = is_row ? row_of : column_of;
    return dot(line_of(x->a, x->lda, at, before), other, 0, at) +
           (FIXTURE_HERMITIAN ? REAL_PART_OF(diagonal) : diagonal) * other.start[at * other.step] +
           dot(line_of(x->a, x->lda, at, behind), other, at + 1, order);
}

static real sum_of(const job *x, ptrdiff_t i, ptrdiff_t j)
{
    const operation none = {false, false};
    if (OF == SYMM_NUMBER && x->left)
        return mirrored_dot(x, true, i, column_of(x->b, x->ldb, j, none), x->m);
    if (OF == SYMM_NUMBER)
        return mirrored_dot(x, false, j, row_of(x->b, x->ldb, i, none), x->n);
    return dot(row_of(x->a, x->lda, i, x->of_a), column_of(x->b, x->ldb, j, x->of_b), 0, x->k);
}

/* SYR2K's, with B and A in each other's place. */
static real second_sum_of(const job *x, ptrdiff_t i, ptrdiff_t j)
{
    return dot(row_of(x->b, x->ldb, i, x->of_a), column_of(x->a, x->lda, j, x->of_b), 0, x->k);
}

/* An element of op(A), where that is triangular. */
static real triangular(const job *x, ptrdiff_t i, ptrdiff_t j)
{
    return i == j && x->unit ? 1 : element_of(x->a, x->lda, i, j, x->of_a);
}

/* A column of C, or a row where A is on the right. */
static void multiply_line(const job *x, ptrdiff_t line)
{
    const ptrdiff_t order = x->left ? x->m : x->n, step = x->left ? 1 : x->ldc;
    const bool lower = (x->lower != x->of_a.flips) == x->left, downwards = lower == FIXTURE_SOLVES;
    real *c = &x->c[x->left ? line * x->ldc : line];
    for (ptrdiff_t done = 0; done < order; done++) {
        const ptrdiff_t i = downwards ? done : order - 1 - done;
        const real diagonal = triangular(x, i, i);
        const vector a = (x->left ? row_of : column_of)(x->a, x->lda, i, x->of_a);
        const real sum = dot(a, (vector){c, step, false}, lower ? 0 : i + 1, lower ? i : order);
        c[i * step] = FIXTURE_SOLVES ? (x->alpha * c[i * step] - sum) / diagonal
                                     : x->alpha * (sum + diagonal * c[i * step]);
    }
}

static void multiply(const job *x)
{
    if (OF == TRIANGULAR_NUMBER) {
        for (ptrdiff_t line = 0; line < (x->left ? x->n : x->m); line++)
            multiply_line(x, line);
        return;
    }
    for (ptrdiff_t j = 0; j < x->n; j++)
        for (ptrdiff_t i = 0; i < x->m; i++) {
            real *c = &x->c[i + j * x->ldc];
            if (MASKS_C && (x->lower ? i < j : i > j))
                continue;
            *c = x->alpha * sum_of(x, i, j) + (x->beta == 0 ? 0 : x->beta * *c);
            if (OF == RANK_2K_NUMBER)
                *c += (FIXTURE_HERMITIAN ? CONJUGATED(x->alpha) : x->alpha) * second_sum_of(x, i, j);
            if (MASKS_C && FIXTURE_HERMITIAN && i == j)
                *c = REAL_PART_OF(*c);
        }
}

static const char *letter_of(operation operation)
{
    return operation.conjugates ? "C" : operation.flips ? "T" : "N";
}

/* Calls from within the CBLAS function itself, as reference BLAS does. */
static inline __attribute__((always_inline)) void call_fortran(const job *x)
{
    const char *side = x->left ? "L" : "R", *triangle = x->lower ? "L" : "U", *diagonal = x->unit ? "U" : "N",
               *transpose_a = letter_of(x->of_a), *transpose_b = letter_of(x->of_b);
    const integer *m = &x->m, *n = &x->n, *k = &x->k, *lda = &x->lda, *ldb = &x->ldb, *ldc = &x->ldc;
    const real *alpha = &x->alpha, *a = x->a, *b = x->b;
    const beta_real *beta = (const beta_real *)&x->beta;
    real *c = x->c;
    (void)side, (void)triangle, (void)transpose_a, (void)transpose_b, (void)m, (void)k, (void)b, (void)ldb;
    (void)diagonal, (void)beta;
    FIXTURE_FORTRAN(FORTRAN_GIVEN, LENGTHS_GIVEN);
}

static bool is_known(int transpose)
{
    return transpose >= 111 && transpose <= (FIXTURE_NESTS ? 113 : 114);
}

static operation operation_of(int transpose)
{
    return (operation){transpose == 112 || transpose == 113, FIXTURE_COMPLEX && transpose >= 113};
}

/* An update reads B the other way than A. */
static operation turned(operation operation)
{
    return (struct operation){!operation.flips, FIXTURE_HERMITIAN && !operation.flips};
}

/* (op(A) op(B))' is op(B)' op(A)'; a Hermitian matrix' transpose is its conjugate. */
static void turn(job *x)
{
    const job given = *x;
    x->lower = !given.lower;
    x->left = !given.left;
    x->m = given.n;
    x->n = given.m;
    if (HAS_SIDE)
        return;
    if (IS_UPDATE) {
        x->of_a = turned(given.of_a);
        x->of_b = turned(given.of_b);
        x->alpha = FIXTURE_HERMITIAN ? CONJUGATED(given.alpha) : given.alpha;
        return;
    }
    x->lda = given.ldb, x->a = given.b, x->of_a = given.of_b;
    x->ldb = given.lda, x->b = given.a, x->of_b = given.of_a;
}

void FIXTURE_CBLAS(CBLAS_TAKEN)
{
    DECLARE_ABSENT(integer, int)
    fixture_blas.cblas_calls += COUNTS(VALUE(alpha));
    bool known = layout == 101 || layout == 102;
    known = known && (!HAS_OPERATIONS || is_known(transpose_a));
    known = known && (!HAS_OPERATIONS || !HAS_TWO_OPERATIONS || is_known(transpose_b));
    known = known && !(IS_UPDATE && FIXTURE_HERMITIAN && transpose_a == 112);
    known = known && (!HAS_SIDE || side == 141 || side == 142);
    known = known && (OF != TRIANGULAR_NUMBER || diagonal == 131 || diagonal == 132);
    known = known && (!HAS_TRIANGLE || triangle == 121 || triangle == 122);
    if (!known) {
        if (cblas_xerbla)
            cblas_xerbla(FIXTURE_IRREGULAR, "fixture", "");
        return;
    }
    job job = {side == 141,
               triangle == 122,
               diagonal == 132,
               operation_of(transpose_a),
               operation_of(transpose_b),
               m,
               n,
               k,
               lda,
               ldb,
               ldc,
               VALUE(alpha),
               BETA_VALUE(beta),
               a,
               b,
               c};
    if (!HAS_TWO_OPERATIONS)
        job.of_b = turned(job.of_a);
    if (layout == 101)
        turn(&job);
    if (FIXTURE_NESTS)
        call_fortran(&job);
    else if (is_regular(&job))
        multiply(&job);
    else if (cblas_xerbla)
        cblas_xerbla(FIXTURE_IRREGULAR, "fixture", "");
}

/* 'N', or 'T' and 'C'. */
static bool read_letter(const char *letter, operation *operation)
{
    const char upper = (char)toupper(*letter);
    operation->flips = upper == 'T' || upper == 'C';
    operation->conjugates = FIXTURE_COMPLEX && upper == 'C';
    return operation->flips || upper == 'N';
}

/* One of two letters; whether it is the first one. */
static bool read_choice(const char *letter, const char *choices, bool *first)
{
    const char upper = (char)toupper(*letter);
    *first = upper == choices[0];
    return *first || upper == choices[1];
}

void FIXTURE_FORTRAN(FORTRAN_TAKEN, LENGTHS_TAKEN)
{
    static const integer irregular = FIXTURE_IRREGULAR;
    DECLARE_ABSENT(const integer *, const char *)
    job job = {.m = *m,
               .n = *n,
               .k = *k,
               .lda = *lda,
               .ldb = *ldb,
               .ldc = *ldc,
               .alpha = *alpha,
               .beta = *beta,
               .a = a,
               .b = b,
               .c = c};
    fixture_blas.fortran_calls += COUNTS(*alpha);
    fixture_blas.wrong_lengths += length_1 != 1 || length_2 != 1 || !OF_CLASS(FIXTURE_CLASS, MORE_ARE_ONES);
    bool known = !HAS_OPERATIONS || read_letter(transpose_a, &job.of_a);
    known = known && !(IS_UPDATE && FIXTURE_HERMITIAN && job.of_a.flips && !job.of_a.conjugates);
    if (!HAS_TWO_OPERATIONS)
        job.of_b = turned(job.of_a);
    else if (HAS_OPERATIONS)
        known = known && read_letter(transpose_b, &job.of_b);
    if (HAS_SIDE)
        known = known && read_choice(side, "LR", &job.left);
    if (OF == TRIANGULAR_NUMBER)
        known = known && read_choice(diagonal, "UN", &job.unit);
    if (HAS_TRIANGLE)
        known = known && read_choice(triangle, "LU", &job.lower);
    if (known && is_regular(&job))
        multiply(&job);
    else if (xerbla_)
        xerbla_("FIXTUR", &irregular, 6);
}

/* Stands for a LAPACK routine in the same library: it calls the routine, but is none. */
void fixture_square(void)
{
    const real a = 3;
    real c = 0;
    const job job = {
        .m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1, .alpha = 1, .a = &a, .b = &a, .c = &c};
    call_fortran(&job);
}

__attribute__((weak)) integer isamax_(const integer *n, const float *x, const integer *increment)
{
    integer best = *n > 0;
    for (integer i = 2; i <= *n; i++)
        if (x[(i - 1) * *increment] > x[(best - 1) * *increment])
            best = i;
    return best;
}
