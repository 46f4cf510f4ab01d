/* A program with error handlers of its own that makes every kind of irregular call. What it hears of each is
 * printed, so that it can be compared between runs with and without TileBLAS.
 *
 *   irregular          only prints
 *   irregular netlib   checks also: C untouched, reported once, with the number that Netlib's BLAS gives
 *
 * Each call is made twice: the handler returns, and the handler leaves by longjmp, as Octave's does.
 */
#include "tests/abi/handlers.h"
#include "tests/abi/product.h"
#include "tests/check.h"

#include <setjmp.h>
#include <string.h>

enum { SIZE = 64 };
static real a[SIZE], b[SIZE], c[SIZE];

static struct report {
    int count;
    long number;
    char handler[16], routine[16];
} report;
static bool leaves_by_jump;
static jmp_buf before_call;

static void hear(const char *handler, const char *routine, size_t length, long number)
{
    report.count++;
    report.number = number;
    snprintf(report.handler, sizeof report.handler, "%s", handler);
    snprintf(report.routine, sizeof report.routine, "%.*s", (int)length, routine);
    if (leaves_by_jump)
        longjmp(before_call, 1);
}

typedef struct irregular_call {
    int class, layout, triangle;
    int transpose_a; /* or SYMM's side */
    int transpose_b; /* or TRMM's side */
    integer m, n;
    integer k; /* or TRMM's diagonal */
    integer lda, ldb, ldc;
    int number;
} irregular_call;

