/* A small BLAS that stands for the caller's own in these tests: one routine, compiled once more for each further one that a
 * library has. Built by macros:
 *
 *   FIXTURE_CBLAS, FIXTURE_FORTRAN   the names under which it exports the routine
 *   FIXTURE_CLASS                    the routine's class (classes.h)
 *   FIXTURE_REAL                     float or double, its elements
 *   FIXTURE_BITS                     the width of its integers, which its isamax shows
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

/* Two fixtures of a process count for themselves. */
__attribute__((visibility("protected"))) fixture_state fixture_blas = {.nests = FIXTURE_NESTS};

/* The program's handlers, where it has some. */
__attribute__((weak)) void cblas_xerbla(integer number, const char *routine, const char *format, ...);
__attribute__((weak)) void xerbla_(const char *routine, const integer *number, size_t length);

#define CBLAS_TAKEN    OF_CLASS(FIXTURE_CLASS, CBLAS_PARAMETERS)(integer, real)
#define FORTRAN_TAKEN  OF_CLASS(FIXTURE_CLASS, FORTRAN_PARAMETERS)(integer, real)
#define FORTRAN_GIVEN  OF_CLASS(FIXTURE_CLASS, FORTRAN_ARGUMENTS)
#define LENGTHS_TAKEN  OF_CLASS(FIXTURE_CLASS, LENGTHS)
#define LENGTHS_GIVEN  OF_CLASS(FIXTURE_CLASS, ONES)
#define GEMM_ONES      1, 1
#define RANK_K_ONES    1, 1
#define TRIANGLE_ONES  1, 1, 1
#define GEMM_THIRD     1
#define RANK_K_THIRD   1
#define TRIANGLE_THIRD length_3

/* What a class has no argument for. */
#define DECLARE_ABSENT                OF_CLASS(FIXTURE_CLASS, ABSENT)
#define GEMM_ABSENT(type, letter)     letter triangle = 0;
#define TRIANGLE_ABSENT(type, letter) type m = n;
#define RANK_K_ABSENT(type, letter)                                                                          \
    letter transpose_b = 0;                                                                                  \
    type m = n;                                                                                              \
    type ldb = lda;                                                                                          \
    const real *b = a;

void FIXTURE_FORTRAN(FORTRAN_TAKEN, LENGTHS_TAKEN);

/* The class, for `if`. */
#define OF OF_CLASS(FIXTURE_CLASS, NUMBER)

/* A call in column-major order. */
typedef struct job {
    bool lower, flip_a, flip_b;
    integer m, n, k, lda, ldb, ldc;
    real alpha, beta;
    const real *a, *b;
    real *c;
} job;

static bool is_regular(const job *x)
{
    integer rows_a = x->flip_a ? x->k : x->m, rows_b = x->flip_b ? x->n : x->k;
    return x->m >= 0 && x->n >= 0 && x->k >= 0 && x->lda >= (rows_a > 1 ? rows_a : 1) &&
           x->ldb >= (rows_b > 1 ? rows_b : 1) && x->ldc >= (x->m > 1 ? x->m : 1);
}

static void multiply(const job *x)
{
    for (ptrdiff_t j = 0; j < x->n; j++)
        for (ptrdiff_t i = 0; i < x->m; i++) {
            real sum = 0, *c = &x->c[i + j * x->ldc];
            if (OF != GEMM_NUMBER && (x->lower ? i < j : i > j))
                continue;
            for (ptrdiff_t l = 0; l < x->k; l++)
                sum += (x->flip_a ? x->a[l + i * x->lda] : x->a[i + l * x->lda]) *
                       (x->flip_b ? x->b[j + l * x->ldb] : x->b[l + j * x->ldb]);
            *c = x->alpha * sum + (x->beta == 0 ? 0 : x->beta * *c);
        }
}

