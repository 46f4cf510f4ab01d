/* Regular calls become the canonical product, and an irregular argument gets the number that Netlib's BLAS
 * gives it: the first one in Netlib's order, mapped back to the caller's own for row-major calls, also where Netlib
 * mistakes it (arguments.h).
 */
#include "compat/arguments.h"
#include "tests/check.h"

#include <string.h>

enum {
    F = -1, /* in place of a layout: Fortran, whose other arguments are letters */
    R = TB_ROW_MAJOR,
    K = TB_COLUMN_MAJOR,
    N = TB_NO_TRANSPOSE,
    T = TB_TRANSPOSE,
    C = TB_CONJUGATE_TRANSPOSE,
    U = TB_CBLAS_UPPER,
    L = TB_CBLAS_LOWER,
    LEFT = TB_CBLAS_LEFT,
    RIGHT = TB_CBLAS_RIGHT,
    UNIT = TB_CBLAS_UNIT,
    NON_UNIT = TB_CBLAS_NON_UNIT,
    ABSENT = 0 /* the class has no such argument */
};

/* Where SYMM has a side, others have transpose_a. Of TRMM k is the diagonal, and transpose_b the side. */
typedef struct row {
    const char *what;
    int layout, triangle, transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    int number;
} row;

/* With m=3, n=4, k=5 the least leading dimensions are, stored by columns: A 3, transposed 5; B 5, transposed
 * 4; C 3; and stored by rows: A 5, transposed 3; B 4, transposed 5; C 4. */
static const row gemm_rows[] = {
    {"least leading dimensions", K, ABSENT, N, N, 3, 4, 5, 3, 5, 3, 0},
    {"A transposed", K, ABSENT, T, N, 3, 4, 5, 5, 5, 3, 0},
    {"B conjugate-transposed", K, ABSENT, N, C, 3, 4, 5, 3, 4, 3, 0},
    {"both transposed", K, ABSENT, T, T, 3, 4, 5, 5, 4, 3, 0},
    {"by rows", R, ABSENT, N, N, 3, 4, 5, 5, 4, 4, 0},
    {"by rows, A transposed", R, ABSENT, T, N, 3, 4, 5, 3, 4, 4, 0},
    {"by rows, B transposed", R, ABSENT, N, T, 3, 4, 5, 5, 5, 4, 0},
    {"by rows, both transposed", R, ABSENT, C, C, 3, 4, 5, 3, 5, 4, 0},
    {"nothing at all", K, ABSENT, N, N, 0, 0, 0, 1, 1, 1, 0},
    {"nothing at all, by rows", R, ABSENT, N, N, 0, 0, 0, 1, 1, 1, 0},
    {"sizes beyond 32 bits", K, ABSENT, N, N, INT64_C(1) << 40, 1, 1, INT64_C(1) << 40, 1, INT64_C(1) << 40,
     0},

    {"layout 0", 0, ABSENT, N, N, 3, 4, 5, 3, 5, 3, 1},
    {"layout 103", 103, ABSENT, N, N, 3, 4, 5, 3, 5, 3, 1},
    {"TransA 110", K, ABSENT, 110, N, 3, 4, 5, 3, 5, 3, 2},
    {"TransA ConjNoTrans", K, ABSENT, 114, N, 3, 4, 5, 3, 5, 3, 2},
    {"TransA 0, by rows", R, ABSENT, 0, N, 3, 4, 5, 5, 4, 4, 2},
    {"TransB 0", K, ABSENT, N, 0, 3, 4, 5, 3, 5, 3, 3},
    {"TransB 0, by rows", R, ABSENT, N, 0, 3, 4, 5, 5, 4, 4, 3},
    {"M negative", K, ABSENT, N, N, -1, 4, 5, 3, 5, 3, 4},
    {"M negative, by rows", R, ABSENT, N, N, -1, 4, 5, 5, 4, 4, 4},
    {"N negative", K, ABSENT, N, N, 3, -1, 5, 3, 5, 3, 5},
    {"N negative, by rows", R, ABSENT, N, N, 3, -1, 5, 5, 4, 4, 5},
    {"K negative", K, ABSENT, N, N, 3, 4, -1, 3, 5, 3, 6},
    {"K negative, by rows", R, ABSENT, N, N, 3, 4, -1, 5, 4, 4, 6},
    {"lda short", K, ABSENT, N, N, 3, 4, 5, 2, 5, 3, 9},
    {"lda short, transposed", K, ABSENT, T, N, 3, 4, 5, 4, 5, 3, 9},
    {"lda short, by rows", R, ABSENT, N, N, 3, 4, 5, 4, 4, 4, 9},
    {"lda short, transposed, by rows", R, ABSENT, T, N, 3, 4, 5, 2, 4, 4, 9},
    {"lda 0 with m 0", K, ABSENT, N, N, 0, 4, 5, 0, 5, 1, 9},
    {"ldb short", K, ABSENT, N, N, 3, 4, 5, 3, 4, 3, 11},
    {"ldb short, transposed", K, ABSENT, N, T, 3, 4, 5, 3, 3, 3, 11},
    {"ldb short, by rows", R, ABSENT, N, N, 3, 4, 5, 5, 3, 4, 11},
    {"ldb 0 with k 0", K, ABSENT, N, N, 3, 4, 0, 3, 0, 3, 11},
    {"ldc short", K, ABSENT, N, N, 3, 4, 5, 3, 5, 2, 14},
    {"ldc short, by rows", R, ABSENT, N, N, 3, 4, 5, 5, 4, 3, 14},
    {"ldc 0 with m 0", K, ABSENT, N, N, 0, 4, 5, 1, 5, 0, 14},

    {"the layout is looked at first", 0, ABSENT, 0, 0, -1, -1, -1, 0, 0, 0, 1},
    {"then TransA", K, ABSENT, 0, 0, -1, -1, -1, 0, 0, 0, 2},
    {"then M", K, ABSENT, N, N, -1, -1, -1, 0, 0, 0, 4},
    {"by rows N, which is the swapped M", R, ABSENT, N, N, -1, -1, -1, 0, 0, 0, 5},
    {"then lda", K, ABSENT, N, N, 3, 4, 5, 0, 0, 0, 9},
    {"by rows ldb, which is the swapped lda", R, ABSENT, N, N, 3, 4, 5, 0, 0, 0, 11},

    {"least leading dimensions", F, ABSENT, 'N', 'N', 3, 4, 5, 3, 5, 3, 0},
    {"lower case", F, ABSENT, 'n', 't', 3, 4, 5, 3, 4, 3, 0},
    {"C means T", F, ABSENT, 'C', 'c', 3, 4, 5, 5, 4, 3, 0},
    {"TRANSA", F, ABSENT, 'X', 'N', 3, 4, 5, 3, 5, 3, 1},
    {"TRANSB", F, ABSENT, 'N', '\0', 3, 4, 5, 3, 5, 3, 2},
    {"M", F, ABSENT, 'N', 'N', -1, 4, 5, 3, 5, 3, 3},
    {"N", F, ABSENT, 'N', 'N', 3, -1, 5, 3, 5, 3, 4},
    {"K", F, ABSENT, 'N', 'N', 3, 4, -1, 3, 5, 3, 5},
    {"LDA", F, ABSENT, 'N', 'N', 3, 4, 5, 2, 5, 3, 8},
    {"LDA, transposed", F, ABSENT, 'T', 'N', 3, 4, 5, 4, 5, 3, 8},
    {"LDB", F, ABSENT, 'N', 'N', 3, 4, 5, 3, 4, 3, 10},
    {"LDB, transposed", F, ABSENT, 'N', 'T', 3, 4, 5, 3, 3, 3, 10},
    {"LDC", F, ABSENT, 'N', 'N', 3, 4, 5, 3, 5, 2, 13},
    {"the first of all", F, ABSENT, 'X', 'X', -1, -1, -1, 0, 0, 0, 1},
    {"the first of the sizes", F, ABSENT, 'N', 'N', -1, -1, -1, 0, 0, 0, 3},
};