/* What a class has no argument for is 0. Where two arguments are irregular the row says which one Netlib finds first. */
static const irregular_call calls[] = {
    /* Regular would be, with m = 4, n = 3, k = 2: column-major lda 4, ldb 2, ldc 4; row-major 2, 3, 3. */
    {GEMM_NUMBER, 7, 0, 111, 111, 4, 3, 2, 4, 2, 4, 1},
    {GEMM_NUMBER, 102, 0, 110, 111, 4, 3, 2, 4, 2, 4, 2},
    {GEMM_NUMBER, 102, 0, 114, 111, 4, 3, 2, 4, 2, 4, 2},
    {GEMM_NUMBER, 102, 0, 111, 114, 4, 3, 2, 4, 2, 4, 3},
    {GEMM_NUMBER, 102, 0, 111, 'N', 4, 3, 2, 4, 2, 4, 3},
    {GEMM_NUMBER, 101, 0, 114, 115, 4, 3, 2, 2, 3, 3, 2},
    {GEMM_NUMBER, 102, 0, 111, 111, -1, 3, 2, 4, 2, 4, 4},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, -1, 2, 4, 2, 4, 5},
    {GEMM_NUMBER, 102, 0, 111, 111, -1, -1, 2, 4, 2, 4, 4},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, 3, -1, 4, 2, 4, 6},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, 3, 2, 3, 2, 4, 9},
    {GEMM_NUMBER, 102, 0, 112, 111, 4, 3, 2, 1, 2, 4, 9},
    {GEMM_NUMBER, 102, 0, 111, 111, 0, 3, 2, 0, 2, 4, 9},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, 3, 2, 4, 1, 4, 11},
    {GEMM_NUMBER, 102, 0, 111, 113, 4, 3, 2, 4, 2, 4, 11},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, 3, 2, 3, 1, 4, 9},
    {GEMM_NUMBER, 102, 0, 111, 111, 4, 3, 2, 4, 2, 3, 14},
    {GEMM_NUMBER, 101, 0, 111, 111, -1, 3, 2, 2, 3, 3, 4},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, -1, 2, 2, 3, 3, 5},
    {GEMM_NUMBER, 101, 0, 111, 111, -1, -1, 2, 2, 3, 3, 5},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, 3, -1, 2, 3, 3, 6},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, 3, 2, 1, 3, 3, 9},
    {GEMM_NUMBER, 101, 0, 112, 111, 4, 3, 2, 3, 3, 3, 9},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, 3, 2, 2, 2, 3, 11},
    {GEMM_NUMBER, 101, 0, 111, 112, 4, 3, 2, 2, 1, 3, 11},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, 3, 2, 1, 2, 3, 11},
    {GEMM_NUMBER, 101, 0, 111, 111, 4, 3, 2, 2, 3, 2, 14},
    {GEMM_NUMBER, 0, 0, 'X', 'N', 4, 3, 2, 4, 2, 4, 1},
    {GEMM_NUMBER, 0, 0, 'n', '?', 4, 3, 2, 4, 2, 4, 2},
    {GEMM_NUMBER, 0, 0, 'n', 'N', -1, 3, 2, 4, 2, 4, 3},
    {GEMM_NUMBER, 0, 0, 't', 'c', 4, -1, 2, 2, 3, 4, 4},
    {GEMM_NUMBER, 0, 0, 'N', 'n', 4, 3, -1, 4, 2, 4, 5},
    {GEMM_NUMBER, 0, 0, 'N', 'n', 4, 3, 2, 3, 2, 4, 8},
    {GEMM_NUMBER, 0, 0, 'C', 'n', 4, 3, 2, 1, 2, 4, 8},
    {GEMM_NUMBER, 0, 0, 'N', 'n', 4, 3, 2, 4, 1, 4, 10},
    {GEMM_NUMBER, 0, 0, 'N', 'T', 4, 3, 2, 4, 2, 4, 10},
    {GEMM_NUMBER, 0, 0, 'N', 'N', 4, 3, 0, 4, 0, 4, 10},
    {GEMM_NUMBER, 0, 0, 'N', 'n', 4, 3, 2, 4, 2, 3, 13},

    /* n = 4, k = 2: lda is 4, transposed 2, by rows the other way round; ldc is 4. */
    {RANK_K_NUMBER, 7, 121, 111, 0, 0, 4, 2, 4, 0, 4, 1},
    {RANK_K_NUMBER, 102, 120, 111, 0, 0, 4, 2, 4, 0, 4, 2},
    {RANK_K_NUMBER, 102, 'U', 111, 0, 0, 4, 2, 4, 0, 4, 2},
    {RANK_K_NUMBER, 102, 121, 114, 0, 0, 4, 2, 4, 0, 4, 3},
    {RANK_K_NUMBER, 102, 122, 110, 0, 0, 4, 2, 4, 0, 4, 3},
    {RANK_K_NUMBER, 101, 121, 'T', 0, 0, 4, 2, 2, 0, 4, 3},
    {RANK_K_NUMBER, 102, 121, 111, 0, 0, -1, 2, 4, 0, 4, 4},
    {RANK_K_NUMBER, 102, 121, 111, 0, 0, -1, -1, 4, 0, 4, 4},
    {RANK_K_NUMBER, 102, 122, 111, 0, 0, 4, -1, 4, 0, 4, 5},
    {RANK_K_NUMBER, 102, 121, 111, 0, 0, 4, 2, 3, 0, 4, 8},
    {RANK_K_NUMBER, 102, 121, 112, 0, 0, 4, 2, 1, 0, 4, 8},
    {RANK_K_NUMBER, 102, 122, 111, 0, 0, 0, 2, 0, 0, 4, 8},
    {RANK_K_NUMBER, 102, 122, 111, 0, 0, 4, 2, 3, 0, 3, 8},
    {RANK_K_NUMBER, 102, 122, 111, 0, 0, 4, 2, 4, 0, 3, 11},
    {RANK_K_NUMBER, 101, 121, 111, 0, 0, -1, 2, 2, 0, 4, 4},
    {RANK_K_NUMBER, 101, 122, 111, 0, 0, 4, -1, 2, 0, 4, 5},
    {RANK_K_NUMBER, 101, 121, 111, 0, 0, 4, 2, 1, 0, 4, 8},
    {RANK_K_NUMBER, 101, 121, 113, 0, 0, 4, 2, 3, 0, 4, 8},
    {RANK_K_NUMBER, 101, 122, 111, 0, 0, 4, 2, 1, 0, 3, 8},
    {RANK_K_NUMBER, 101, 122, 111, 0, 0, 4, 2, 2, 0, 3, 11},
    {RANK_K_NUMBER, 0, 'X', 'N', 0, 0, 4, 2, 4, 0, 4, 1},
    {RANK_K_NUMBER, 0, 'l', '?', 0, 0, 4, 2, 4, 0, 4, 2},
    {RANK_K_NUMBER, 0, 'u', 'n', 0, 0, -1, 2, 4, 0, 4, 3},
    {RANK_K_NUMBER, 0, 'L', 't', 0, 0, 4, -1, 2, 0, 4, 4},
    {RANK_K_NUMBER, 0, 'U', 'N', 0, 0, 4, 2, 3, 0, 4, 7},
    {RANK_K_NUMBER, 0, 'U', 'c', 0, 0, 4, 2, 1, 0, 4, 7},
    {RANK_K_NUMBER, 0, 'U', 'T', 0, 0, 4, 0, 0, 0, 4, 7},
    {RANK_K_NUMBER, 0, 'l', 'n', 0, 0, 4, 2, 4, 0, 3, 10},

    /* n = 4, k = 2: lda and ldb are 4, transposed 2, by rows the other way round; ldc is 4. */
    {RANK_2K_NUMBER, 7, 121, 111, 0, 0, 4, 2, 4, 4, 4, 1},
    {RANK_2K_NUMBER, 102, 120, 111, 0, 0, 4, 2, 4, 4, 4, 2},
    {RANK_2K_NUMBER, 102, 121, 114, 0, 0, 4, 2, 4, 4, 4, 3},
    {RANK_2K_NUMBER, 102, 122, 110, 0, 0, 4, 2, 4, 4, 4, 3},
    {RANK_2K_NUMBER, 102, 121, 111, 0, 0, -1, -1, 4, 4, 4, 4},
    {RANK_2K_NUMBER, 102, 122, 111, 0, 0, 4, -1, 4, 4, 4, 5},
    {RANK_2K_NUMBER, 102, 121, 111, 0, 0, 4, 2, 3, 3, 4, 8},
    {RANK_2K_NUMBER, 102, 121, 113, 0, 0, 4, 2, 1, 2, 4, 8},
    {RANK_2K_NUMBER, 102, 122, 111, 0, 0, 4, 2, 4, 3, 3, 10},
    {RANK_2K_NUMBER, 102, 122, 111, 0, 0, 4, 2, 4, 4, 3, 13},
    {RANK_2K_NUMBER, 101, 121, 111, 0, 0, -1, 2, 2, 2, 4, 4},
    {RANK_2K_NUMBER, 101, 121, 111, 0, 0, 4, 2, 1, 1, 4, 8},
    {RANK_2K_NUMBER, 101, 121, 113, 0, 0, 4, 2, 4, 3, 4, 10},
    {RANK_2K_NUMBER, 101, 122, 111, 0, 0, 4, 2, 2, 2, 3, 13},
    {RANK_2K_NUMBER, 0, 'X', 'N', 0, 0, 4, 2, 4, 4, 4, 1},
    {RANK_2K_NUMBER, 0, 'l', '?', 0, 0, 4, 2, 4, 4, 4, 2},
    {RANK_2K_NUMBER, 0, 'u', 'n', 0, 0, -1, 2, 4, 4, 4, 3},
    {RANK_2K_NUMBER, 0, 'L', 'c', 0, 0, 4, -1, 2, 2, 4, 4},
    {RANK_2K_NUMBER, 0, 'U', 'N', 0, 0, 4, 2, 3, 3, 4, 7},
    {RANK_2K_NUMBER, 0, 'U', 'c', 0, 0, 4, 2, 2, 1, 4, 9},
    {RANK_2K_NUMBER, 0, 'l', 'n', 0, 0, 4, 2, 4, 4, 3, 12},

    /* n = 4, k = 2: lda is 4 and ldb 2 column-major, 2 and 4 row-major; ldc is 4. */
    {TRIANGLE_NUMBER, 7, 121, 111, 111, 0, 4, 2, 4, 2, 4, 1},
    {TRIANGLE_NUMBER, 102, 120, 111, 111, 0, 4, 2, 4, 2, 4, 2},
    {TRIANGLE_NUMBER, 102, 121, 114, 111, 0, 4, 2, 4, 2, 4, 3},
    {TRIANGLE_NUMBER, 102, 121, 111, 'N', 0, 4, 2, 4, 2, 4, 4},
    {TRIANGLE_NUMBER, 101, 0, 114, 115, 0, 4, 2, 2, 4, 4, 2},
    {TRIANGLE_NUMBER, 101, 122, 114, 115, 0, 4, 2, 2, 4, 4, 3},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, -1, 2, 4, 2, 4, 5},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, -1, -1, 4, 2, 4, 5},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, 4, -1, 4, 2, 4, 6},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, 4, 2, 3, 2, 4, 9},
    {TRIANGLE_NUMBER, 102, 121, 112, 111, 0, 4, 2, 1, 2, 4, 9},
    {TRIANGLE_NUMBER, 102, 122, 111, 111, 0, 0, 2, 0, 2, 4, 9},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, 4, 2, 4, 1, 4, 11},
    {TRIANGLE_NUMBER, 102, 121, 111, 113, 0, 4, 2, 4, 3, 4, 11},
    {TRIANGLE_NUMBER, 102, 121, 111, 111, 0, 4, 2, 3, 1, 4, 9},
    {TRIANGLE_NUMBER, 102, 122, 111, 111, 0, 4, 2, 4, 2, 3, 14},
    {TRIANGLE_NUMBER, 101, 121, 111, 111, 0, -1, 2, 2, 4, 4, 5},
    {TRIANGLE_NUMBER, 101, 121, 111, 111, 0, 4, -1, 2, 4, 4, 6},
    {TRIANGLE_NUMBER, 101, 121, 111, 111, 0, 4, 2, 1, 4, 4, 9},
    {TRIANGLE_NUMBER, 101, 122, 112, 111, 0, 4, 2, 3, 4, 4, 9},
    {TRIANGLE_NUMBER, 101, 121, 111, 111, 0, 4, 2, 2, 3, 4, 11},
    {TRIANGLE_NUMBER, 101, 121, 111, 112, 0, 4, 2, 2, 1, 4, 11},
    {TRIANGLE_NUMBER, 101, 121, 111, 111, 0, 4, 2, 1, 3, 4, 11},
    {TRIANGLE_NUMBER, 101, 122, 111, 111, 0, 4, 2, 2, 4, 3, 14},
    {TRIANGLE_NUMBER, 0, 'X', 'N', 'N', 0, 4, 2, 4, 2, 4, 1},
    {TRIANGLE_NUMBER, 0, 'l', '?', 'N', 0, 4, 2, 4, 2, 4, 2},
    {TRIANGLE_NUMBER, 0, 'u', 'n', '?', 0, 4, 2, 4, 2, 4, 3},
    {TRIANGLE_NUMBER, 0, 'u', 'n', 'N', 0, -1, 2, 4, 2, 4, 4},
    {TRIANGLE_NUMBER, 0, 'L', 't', 'c', 0, 4, -1, 2, 4, 4, 5},
    {TRIANGLE_NUMBER, 0, 'U', 'N', 'n', 0, 4, 2, 3, 2, 4, 8},
    {TRIANGLE_NUMBER, 0, 'U', 'C', 'n', 0, 4, 2, 1, 2, 4, 8},
    {TRIANGLE_NUMBER, 0, 'U', 'N', 'n', 0, 4, 2, 4, 1, 4, 10},
    {TRIANGLE_NUMBER, 0, 'U', 'N', 'T', 0, 4, 2, 4, 3, 4, 10},
    {TRIANGLE_NUMBER, 0, 'U', 'N', 'N', 0, 4, 0, 4, 0, 4, 10},
    {TRIANGLE_NUMBER, 0, 'L', 'N', 'n', 0, 4, 2, 4, 2, 3, 13},

    /* m = 4, n = 3: lda is 4 on the left, 3 on the right; ldb and ldc are 4, row-major 3. */
    {SYMM_NUMBER, 7, 121, 141, 0, 4, 3, 0, 4, 4, 4, 1},
    {SYMM_NUMBER, 102, 121, 140, 0, 4, 3, 0, 4, 4, 4, 2},
    {SYMM_NUMBER, 102, 120, 143, 0, 4, 3, 0, 4, 4, 4, 2},
    {SYMM_NUMBER, 102, 123, 141, 0, 4, 3, 0, 4, 4, 4, 3},
    {SYMM_NUMBER, 101, 'U', 142, 0, 4, 3, 0, 3, 3, 3, 3},
    {SYMM_NUMBER, 102, 121, 141, 0, -1, 3, 0, 4, 4, 4, 4},
    {SYMM_NUMBER, 102, 121, 142, 0, 4, -1, 0, 4, 4, 4, 5},
    {SYMM_NUMBER, 102, 121, 142, 0, -1, -1, 0, 4, 4, 4, 4},
    {SYMM_NUMBER, 102, 121, 141, 0, 4, 3, 0, 3, 4, 4, 8},
    {SYMM_NUMBER, 102, 122, 142, 0, 4, 3, 0, 2, 4, 4, 8},
    {SYMM_NUMBER, 102, 122, 142, 0, 4, 0, 0, 0, 4, 4, 8},
    {SYMM_NUMBER, 102, 122, 141, 0, 4, 3, 0, 3, 3, 3, 8},
    {SYMM_NUMBER, 102, 121, 141, 0, 4, 3, 0, 4, 3, 4, 10},
    {SYMM_NUMBER, 102, 121, 142, 0, 4, 3, 0, 3, 3, 3, 10},
    {SYMM_NUMBER, 102, 121, 141, 0, 4, 3, 0, 4, 4, 3, 13},
    {SYMM_NUMBER, 101, 121, 141, 0, -1, 3, 0, 4, 3, 3, 4},
    {SYMM_NUMBER, 101, 121, 141, 0, 4, -1, 0, 4, 3, 3, 5},
    {SYMM_NUMBER, 101, 121, 141, 0, -1, -1, 0, 4, 3, 3, 5},
    {SYMM_NUMBER, 101, 121, 141, 0, 4, 3, 0, 3, 3, 3, 8},
    {SYMM_NUMBER, 101, 122, 142, 0, 4, 3, 0, 2, 3, 3, 8},
    {SYMM_NUMBER, 101, 122, 142, 0, 4, 3, 0, 3, 2, 3, 10},
    {SYMM_NUMBER, 101, 122, 141, 0, 4, 3, 0, 4, 3, 2, 13},
    {SYMM_NUMBER, 0, 'U', 'N', 0, 4, 3, 0, 4, 4, 4, 1},
    {SYMM_NUMBER, 0, '?', 'X', 0, 4, 3, 0, 4, 4, 4, 1},
    {SYMM_NUMBER, 0, 'N', 'l', 0, 4, 3, 0, 4, 4, 4, 2},
    {SYMM_NUMBER, 0, 'u', 'L', 0, -1, 3, 0, 4, 4, 4, 3},
    {SYMM_NUMBER, 0, 'L', 'r', 0, 4, -1, 0, 4, 4, 4, 4},
    {SYMM_NUMBER, 0, 'U', 'L', 0, 4, 3, 0, 3, 4, 4, 7},
    {SYMM_NUMBER, 0, 'l', 'R', 0, 4, 3, 0, 2, 4, 4, 7},
    {SYMM_NUMBER, 0, 'l', 'r', 0, 4, 3, 0, 3, 3, 4, 9},
    {SYMM_NUMBER, 0, 'l', 'r', 0, 4, 3, 0, 3, 4, 3, 12},

    /* m = 4, n = 3: lda is 4 on the left, 3 on the right; ldb, which is ldc here, is 4, row-major 3. */
    {TRIANGULAR_NUMBER, 7, 121, 111, 141, 4, 3, 131, 4, 0, 4, 1},
    {TRIANGULAR_NUMBER, 102, 121, 111, 140, 4, 3, 131, 4, 0, 4, 2},
    {TRIANGULAR_NUMBER, 102, 120, 111, 143, 4, 3, 131, 4, 0, 4, 2},
    {TRIANGULAR_NUMBER, 102, 123, 111, 141, 4, 3, 131, 4, 0, 4, 3},
    {TRIANGULAR_NUMBER, 101, 'U', 111, 142, 4, 3, 131, 3, 0, 3, 3},
    {TRIANGULAR_NUMBER, 102, 121, 110, 141, 4, 3, 131, 4, 0, 4, 4},
    {TRIANGULAR_NUMBER, 101, 121, 115, 141, 4, 3, 133, 4, 0, 3, 4},
    {TRIANGULAR_NUMBER, 102, 121, 111, 141, 4, 3, 130, 4, 0, 4, 5},
    {TRIANGULAR_NUMBER, 101, 121, 112, 141, 4, 3, 133, 4, 0, 3, 5},
    {TRIANGULAR_NUMBER, 102, 121, 111, 141, -1, 3, 131, 4, 0, 4, 6},
    {TRIANGULAR_NUMBER, 102, 121, 111, 142, 4, -1, 131, 4, 0, 4, 7},
    {TRIANGULAR_NUMBER, 102, 121, 111, 142, -1, -1, 131, 4, 0, 4, 6},
    {TRIANGULAR_NUMBER, 102, 121, 111, 141, 4, 3, 131, 3, 0, 4, 10},
    {TRIANGULAR_NUMBER, 102, 122, 112, 142, 4, 3, 132, 2, 0, 4, 10},
    {TRIANGULAR_NUMBER, 102, 122, 112, 141, 4, 3, 132, 3, 0, 3, 10},
    {TRIANGULAR_NUMBER, 102, 121, 111, 141, 4, 3, 131, 4, 0, 3, 12},
    {TRIANGULAR_NUMBER, 102, 121, 113, 142, 4, 3, 132, 3, 0, 3, 12},
    {TRIANGULAR_NUMBER, 101, 121, 111, 141, -1, 3, 131, 4, 0, 3, 6},
    {TRIANGULAR_NUMBER, 101, 121, 111, 141, 4, -1, 131, 4, 0, 3, 7},
    {TRIANGULAR_NUMBER, 101, 121, 111, 141, -1, -1, 131, 4, 0, 3, 7},
    {TRIANGULAR_NUMBER, 101, 121, 111, 141, 4, 3, 131, 3, 0, 3, 10},
    {TRIANGULAR_NUMBER, 101, 122, 112, 142, 4, 3, 132, 2, 0, 3, 10},
    {TRIANGULAR_NUMBER, 101, 122, 111, 142, 4, 3, 132, 3, 0, 2, 12},
    {TRIANGULAR_NUMBER, 0, 'U', 'N', 'X', 4, 3, 'N', 4, 0, 4, 1},
    {TRIANGULAR_NUMBER, 0, '?', 'N', 'X', 4, 3, 'N', 4, 0, 4, 1},
    {TRIANGULAR_NUMBER, 0, 'N', 't', 'l', 4, 3, 'u', 4, 0, 4, 2},
    {TRIANGULAR_NUMBER, 0, 'l', '?', 'l', 4, 3, 'u', 4, 0, 4, 3},
    {TRIANGULAR_NUMBER, 0, 'l', 'C', 'l', 4, 3, 'T', 4, 0, 4, 4},
    {TRIANGULAR_NUMBER, 0, 'u', 'c', 'L', -1, 3, 'n', 4, 0, 4, 5},
    {TRIANGULAR_NUMBER, 0, 'L', 'N', 'r', 4, -1, 'n', 4, 0, 4, 6},
    {TRIANGULAR_NUMBER, 0, 'U', 'n', 'L', 4, 3, 'U', 3, 0, 4, 9},
    {TRIANGULAR_NUMBER, 0, 'l', 't', 'R', 4, 3, 'U', 2, 0, 4, 9},
    {TRIANGULAR_NUMBER, 0, 'l', 'N', 'r', 4, 3, 'N', 3, 0, 3, 11},
};