/* From within the CBLAS function itself, as reference BLAS does. */
static inline __attribute__((always_inline)) void call_fortran(const job *x)
{
    const char *triangle = x->lower ? "L" : "U", *transpose_a = x->flip_a ? "T" : "N",
               *transpose_b = x->flip_b ? "T" : "N";
    const integer *m = &x->m, *n = &x->n, *k = &x->k, *lda = &x->lda, *ldb = &x->ldb, *ldc = &x->ldc;
    const real *alpha = &x->alpha, *beta = &x->beta, *a = x->a, *b = x->b;
    real *c = x->c;
    (void)triangle, (void)transpose_b, (void)m, (void)b, (void)ldb;
    FIXTURE_FORTRAN(FORTRAN_GIVEN, LENGTHS_GIVEN);
}

static bool is_known(int transpose)
{
    return transpose >= 111 && transpose <= (FIXTURE_NESTS ? 113 : 114);
}

static bool flips(int transpose)
{
    return transpose == 112 || transpose == 113;
}

/* (op(A) op(B))' is op(B)' op(A)'. */
static void turn(job *x)
{
    const job given = *x;
    x->lower = !given.lower;
    if (OF == RANK_K_NUMBER) {
        x->flip_a = !given.flip_a;
        x->flip_b = !given.flip_b;
        return;
    }
    x->m = given.n, x->lda = given.ldb, x->a = given.b, x->flip_a = given.flip_b;
    x->n = given.m, x->ldb = given.lda, x->b = given.a, x->flip_b = given.flip_a;
}

void FIXTURE_CBLAS(CBLAS_TAKEN)
{
    DECLARE_ABSENT(integer, int)
    fixture_blas.cblas_calls += alpha != 0;
    bool known = (layout == 101 || layout == 102) && is_known(transpose_a);
    known = known && (OF == RANK_K_NUMBER || is_known(transpose_b));
    known = known && (OF == GEMM_NUMBER || triangle == 121 || triangle == 122);
    if (!known) {
        if (cblas_xerbla)
            cblas_xerbla(FIXTURE_IRREGULAR, "fixture", "");
        return;
    }
    const bool flip_b = OF == RANK_K_NUMBER ? !flips(transpose_a) : flips(transpose_b);
    job job = {triangle == 122, flips(transpose_a), flip_b, m, n, k, lda, ldb, ldc, alpha, beta, a, b, c};
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
static bool read_letter(const char *letter, bool *flip)
{
    const char upper = (char)toupper(*letter);
    *flip = upper == 'T' || upper == 'C';
    return *flip || upper == 'N';
}

static bool read_triangle(const char *letter, bool *lower)
{
    const char upper = (char)toupper(*letter);
    *lower = upper == 'L';
    return *lower || upper == 'U';
}

void FIXTURE_FORTRAN(FORTRAN_TAKEN, LENGTHS_TAKEN)
{
    static const integer irregular = FIXTURE_IRREGULAR;
    DECLARE_ABSENT(const integer *, const char *)
    job job = {false, false, false, *m, *n, *k, *lda, *ldb, *ldc, *alpha, *beta, a, b, c};
    fixture_blas.fortran_calls += *alpha != 0;
    fixture_blas.wrong_lengths += length_1 != 1 || length_2 != 1 || OF_CLASS(FIXTURE_CLASS, THIRD) != 1;
    bool known = read_letter(transpose_a, &job.flip_a);
    if (OF == RANK_K_NUMBER)
        job.flip_b = !job.flip_a;
    else
        known = known && read_letter(transpose_b, &job.flip_b);
    if (OF != GEMM_NUMBER)
        known = known && read_triangle(triangle, &job.lower);
    if (known && is_regular(&job))
        multiply(&job);
    else if (xerbla_)
        xerbla_("FIXTUR", &irregular, 6);
}

/* Stands for a LAPACK routine in the same library: it calls the routine, but is none. */
void fixture_square(void)
{
    const real a = 3;
    real c;
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