/* With n=4, k=5 the least leading dimensions are, stored by columns: A 4, transposed 5; and stored by rows: A 5, transposed
 * 4; C 4 in any case. */
static const row rank_k_rows[] = {
    {"least leading dimensions", K, U, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 0},
    {"transposed", K, L, T, ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 0},
    {"conjugate-transposed", K, U, C, ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 0},
    {"by rows", R, U, N, ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 0},
    {"by rows, transposed", R, L, T, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 0},
    {"by rows, conjugate-transposed", R, L, C, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 0},
    {"nothing at all", K, U, N, ABSENT, ABSENT, 0, 0, 1, ABSENT, 1, 0},
    {"nothing at all, by rows", R, L, T, ABSENT, ABSENT, 0, 0, 1, ABSENT, 1, 0},
    {"sizes beyond 32 bits", K, L, T, ABSENT, ABSENT, 1, INT64_C(1) << 40, INT64_C(1) << 40, ABSENT, 1, 0},

    {"layout 0", 0, U, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 1},
    {"layout 103", 103, U, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 1},
    {"Uplo 120", K, 120, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 2},
    {"Uplo 123", K, 123, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 2},
    {"Uplo 0, by rows", R, 0, N, ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 2},
    {"Trans 110", K, U, 110, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 3},
    {"Trans ConjNoTrans", K, U, 114, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 3},
    {"Trans 0, by rows", R, L, 0, ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 3},
    {"N negative", K, U, N, ABSENT, ABSENT, -1, 5, 4, ABSENT, 4, 4},
    {"N negative, by rows", R, U, N, ABSENT, ABSENT, -1, 5, 5, ABSENT, 4, 4},
    {"K negative", K, L, N, ABSENT, ABSENT, 4, -1, 4, ABSENT, 4, 5},
    {"K negative, by rows", R, L, N, ABSENT, ABSENT, 4, -1, 5, ABSENT, 4, 5},
    {"lda short", K, U, N, ABSENT, ABSENT, 4, 5, 3, ABSENT, 4, 8},
    {"lda short, transposed", K, U, T, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 8},
    {"lda short, by rows", R, U, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 8},
    {"lda short, transposed, by rows", R, U, C, ABSENT, ABSENT, 4, 5, 3, ABSENT, 4, 8},
    {"lda 0 with n 0", K, U, N, ABSENT, ABSENT, 0, 5, 0, ABSENT, 1, 8},
    {"lda 0 with k 0", K, U, T, ABSENT, ABSENT, 4, 0, 0, ABSENT, 4, 8},
    {"ldc short", K, U, N, ABSENT, ABSENT, 4, 5, 4, ABSENT, 3, 11},
    {"ldc short, by rows", R, L, T, ABSENT, ABSENT, 4, 5, 4, ABSENT, 3, 11},
    {"ldc 0 with n 0", K, U, N, ABSENT, ABSENT, 0, 5, 1, ABSENT, 0, 11},

    {"the layout is looked at first", 0, 0, 0, ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 1},
    {"then Uplo", R, 0, 0, ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 2},
    {"then Trans", R, U, 0, ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 3},
    {"then N", R, U, N, ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 4},
    {"then K", K, U, N, ABSENT, ABSENT, 4, -1, 0, ABSENT, 0, 5},
    {"then lda", K, U, N, ABSENT, ABSENT, 4, 5, 0, ABSENT, 0, 8},
    {"then lda, by rows", R, U, N, ABSENT, ABSENT, 4, 5, 0, ABSENT, 0, 8},

    {"least leading dimensions", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 0},
    {"lower case", F, 'l', 't', ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 0},
    {"C means T", F, 'u', 'C', ABSENT, ABSENT, 4, 5, 5, ABSENT, 4, 0},
    {"UPLO", F, 'X', 'N', ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 1},
    {"TRANS", F, 'U', '\0', ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 2},
    {"N", F, 'U', 'N', ABSENT, ABSENT, -1, 5, 4, ABSENT, 4, 3},
    {"K", F, 'L', 'N', ABSENT, ABSENT, 4, -1, 4, ABSENT, 4, 4},
    {"LDA", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 3, ABSENT, 4, 7},
    {"LDA, transposed", F, 'U', 'T', ABSENT, ABSENT, 4, 5, 4, ABSENT, 4, 7},
    {"LDC", F, 'L', 'T', ABSENT, ABSENT, 4, 5, 5, ABSENT, 3, 10},
    {"the first of all", F, 'X', 'X', ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 1},
    {"the first of the sizes", F, 'U', 'N', ABSENT, ABSENT, -1, -1, 0, ABSENT, 0, 3},
    {"the first of the leading dimensions", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 0, ABSENT, 0, 7},
};

/* With n=4, k=5 the least leading dimensions are, stored by columns: A 4, transposed 5; B 5, transposed 4; and stored by
 * rows: A 5, transposed 4; B 4, transposed 5; C 4 in any case. */