static void make(const irregular_call *x)
{
    const product_call call = {
        .layout = x->layout,
        .side = PRODUCT_OF == TRIANGULAR_NUMBER ? x->transpose_b : x->transpose_a,
        .diagonal = (int)x->k,
        .triangle = x->triangle,
        .transpose_a = x->transpose_a,
        .transpose_b = x->transpose_b,
        .m = x->m,
        .n = x->n,
        .k = x->k,
        .lda = x->lda,
        .ldb = x->ldb,
        .ldc = x->ldc,
        .alpha = 1,
        .a = a,
        .b = b,
        .c = c,
    };
    if (setjmp(before_call) == 0)
        product_make(&call);
}

static bool is_untouched(void)
{
    for (int i = 0; i < SIZE; i++)
        if (c[i] != PRODUCT_UNTOUCHED)
            return false;
    return true;
}

static void check_call(size_t index, bool netlib)
{
    const irregular_call *call = &calls[index];
    for (int i = 0; i < SIZE; i++) {
        a[i] = b[i] = 1;
        c[i] = PRODUCT_UNTOUCHED;
    }
    report = (struct report){0};
    make(call);
    printf("call %zu: %d reports, %s(%ld, \"%s\"), C %s\n", index, report.count, report.handler,
           report.number, report.routine, is_untouched() ? "untouched" : "written");
    if (!netlib)
        return;
    const char *handler = call->layout ? "cblas_xerbla" : "xerbla_";
    const char *routine = call->layout ? "cblas_" PRODUCT_ROUTINE : PRODUCT_REPORTED;
    CHECK(is_untouched(), PRODUCT_ROUTINE " call %zu: C was written", index);
    CHECK(report.count == 1, PRODUCT_ROUTINE " call %zu: reported %d times", index, report.count);
    CHECK(report.number == call->number, PRODUCT_ROUTINE " call %zu: number %ld instead of %d", index,
          report.number, call->number);
    CHECK(strcmp(report.handler, handler) == 0 && strcmp(report.routine, routine) == 0,
          PRODUCT_ROUTINE " call %zu: %s heard of \"%s\"", index, report.handler, report.routine);
}

int main(int argc, char **argv)
{
    bool netlib = argc == 2 && strcmp(argv[1], "netlib") == 0;
    handlers_tell = hear;
    for (int jump = 0; jump < 2; jump++) {
        leaves_by_jump = jump;
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            if (calls[i].class == PRODUCT_OF)
                check_call(i, netlib);
    }
    /* Nothing was left half done. */
    for (int fortran = 0; fortran < 2; fortran++) {
        product p = {.fortran = fortran, .m = 4, .n = 3, .k = 2};
        long errors = product_errors(&p);
        CHECK(errors == 0, "a regular call afterwards: %ld elements are wrong", errors);
    }
    return check_result();
}
