/* A small BLAS that stands for the caller's own in these tests. Built several times, by macros:
 *
 *   FIXTURE_CBLAS, FIXTURE_FORTRAN   the names under which it exports its GEMM
 *   FIXTURE_REAL                     float or double, its elements
 *   FIXTURE_BITS                     the width of its integers, which its isamax shows
 *   FIXTURE_NESTS                    1: reference BLAS's way, cblas_sgemm calls sgemm_ through the symbol
 * that somebody may have taken over; 0: OpenBLAS's way, which also knows 114
 */
#include "tests/abi/fixture_blas.h"

#include <ctype.h>
#include <stddef.h>
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

void FIXTURE_FORTRAN(const char *transpose_a, const char *transpose_b, const integer *m, const integer *n,
                     const integer *k, const real *alpha, const real *a, const integer *lda, const real *b,
                     const integer *ldb, const real *beta, real *c, const integer *ldc, size_t length_a,
                     size_t length_b);

static bool is_regular(bool transpose_a, bool transpose_b, integer m, integer n, integer k, integer lda,
                       integer ldb, integer ldc)
{
    integer rows_a = transpose_a ? k : m, rows_b = transpose_b ? n : k;
    return m >= 0 && n >= 0 && k >= 0 && lda >= (rows_a > 1 ? rows_a : 1) &&
           ldb >= (rows_b > 1 ? rows_b : 1) && ldc >= (m > 1 ? m : 1);
}

static void multiply(bool transpose_a, bool transpose_b, integer m, integer n, integer k, real alpha,
                     const real *a, integer lda, const real *b, integer ldb, real beta, real *c, integer ldc)
{
    for (ptrdiff_t j = 0; j < n; j++)
        for (ptrdiff_t i = 0; i < m; i++) {
            real sum = 0;
            for (ptrdiff_t l = 0; l < k; l++)
                sum += (transpose_a ? a[l + i * lda] : a[i + l * lda]) *
                       (transpose_b ? b[j + l * ldb] : b[l + j * ldb]);
            c[i + j * ldc] = alpha * sum + (beta == 0 ? 0 : beta * c[i + j * ldc]);
        }
}

void FIXTURE_CBLAS(int layout, int transpose_a, int transpose_b, integer m, integer n, integer k, real alpha,
                   const real *a, integer lda, const real *b, integer ldb, real beta, real *c, integer ldc)
{
    fixture_blas.cblas_calls += alpha != 0;
    bool row_major = layout == 101, known = layout == 101 || layout == 102;
    known = known && transpose_a >= 111 && transpose_a <= (FIXTURE_NESTS ? 113 : 114);
    known = known && transpose_b >= 111 && transpose_b <= (FIXTURE_NESTS ? 113 : 114);
    if (!known) {
        if (cblas_xerbla)
            cblas_xerbla(FIXTURE_IRREGULAR, "fixture", "");
        return;
    }
    bool flip_a = transpose_a == 112 || transpose_a == 113, flip_b = transpose_b == 112 || transpose_b == 113;
    if (row_major) {
        integer size = m, ld = lda;
        const real *matrix = a;
        bool flip = flip_a;
        m = n, lda = ldb, a = b, flip_a = flip_b;
        n = size, ldb = ld, b = matrix, flip_b = flip;
    }
    if (FIXTURE_NESTS)
        FIXTURE_FORTRAN(flip_a ? "T" : "N", flip_b ? "T" : "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta,
                        c, &ldc, 1, 1);
    else if (is_regular(flip_a, flip_b, m, n, k, lda, ldb, ldc))
        multiply(flip_a, flip_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else if (cblas_xerbla)
        cblas_xerbla(FIXTURE_IRREGULAR, "fixture", "");
}

void FIXTURE_FORTRAN(const char *transpose_a, const char *transpose_b, const integer *m, const integer *n,
                     const integer *k, const real *alpha, const real *a, const integer *lda, const real *b,
                     const integer *ldb, const real *beta, real *c, const integer *ldc, size_t length_a,
                     size_t length_b)
{
    static const integer irregular = FIXTURE_IRREGULAR;
    fixture_blas.fortran_calls += *alpha != 0;
    fixture_blas.wrong_lengths += length_a != 1 || length_b != 1;
    char letter_a = (char)toupper(*transpose_a), letter_b = (char)toupper(*transpose_b);
    bool flip_a = letter_a == 'T' || letter_a == 'C', flip_b = letter_b == 'T' || letter_b == 'C';
    if ((flip_a || letter_a == 'N') && (flip_b || letter_b == 'N') &&
        is_regular(flip_a, flip_b, *m, *n, *k, *lda, *ldb, *ldc))
        multiply(flip_a, flip_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
    else if (xerbla_)
        xerbla_("FIXTUR", &irregular, 6);
}

/* Stands for a LAPACK routine in the same library: it calls GEMM, but is none. */
void fixture_square(void)
{
    const integer n = 1;
    const real one = 1, zero = 0, a = 3;
    real c;
    FIXTURE_FORTRAN("N", "N", &n, &n, &n, &one, &a, &n, &a, &n, &zero, &c, &n, 1, 1);
}

integer isamax_(const integer *n, const float *x, const integer *increment)
{
    integer best = *n > 0;
    for (integer i = 2; i <= *n; i++)
        if (x[(i - 1) * *increment] > x[(best - 1) * *increment])
            best = i;
    return best;
}