static const row triangle_rows[] = {
    {"least leading dimensions", K, U, N, N, ABSENT, 4, 5, 4, 5, 4, 0},
    {"A transposed", K, L, T, N, ABSENT, 4, 5, 5, 5, 4, 0},
    {"B conjugate-transposed", K, L, N, C, ABSENT, 4, 5, 4, 4, 4, 0},
    {"both transposed", K, U, T, T, ABSENT, 4, 5, 5, 4, 4, 0},
    {"by rows", R, U, N, N, ABSENT, 4, 5, 5, 4, 4, 0},
    {"by rows, A transposed", R, L, T, N, ABSENT, 4, 5, 4, 4, 4, 0},
    {"by rows, B transposed", R, L, N, T, ABSENT, 4, 5, 5, 5, 4, 0},
    {"by rows, both transposed", R, U, C, C, ABSENT, 4, 5, 4, 5, 4, 0},
    {"nothing at all", K, U, N, N, ABSENT, 0, 0, 1, 1, 1, 0},
    {"nothing at all, by rows", R, L, N, N, ABSENT, 0, 0, 1, 1, 1, 0},

    {"layout 0", 0, U, N, N, ABSENT, 4, 5, 4, 5, 4, 1},
    {"Uplo 120", K, 120, N, N, ABSENT, 4, 5, 4, 5, 4, 2},
    {"Uplo 123, by rows", R, 123, N, N, ABSENT, 4, 5, 5, 4, 4, 2},
    {"TransA 110", K, U, 110, N, ABSENT, 4, 5, 4, 5, 4, 3},
    {"TransA ConjNoTrans, by rows", R, U, 114, N, ABSENT, 4, 5, 5, 4, 4, 3},
    {"TransB 0", K, U, N, 0, ABSENT, 4, 5, 4, 5, 4, 4},
    {"TransB ConjNoTrans, by rows", R, U, N, 114, ABSENT, 4, 5, 5, 4, 4, 4},
    {"N negative", K, U, N, N, ABSENT, -1, 5, 4, 5, 4, 5},
    {"N negative, by rows", R, U, N, N, ABSENT, -1, 5, 5, 4, 4, 5},
    {"K negative", K, U, N, N, ABSENT, 4, -1, 4, 5, 4, 6},
    {"K negative, by rows", R, U, N, N, ABSENT, 4, -1, 5, 4, 4, 6},
    {"lda short", K, U, N, N, ABSENT, 4, 5, 3, 5, 4, 9},
    {"lda short, transposed", K, U, T, N, ABSENT, 4, 5, 4, 5, 4, 9},
    {"lda short, by rows", R, U, N, N, ABSENT, 4, 5, 4, 4, 4, 9},
    {"lda short, transposed, by rows", R, U, T, N, ABSENT, 4, 5, 3, 4, 4, 9},
    {"ldb short", K, U, N, N, ABSENT, 4, 5, 4, 4, 4, 11},
    {"ldb short, transposed", K, U, N, T, ABSENT, 4, 5, 4, 3, 4, 11},
    {"ldb short, by rows", R, U, N, N, ABSENT, 4, 5, 5, 3, 4, 11},
    {"ldb short, transposed, by rows", R, L, N, C, ABSENT, 4, 5, 5, 4, 4, 11},
    {"ldb 0 with k 0", K, U, N, N, ABSENT, 4, 0, 4, 0, 4, 11},
    {"ldc short", K, U, N, N, ABSENT, 4, 5, 4, 5, 3, 14},
    {"ldc short, by rows", R, L, N, N, ABSENT, 4, 5, 5, 4, 3, 14},

    {"the layout is looked at first", 0, 0, 0, 0, ABSENT, -1, -1, 0, 0, 0, 1},
    {"then Uplo", R, 0, 0, 0, ABSENT, -1, -1, 0, 0, 0, 2},
    {"then TransA", R, U, 0, 0, ABSENT, -1, -1, 0, 0, 0, 3},
    {"then TransB", R, U, N, 0, ABSENT, -1, -1, 0, 0, 0, 4},
    {"then N", R, U, N, N, ABSENT, -1, -1, 0, 0, 0, 5},
    {"then lda", K, U, N, N, ABSENT, 4, 5, 0, 0, 0, 9},
    {"by rows ldb, which is the swapped lda", R, U, N, N, ABSENT, 4, 5, 0, 0, 0, 11},

    {"least leading dimensions", F, 'U', 'N', 'N', ABSENT, 4, 5, 4, 5, 4, 0},
    {"lower case", F, 'l', 'n', 't', ABSENT, 4, 5, 4, 4, 4, 0},
    {"C means T", F, 'u', 'C', 'c', ABSENT, 4, 5, 5, 4, 4, 0},
    {"UPLO", F, '\0', 'N', 'N', ABSENT, 4, 5, 4, 5, 4, 1},
    {"TRANSA", F, 'U', 'X', 'N', ABSENT, 4, 5, 4, 5, 4, 2},
    {"TRANSB", F, 'L', 'N', 'X', ABSENT, 4, 5, 4, 5, 4, 3},
    {"N", F, 'U', 'N', 'N', ABSENT, -1, 5, 4, 5, 4, 4},
    {"K", F, 'U', 'N', 'N', ABSENT, 4, -1, 4, 5, 4, 5},
    {"LDA", F, 'U', 'N', 'N', ABSENT, 4, 5, 3, 5, 4, 8},
    {"LDA, transposed", F, 'U', 'T', 'N', ABSENT, 4, 5, 4, 5, 4, 8},
    {"LDB", F, 'U', 'N', 'N', ABSENT, 4, 5, 4, 4, 4, 10},
    {"LDB, transposed", F, 'U', 'N', 'T', ABSENT, 4, 5, 4, 3, 4, 10},
    {"LDC", F, 'U', 'N', 'N', ABSENT, 4, 5, 4, 5, 3, 13},
    {"the first of all", F, 'X', 'X', 'X', ABSENT, -1, -1, 0, 0, 0, 1},
    {"the first of the sizes", F, 'U', 'N', 'N', ABSENT, -1, -1, 0, 0, 0, 4},
    {"the first of the leading dimensions", F, 'U', 'N', 'N', ABSENT, 4, 5, 0, 0, 0, 8},
};

