/* An irregular argument gets the number that Netlib's BLAS gives it: the first one in Netlib's order, mapped back to the caller's
 * own for row-major calls, also where Netlib mistakes it (compat/arguments.h).
 */
#include "tests/unit/argument_calls.h"

/* The least leading dimensions with m=3, n=4, k=5 are, stored by columns: A 3, transposed 5; B 5, transposed
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

/* The least leading dimensions with n=4, k=5 are, stored by columns: A 4, transposed 5; and stored by rows: A 5, transposed
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

/* The least leading dimensions with n=4, k=5 are, stored by columns: A 4, transposed 5; B 5, transposed 4; and stored by
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

/* The least leading dimensions with m=3, n=4 are A 3, on the right 4; B and C 3, by rows 4. */
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

/* n=4 and k=5 are SYRK's. */
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

/* The least leading dimensions with m=3, n=4 are A 3, on the right 4; B, which is C here, 3, by rows 4. */
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

/* Those of batches are in conformance/batch_irregular.c. */
static const row gemm_batch_rows[1], gemm_batch_strided_rows[1];

static const struct {
    const row *rows;
    size_t count;
} of_class[] = {
#define TB_LAPACK_CLASS(...)
#define TB_CLASS(NAME, pattern, scalars, ...)                                                                \
    [TB_CLASS_##NAME] = {pattern##_rows, sizeof pattern##_rows / sizeof *pattern##_rows},
#include "words/classes.def"
#undef TB_CLASS
};

/* The number that Netlib reports. */
static int number_of(const row *row)
{
    const int of_transpose = row->layout == F ? 2 : 3;
    return refuses(row->transpose_a) && (row->number == 0 || row->number > of_transpose) ? of_transpose
                                                                                         : row->number;
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

int main(void)
{
    for (routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        if (!tb_class_rows[class_of_routine()].is_batch)
            numbers_are_netlibs();
    return check_result();
}