/* With m=3, n=4 the least leading dimensions are A 3, on the right 4; B and C 3, by rows 4. */
static const row symm_rows[] = {
    {"least leading dimensions", K, U, LEFT, ABSENT, 3, 4, ABSENT, 3, 3, 3, 0},
    {"on the right", K, L, RIGHT, ABSENT, 3, 4, ABSENT, 4, 3, 3, 0},
    {"by rows", R, U, LEFT, ABSENT, 3, 4, ABSENT, 3, 4, 4, 0},
    {"by rows, on the right", R, L, RIGHT, ABSENT, 3, 4, ABSENT, 4, 4, 4, 0},
    {"nothing at all", K, U, LEFT, ABSENT, 0, 0, ABSENT, 1, 1, 1, 0},
    {"nothing at all, by rows", R, U, RIGHT, ABSENT, 0, 0, ABSENT, 1, 1, 1, 0},
    {"sizes beyond 32 bits", K, U, RIGHT, ABSENT, INT64_C(1) << 40, 1, ABSENT, 1, INT64_C(1) << 40,
     INT64_C(1) << 40, 0},

    {"layout 0", 0, U, LEFT, ABSENT, 3, 4, ABSENT, 3, 3, 3, 1},
    {"Side 140", K, U, 140, ABSENT, 3, 4, ABSENT, 3, 3, 3, 2},
    {"Side 143, by rows", R, U, 143, ABSENT, 3, 4, ABSENT, 3, 4, 4, 2},
    {"Uplo 120", K, 120, LEFT, ABSENT, 3, 4, ABSENT, 3, 3, 3, 3},
    {"Uplo 123, by rows", R, 123, RIGHT, ABSENT, 3, 4, ABSENT, 4, 4, 4, 3},
    {"M negative", K, U, LEFT, ABSENT, -1, 4, ABSENT, 3, 3, 3, 4},
    {"M negative, by rows", R, U, LEFT, ABSENT, -1, 4, ABSENT, 3, 4, 4, 4},
    {"N negative", K, U, RIGHT, ABSENT, 3, -1, ABSENT, 4, 3, 3, 5},
    {"N negative, by rows", R, U, RIGHT, ABSENT, 3, -1, ABSENT, 4, 4, 4, 5},
    {"lda short", K, U, LEFT, ABSENT, 3, 4, ABSENT, 2, 3, 3, 8},
    {"lda short, on the right", K, U, RIGHT, ABSENT, 3, 4, ABSENT, 3, 3, 3, 8},
    {"lda short, by rows", R, U, LEFT, ABSENT, 3, 4, ABSENT, 2, 4, 4, 8},
    {"lda short, by rows, on the right", R, U, RIGHT, ABSENT, 3, 4, ABSENT, 3, 4, 4, 8},
    {"lda 0 with m 0", K, U, LEFT, ABSENT, 0, 4, ABSENT, 0, 1, 1, 8},
    {"ldb short", K, U, RIGHT, ABSENT, 3, 4, ABSENT, 4, 2, 3, 10},
    {"ldb short, by rows", R, U, LEFT, ABSENT, 3, 4, ABSENT, 3, 3, 4, 10},
    {"ldc short", K, U, LEFT, ABSENT, 3, 4, ABSENT, 3, 3, 2, 13},
    {"ldc short, by rows", R, U, RIGHT, ABSENT, 3, 4, ABSENT, 4, 4, 3, 13},

    {"the layout is looked at first", 0, 0, 0, ABSENT, -1, -1, ABSENT, 0, 0, 0, 1},
    {"then Side", R, 0, 0, ABSENT, -1, -1, ABSENT, 0, 0, 0, 2},
    {"then Uplo", R, 0, LEFT, ABSENT, -1, -1, ABSENT, 0, 0, 0, 3},
    {"then M", K, U, LEFT, ABSENT, -1, -1, ABSENT, 0, 0, 0, 4},
    {"by rows N, which is the swapped M", R, U, LEFT, ABSENT, -1, -1, ABSENT, 0, 0, 0, 5},
    {"then lda", K, U, RIGHT, ABSENT, 3, 4, ABSENT, 0, 0, 0, 8},
    {"then lda, by rows", R, U, RIGHT, ABSENT, 3, 4, ABSENT, 0, 0, 0, 8},

    {"least leading dimensions", F, 'U', 'L', ABSENT, 3, 4, ABSENT, 3, 3, 3, 0},
    {"lower case", F, 'l', 'r', ABSENT, 3, 4, ABSENT, 4, 3, 3, 0},
    {"SIDE", F, 'U', 'X', ABSENT, 3, 4, ABSENT, 3, 3, 3, 1},
    {"UPLO", F, '\0', 'L', ABSENT, 3, 4, ABSENT, 3, 3, 3, 2},
    {"M", F, 'U', 'L', ABSENT, -1, 4, ABSENT, 3, 3, 3, 3},
    {"N", F, 'U', 'L', ABSENT, 3, -1, ABSENT, 3, 3, 3, 4},
    {"LDA", F, 'U', 'R', ABSENT, 3, 4, ABSENT, 3, 3, 3, 7},
    {"LDB", F, 'U', 'L', ABSENT, 3, 4, ABSENT, 3, 2, 3, 9},
    {"LDC", F, 'U', 'L', ABSENT, 3, 4, ABSENT, 3, 3, 2, 12},
    {"the first of all", F, 'X', 'X', ABSENT, -1, -1, ABSENT, 0, 0, 0, 1},
    {"the first of the leading dimensions", F, 'U', 'L', ABSENT, 3, 4, ABSENT, 0, 0, 0, 7},
};

/* With n=4, k=5 as for SYRK. */
static const row rank_2k_rows[] = {
    {"least leading dimensions", K, U, N, ABSENT, ABSENT, 4, 5, 4, 4, 4, 0},
    {"by rows", R, U, N, ABSENT, ABSENT, 4, 5, 5, 5, 4, 0},
    {"nothing at all", K, U, N, ABSENT, ABSENT, 0, 0, 1, 1, 1, 0},
    {"layout 0", 0, U, N, ABSENT, ABSENT, 4, 5, 4, 4, 4, 1},
    {"Uplo 120", K, 120, N, ABSENT, ABSENT, 4, 5, 4, 4, 4, 2},
    {"Trans 110", K, U, 110, ABSENT, ABSENT, 4, 5, 4, 4, 4, 3},
    {"N negative, by rows", R, U, N, ABSENT, ABSENT, -1, 5, 5, 5, 4, 4},
    {"K negative", K, L, N, ABSENT, ABSENT, 4, -1, 4, 4, 4, 5},
    {"lda short", K, U, N, ABSENT, ABSENT, 4, 5, 3, 4, 4, 8},
    {"lda short, by rows", R, U, N, ABSENT, ABSENT, 4, 5, 4, 5, 4, 8},
    {"ldb short", K, U, N, ABSENT, ABSENT, 4, 5, 4, 3, 4, 10},
    {"ldb short, by rows", R, U, N, ABSENT, ABSENT, 4, 5, 5, 4, 4, 10},
    {"ldc short", K, U, N, ABSENT, ABSENT, 4, 5, 4, 4, 3, 13},
    {"the layout is looked at first", 0, 0, 0, ABSENT, ABSENT, -1, -1, 0, 0, 0, 1},
    {"then lda", K, U, N, ABSENT, ABSENT, 4, 5, 0, 0, 0, 8},
    {"least leading dimensions", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 4, 4, 4, 0},
    {"UPLO", F, 'X', 'N', ABSENT, ABSENT, 4, 5, 4, 4, 4, 1},
    {"TRANS", F, 'U', 'X', ABSENT, ABSENT, 4, 5, 4, 4, 4, 2},
    {"N", F, 'U', 'N', ABSENT, ABSENT, -1, 5, 4, 4, 4, 3},
    {"K", F, 'L', 'N', ABSENT, ABSENT, 4, -1, 4, 4, 4, 4},
    {"LDA", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 3, 4, 4, 7},
    {"LDB", F, 'U', 'N', ABSENT, ABSENT, 4, 5, 4, 3, 4, 9},
    {"LDC", F, 'L', 'N', ABSENT, ABSENT, 4, 5, 4, 4, 3, 12},
};

/* With m=3, n=4 the least leading dimensions are A 3, on the right 4; B, which is C here, 3, by rows 4. */
static const row triangular_rows[] = {
    {"least leading dimensions", K, U, N, LEFT, 3, 4, UNIT, 3, ABSENT, 3, 0},
    {"on the right", K, L, T, RIGHT, 3, 4, NON_UNIT, 4, ABSENT, 3, 0},
    {"by rows", R, U, C, LEFT, 3, 4, UNIT, 3, ABSENT, 4, 0},
    {"by rows, on the right", R, L, N, RIGHT, 3, 4, NON_UNIT, 4, ABSENT, 4, 0},
    {"nothing at all", K, U, N, LEFT, 0, 0, UNIT, 1, ABSENT, 1, 0},
    {"nothing at all, by rows", R, U, N, RIGHT, 0, 0, UNIT, 1, ABSENT, 1, 0},
    {"sizes beyond 32 bits", K, U, N, RIGHT, INT64_C(1) << 40, 1, UNIT, 1, ABSENT, INT64_C(1) << 40, 0},

    {"layout 0", 0, U, N, LEFT, 3, 4, UNIT, 3, ABSENT, 3, 1},
    {"Side 140", K, U, N, 140, 3, 4, UNIT, 3, ABSENT, 3, 2},
    {"Side 143, by rows", R, U, N, 143, 3, 4, UNIT, 3, ABSENT, 4, 2},
    {"Uplo 120", K, 120, N, LEFT, 3, 4, UNIT, 3, ABSENT, 3, 3},
    {"Uplo 123, by rows", R, 123, N, RIGHT, 3, 4, UNIT, 4, ABSENT, 4, 3},
    {"TransA 110", K, U, 110, LEFT, 3, 4, UNIT, 3, ABSENT, 3, 4},
    {"TransA ConjNoTrans, by rows", R, U, 114, LEFT, 3, 4, UNIT, 3, ABSENT, 4, 4},
    {"Diag 130", K, U, N, LEFT, 3, 4, 130, 3, ABSENT, 3, 5},
    {"Diag 133, by rows", R, U, N, LEFT, 3, 4, 133, 3, ABSENT, 4, 5},
    {"M negative", K, U, N, LEFT, -1, 4, UNIT, 3, ABSENT, 3, 6},
    {"M negative, by rows", R, U, N, LEFT, -1, 4, UNIT, 3, ABSENT, 4, 6},
    {"N negative", K, U, N, RIGHT, 3, -1, UNIT, 4, ABSENT, 3, 7},
    {"N negative, by rows", R, U, N, RIGHT, 3, -1, UNIT, 4, ABSENT, 4, 7},
    {"lda short", K, U, N, LEFT, 3, 4, UNIT, 2, ABSENT, 3, 10},
    {"lda short, on the right", K, U, T, RIGHT, 3, 4, UNIT, 3, ABSENT, 3, 10},
    {"lda short, by rows", R, U, N, LEFT, 3, 4, UNIT, 2, ABSENT, 4, 10},
    {"lda short, by rows, on the right", R, U, C, RIGHT, 3, 4, UNIT, 3, ABSENT, 4, 10},
    {"lda 0 with m 0", K, U, N, LEFT, 0, 4, UNIT, 0, ABSENT, 1, 10},
    {"ldb short", K, U, N, RIGHT, 3, 4, UNIT, 4, ABSENT, 2, 12},
    {"ldb short, by rows", R, U, N, LEFT, 3, 4, UNIT, 3, ABSENT, 3, 12},
    {"ldb 0 with m 0", K, U, N, LEFT, 0, 4, UNIT, 1, ABSENT, 0, 12},

    {"the layout is looked at first", 0, 0, 0, 0, -1, -1, 0, 0, ABSENT, 0, 1},
    {"then Side", R, 0, 0, 0, -1, -1, 0, 0, ABSENT, 0, 2},
    {"then Uplo", R, 0, 0, LEFT, -1, -1, 0, 0, ABSENT, 0, 3},
    {"then TransA", R, U, 0, LEFT, -1, -1, 0, 0, ABSENT, 0, 4},
    {"then Diag", R, U, N, LEFT, -1, -1, 0, 0, ABSENT, 0, 5},
    {"then M", K, U, N, LEFT, -1, -1, UNIT, 0, ABSENT, 0, 6},
    {"by rows N, which is the swapped M", R, U, N, LEFT, -1, -1, UNIT, 0, ABSENT, 0, 7},
    {"then lda", K, U, N, RIGHT, 3, 4, UNIT, 0, ABSENT, 0, 10},
    {"then lda, by rows", R, U, N, RIGHT, 3, 4, UNIT, 0, ABSENT, 0, 10},

    {"least leading dimensions", F, 'U', 'N', 'L', 3, 4, 'U', 3, ABSENT, 3, 0},
    {"lower case", F, 'l', 't', 'r', 3, 4, 'n', 4, ABSENT, 3, 0},
    {"C means T", F, 'u', 'C', 'l', 3, 4, 'u', 3, ABSENT, 3, 0},
    {"SIDE", F, 'U', 'N', 'X', 3, 4, 'U', 3, ABSENT, 3, 1},
    {"UPLO", F, '\0', 'N', 'L', 3, 4, 'U', 3, ABSENT, 3, 2},
    {"TRANSA", F, 'U', 'X', 'L', 3, 4, 'U', 3, ABSENT, 3, 3},
    {"DIAG", F, 'U', 'N', 'L', 3, 4, 'T', 3, ABSENT, 3, 4},
    {"M", F, 'U', 'N', 'L', -1, 4, 'U', 3, ABSENT, 3, 5},
    {"N", F, 'U', 'N', 'L', 3, -1, 'N', 3, ABSENT, 3, 6},
    {"LDA", F, 'U', 'N', 'R', 3, 4, 'N', 3, ABSENT, 3, 9},
    {"LDB", F, 'U', 'N', 'L', 3, 4, 'N', 3, ABSENT, 2, 11},
    {"the first of all", F, 'X', 'X', 'X', -1, -1, 'X', 0, ABSENT, 0, 1},
    {"the first of the sizes", F, 'U', 'N', 'L', -1, -1, 'U', 0, ABSENT, 0, 5},
    {"the first of the leading dimensions", F, 'U', 'N', 'L', 3, 4, 'U', 0, ABSENT, 0, 9},
};

#define ROWS(rows)                                                                                           \
    {                                                                                                        \
        rows, sizeof rows / sizeof *rows                                                                     \
    }
static const struct {
    const row *rows;
    size_t count;
} of_class[] = {
    [TB_CLASS_GEMM] = ROWS(gemm_rows),         [TB_CLASS_RANK_K] = ROWS(rank_k_rows),
    [TB_CLASS_TRIANGLE] = ROWS(triangle_rows), [TB_CLASS_SYMM] = ROWS(symm_rows),
    [TB_CLASS_HEMM] = ROWS(symm_rows),         [TB_CLASS_HERK] = ROWS(rank_k_rows),
    [TB_CLASS_RANK_2K] = ROWS(rank_2k_rows),   [TB_CLASS_HER2K] = ROWS(rank_2k_rows),
    [TB_CLASS_TRMM] = ROWS(triangular_rows),   [TB_CLASS_TRSM] = ROWS(triangular_rows),
};

/* The rules are those of all routines of a class. */
static tb_routine routine;

static tb_routine_class class_of_routine(void)
{
    return tb_routine_rows[routine].class;
}

static bool is_two_term(void)
{
    return class_of_routine() == TB_CLASS_RANK_2K || class_of_routine() == TB_CLASS_HER2K;
}

static bool has_one_operand(void)
{
    return class_of_routine() == TB_CLASS_RANK_K || class_of_routine() == TB_CLASS_HERK;
}

/* Complex updates of symmetric matrices refuse what is conjugated, those of Hermitian ones what is merely transposed. */
static bool refuses(int transpose)
{
    const bool is_update = has_one_operand() || is_two_term();
    return is_update && tb_is_complex(tb_routine_rows[routine].element) && transpose != 0 &&
           strchr(tb_is_hermitian_routine(routine) ? "Tt\160" : "Cc\161", transpose) != NULL;
}

/* The number that Netlib reports. */
static int number_of(const row *row)
{
    const int of_transpose = row->layout == F ? 2 : 3;
    return refuses(row->transpose_a) && (row->number == 0 || row->number > of_transpose) ? of_transpose
                                                                                         : row->number;
}

static int read_call(const row *row, const tb_arguments *given, tb_product *product)
{
    const bool fortran = row->layout == F;
    const int triangle = row->triangle, a = row->transpose_a, b = row->transpose_b;
    switch (class_of_routine()) {
    case TB_CLASS_GEMM:
        return fortran ? tb_gemm_of_fortran((char)a, (char)b, given, product)
                       : tb_gemm_of_cblas(row->layout, a, b, given, product);
    case TB_CLASS_RANK_K:
    case TB_CLASS_HERK:
        return fortran ? tb_rank_k_of_fortran((char)triangle, (char)a, given, product)
                       : tb_rank_k_of_cblas(row->layout, triangle, a, given, product);
    case TB_CLASS_RANK_2K:
    case TB_CLASS_HER2K:
        return fortran ? tb_rank_2k_of_fortran((char)triangle, (char)a, given, product)
                       : tb_rank_2k_of_cblas(row->layout, triangle, a, given, product);
    case TB_CLASS_TRIANGLE:
        return fortran ? tb_triangle_of_fortran((char)triangle, (char)a, (char)b, given, product)
                       : tb_triangle_of_cblas(row->layout, triangle, a, b, given, product);
    case TB_CLASS_SYMM:
    case TB_CLASS_HEMM:
        return fortran ? tb_symm_of_fortran((char)a, (char)triangle, given, product)
                       : tb_symm_of_cblas(row->layout, a, triangle, given, product);
    case TB_CLASS_TRMM:
    case TB_CLASS_TRSM:
        return fortran
                   ? tb_triangular_of_fortran((char)b, (char)triangle, (char)a, (char)row->k, given, product)
                   : tb_triangular_of_cblas(row->layout, b, triangle, a, (int)row->k, given, product);
    case TB_CLASS_GEMM_BATCH: /* read as GEMM is, but for the numbers: tests/conformance/batches.c */
    case TB_CLASS_GEMM_BATCH_STRIDED:
    case TB_CLASSES:
        break;
    }
    return -1;
}

static tb_arguments arguments_of(const row *row)
{
    return (tb_arguments){.routine = routine,
                          .m = row->m,
                          .n = row->n,
                          .k = row->k,
                          .lda = row->lda,
                          .ldb = row->ldb,
                          .ldc = row->ldc};
}

static void numbers_are_netlibs(void)
{
    const tb_routine_class class = class_of_routine();
    for (size_t i = 0; i < of_class[class].count; i++) {
        const row *row = &of_class[class].rows[i];
        const tb_arguments given = arguments_of(row);
        tb_product product;
        const int number = read_call(row, &given, &product);
        CHECK(number == number_of(row), "%s, %s, %s: %d instead of %d", tb_routine_rows[routine].name,
              row->layout == F ? "Fortran" : "CBLAS", row->what, number, number_of(row));
    }
}

/* ---- Regular calls ---------------------------------------------------------------------------------------- */

/* A matrix as the product reads it: its element (i, j) lies so far from its first one. */
static int64_t distance(const tb_operand *x, int64_t i, int64_t j)
{
    return x->transposed ? j + i * x->ld : i + j * x->ld;
}

/* The same of a caller's matrix. */
static int64_t distance_given(bool row_major, bool transposed, int64_t i, int64_t j, int64_t ld)
{
    return row_major != transposed ? j + i * ld : i + j * ld;
}

static bool is_same(tb_scalar x, tb_scalar y)
{
    return x.re == y.re && x.im == y.im;
}

static bool is_of_symm(void)
{
    return class_of_routine() == TB_CLASS_SYMM || class_of_routine() == TB_CLASS_HEMM;
}

/* One form of a call: the values of its arguments, and what they mean. */
typedef struct form {
    int value;
    bool set; /* transposed; the lower triangle */
} form;

static const form cblas_transposes[] = {{N, false}, {T, true}, {C, true}},
                  fortran_transposes[] = {{'N', false}, {'n', false}, {'T', true},
                                          {'t', true},  {'C', true},  {'c', true}},
                  cblas_triangles[] = {{U, false}, {L, true}},
                  fortran_triangles[] = {{'U', false}, {'u', false}, {'L', true}, {'l', true}};
#define SIZE(forms) (int)(sizeof(forms) / sizeof *(forms))

/* Whether the product's element (i, j) of C is the caller's, or the caller's (j, i) if the two are exchanged: it lies where
 * the caller has it, is made of the same elements of A and B, and belongs to the mask if it belongs to the
 * caller's triangle. */
static bool is_callers(const tb_product *p, const tb_arguments *g, const row *row, const form *triangle,
                       bool transpose_a, bool transpose_b, int64_t i, int64_t j)
{
    const bool row_major = row->layout == R, has_triangle = class_of_routine() != TB_CLASS_GEMM;
    const bool exchanged = row_major;
    const int64_t row_of = exchanged ? j : i, column_of = exchanged ? i : j;
    if (distance(&p->c, i, j) != distance_given(row_major, false, row_of, column_of, g->ldc))
        return false;
    const bool belongs = !has_triangle || (triangle->set ? row_of >= column_of : row_of <= column_of);
    const tb_range rows = tb_masked_rows(p, j);
    if (belongs != (i >= rows.first && i < rows.first + rows.count))
        return false;
    const bool one_operand = has_one_operand();
    const void *b = one_operand ? g->a : g->b;
    const int64_t ldb = one_operand ? g->lda : g->ldb;
    const bool b_transposed = one_operand ? !transpose_a : transpose_b;
    for (int64_t l = 0; l < p->k; l++) {
        const int64_t left = distance_given(row_major, transpose_a, row_of, l, g->lda),
                      right = distance_given(row_major, b_transposed, l, column_of, ldb);
        const bool same = p->a.data == g->a && p->b.data == b && distance(&p->a, i, l) == left &&
                          distance(&p->b, l, j) == right;
        const bool crossed = p->a.data == b && p->b.data == g->a && distance(&p->a, i, l) == right &&
                             distance(&p->b, l, j) == left;
        if (!same && !crossed)
            return false;
    }
    return true;
}

/* op(A) and op(B) are conjugated where the caller says so, which complex routines alone do: a row-major call's op(A) is op(B). */
static bool conjugates_as_asked(const tb_product *p, const row *row)
{
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    const bool a = is_complex && strchr("Cc\161", row->transpose_a) != NULL,
               b = is_complex && strchr("Cc\161", row->transpose_b) != NULL;
    if (has_one_operand() || is_two_term()) {
        const bool hermitian = tb_is_hermitian_routine(routine);
        return p->a.conjugated == (hermitian && p->a.transposed) &&
               p->b.conjugated == (hermitian && p->b.transposed);
    }
    return p->a.conjugated == (row->layout == R ? b : a) && p->b.conjugated == (row->layout == R ? a : b);
}

static void check_form(row row, form triangle, form a, form b)
{
    static float memory[3];
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.b = &memory[1];
    given.c = &memory[2];
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    given.alpha = (tb_scalar){2, is_complex ? 5 : 0};
    given.beta = (tb_scalar){3, is_complex ? 7 : 0};
    row.triangle = triangle.value;
    row.transpose_a = a.value;
    row.transpose_b = b.value;
    tb_product p;
    if (refuses(a.value))
        return;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const bool is_gemm = class_of_routine() == TB_CLASS_GEMM;
    const int64_t m = is_gemm ? row.m : row.n;
    CHECK(p.routine == routine && tb_element_of(&p) == tb_routine_rows[routine].element, "routine");
    CHECK(p.m == (row.layout == R ? row.n : m) && p.n == (row.layout == R ? m : row.n) && p.k == row.k,
          "sizes");
    const bool turns_alpha = row.layout == R && class_of_routine() == TB_CLASS_HER2K;
    const tb_scalar alpha = {given.alpha.re, turns_alpha ? -given.alpha.im : given.alpha.im};
    CHECK(p.c.data == given.c && is_same(p.alpha, alpha) && is_same(p.beta, given.beta), "C and scalars");
    CHECK((p.mask == TB_FULL) == is_gemm && p.diagonal == 0 && (p.terms == 2) == is_two_term(), "mask");
    CHECK(conjugates_as_asked(&p, &row), "%s, layout %d, transposes %d %d: conjugated otherwise",
          tb_routine_rows[routine].name, row.layout, a.value, b.value);
    CHECK(has_one_operand() == tb_has_one_operand(&p), "one operand");
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_operand *x = &p.operands[role];
        const int64_t rows = role == TB_B ? p.k : p.m, columns = role == TB_A ? p.k : p.n;
        CHECK(x->rows == (x->transposed ? columns : rows) && x->columns == (x->transposed ? rows : columns),
              "the operand's own rows and columns");
    }
    long wrong = 0;
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            wrong += !is_two_term() && !is_callers(&p, &given, &row, &triangle, a.set, b.set, i, j);
    CHECK(wrong == 0, "%s, layout %d, triangle %d, transposes %d %d: %ld elements are others'",
          tb_routine_rows[routine].name, row.layout, triangle.value, a.value, b.value, wrong);
}

static const form cblas_sides[] = {{LEFT, true}, {RIGHT, false}},
                  fortran_sides[] = {{'L', true}, {'l', true}, {'R', false}, {'r', false}},
                  cblas_diagonals[] = {{NON_UNIT, false}, {UNIT, true}},
                  fortran_diagonals[] = {{'N', false}, {'n', false}, {'U', true}, {'u', true}};

/* Of SYMM: on the side and in the triangle that the caller's matrix has, by columns. Nothing is transposed or conjugated. */
static void check_symm_form(row row, form triangle, form side)
{
    static float memory[3];
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.b = &memory[1];
    given.c = &memory[2];
    given.alpha = (tb_scalar){2, 5};
    given.beta = (tb_scalar){3, 7};
    row.triangle = triangle.value;
    row.transpose_a = side.value;
    tb_product p;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const bool exchanged = row.layout == R, left = side.set != exchanged, lower = triangle.set != exchanged;
    const tb_operand *a = left ? &p.a : &p.b, *b = left ? &p.b : &p.a;
    const tb_structure structure = class_of_routine() == TB_CLASS_HEMM ? TB_HERMITIAN : TB_SYMMETRIC;
    const bool sizes = p.m == (exchanged ? row.n : row.m) && p.n == (exchanged ? row.m : row.n) &&
                       p.k == (left ? p.m : p.n) && a->rows == p.k && a->columns == p.k && b->rows == p.m &&
                       b->columns == p.n && p.c.rows == p.m && p.c.columns == p.n;
    const bool places = a->data == given.a && a->ld == row.lda && b->data == given.b && b->ld == row.ldb &&
                        p.c.data == given.c && p.c.ld == row.ldc;
    const bool reading = a->structure == structure && a->stored == (lower ? TB_LOWER : TB_UPPER) &&
                         b->structure == TB_GENERAL && a->diagonal == 0 && !a->transposed && !a->conjugated &&
                         !b->transposed && !b->conjugated && p.mask == TB_FULL;
    CHECK(p.routine == routine && sizes && places && reading && is_same(p.alpha, given.alpha) &&
              is_same(p.beta, given.beta),
          "%s, layout %d, triangle %d, side %d: sizes %d, places %d, reading %d",
          tb_routine_rows[routine].name, row.layout, triangle.value, side.value, sizes, places, reading);
}

static bool is_triangular(void)
{
    return class_of_routine() == TB_CLASS_TRMM || class_of_routine() == TB_CLASS_TRSM;
}

/* Of TRMM: likewise, and transposed, conjugated and with the diagonal that the caller says. B is C, and nothing else is. */
static void check_triangular_form(row row, form triangle, form side, form a, form diagonal)
{
    static float memory[2];
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.c = &memory[1];
    given.alpha = (tb_scalar){2, is_complex ? 5 : 0};
    row.triangle = triangle.value;
    row.transpose_a = a.value;
    row.transpose_b = side.value;
    row.k = diagonal.value;
    tb_product p;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const bool exchanged = row.layout == R, left = side.set != exchanged, lower = triangle.set != exchanged;
    const tb_operand *x = left ? &p.a : &p.b, *none = left ? &p.b : &p.a;
    const bool sizes = p.m == (exchanged ? row.n : row.m) && p.n == (exchanged ? row.m : row.n) &&
                       p.k == (left ? p.m : p.n) && x->rows == p.k && x->columns == p.k && p.c.rows == p.m &&
                       p.c.columns == p.n && none->rows == 0 && none->columns == 0;
    const bool places = x->data == given.a && x->ld == row.lda && p.c.data == given.c && p.c.ld == row.ldc;
    const bool reading = x->structure == TB_TRIANGULAR && x->stored == (lower ? TB_LOWER : TB_UPPER) &&
                         x->diagonal == 0 && x->transposed == a.set && x->unit_diagonal == diagonal.set &&
                         x->conjugated == (is_complex && strchr("Cc\161", a.value) != NULL) &&
                         none->structure == TB_GENERAL && p.mask == TB_FULL;
    const tb_in_place in_place = class_of_routine() == TB_CLASS_TRSM ? TB_SOLVES : TB_MULTIPLIES;
    CHECK(p.routine == routine && tb_element_of(&p) == tb_routine_rows[routine].element &&
              p.in_place == in_place && sizes && places && reading && is_same(p.alpha, given.alpha) &&
              tb_is_one(p.beta),
          "%s, layout %d, triangle %d, side %d, transpose %d, diagonal %d: sizes %d, places %d, reading %d",
          tb_routine_rows[routine].name, row.layout, triangle.value, side.value, a.value, diagonal.value,
          sizes, places, reading);
}

/* In every layout, triangle, side and transposition, and with either diagonal. */
static void regular_calls_become_the_same_product(void)
{
    static const int layouts[] = {F, R, K};
    for (int i = 0; i < 3; i++) {
        const bool fortran = layouts[i] == F;
        const form *transposes = fortran ? fortran_transposes : cblas_transposes;
        const form *triangles = fortran ? fortran_triangles : cblas_triangles;
        const int transpose_count = fortran ? SIZE(fortran_transposes) : SIZE(cblas_transposes);
        const int triangle_count = fortran ? SIZE(fortran_triangles) : SIZE(cblas_triangles);
        const row row = {.layout = layouts[i], .m = 3, .n = 4, .k = 5, .lda = 13, .ldb = 14, .ldc = 15};
        const form *sides = fortran ? fortran_sides : cblas_sides;
        const int side_count = fortran ? SIZE(fortran_sides) : SIZE(cblas_sides);
        for (int triangle = 0; is_of_symm() && triangle < triangle_count; triangle++)
            for (int side = 0; side < side_count; side++)
                check_symm_form(row, triangles[triangle], sides[side]);
        const form *diagonals = fortran ? fortran_diagonals : cblas_diagonals;
        const int diagonal_count = fortran ? SIZE(fortran_diagonals) : SIZE(cblas_diagonals);
        for (int triangle = 0; is_triangular() && triangle < triangle_count; triangle++)
            for (int side = 0; side < side_count; side++)
                for (int a = 0; a < transpose_count; a++)
                    for (int diagonal = 0; diagonal < diagonal_count; diagonal++)
                        check_triangular_form(row, triangles[triangle], sides[side], transposes[a],
                                              diagonals[diagonal]);
        for (int triangle = 0; !is_of_symm() && !is_triangular() && triangle < triangle_count; triangle++)
            for (int a = 0; a < transpose_count; a++)
                for (int b = 0; b < transpose_count; b++)
                    check_form(row, triangles[triangle], transposes[a], transposes[b]);
    }
}

int main(void)
{
    for (routine = 0; routine < TB_ROUTINES; routine++) {
        if (tb_is_batch_class(class_of_routine()))
            continue;
        numbers_are_netlibs();
        regular_calls_become_the_same_product();
    }
    return check_result();
}
