/* Regular calls become the canonical product, and an irregular argument gets the number that Netlib's BLAS
 * gives it: the first one in Netlib's order, mapped back to the caller's own for row-major calls.
 */
#include "compat/arguments.h"
#include "tests/check.h"

enum {
    R = TB_ROW_MAJOR,
    K = TB_COLUMN_MAJOR,
    N = TB_NO_TRANSPOSE,
    T = TB_TRANSPOSE,
    C = TB_CONJUGATE_TRANSPOSE
};

typedef struct cblas_row {
    const char *what;
    int layout, transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    int number;
} cblas_row;

/* With m=3, n=4, k=5 the least leading dimensions are, stored by columns: A 3, transposed 5; B 5, transposed
 * 4; C 3; and stored by rows: A 5, transposed 3; B 4, transposed 5; C 4. */
static const cblas_row cblas_rows[] = {
    {"least leading dimensions", K, N, N, 3, 4, 5, 3, 5, 3, 0},
    {"A transposed", K, T, N, 3, 4, 5, 5, 5, 3, 0},
    {"B conjugate-transposed", K, N, C, 3, 4, 5, 3, 4, 3, 0},
    {"both transposed", K, T, T, 3, 4, 5, 5, 4, 3, 0},
    {"by rows", R, N, N, 3, 4, 5, 5, 4, 4, 0},
    {"by rows, A transposed", R, T, N, 3, 4, 5, 3, 4, 4, 0},
    {"by rows, B transposed", R, N, T, 3, 4, 5, 5, 5, 4, 0},
    {"by rows, both transposed", R, C, C, 3, 4, 5, 3, 5, 4, 0},
    {"nothing at all", K, N, N, 0, 0, 0, 1, 1, 1, 0},
    {"nothing at all, by rows", R, N, N, 0, 0, 0, 1, 1, 1, 0},
    {"sizes beyond 32 bits", K, N, N, INT64_C(1) << 40, 1, 1, INT64_C(1) << 40, 1, INT64_C(1) << 40, 0},

    {"layout 0", 0, N, N, 3, 4, 5, 3, 5, 3, 1},
    {"layout 103", 103, N, N, 3, 4, 5, 3, 5, 3, 1},
    {"TransA 110", K, 110, N, 3, 4, 5, 3, 5, 3, 2},
    {"TransA ConjNoTrans", K, 114, N, 3, 4, 5, 3, 5, 3, 2},
    {"TransA 0, by rows", R, 0, N, 3, 4, 5, 5, 4, 4, 2},
    {"TransB 0", K, N, 0, 3, 4, 5, 3, 5, 3, 3},
    {"TransB 0, by rows", R, N, 0, 3, 4, 5, 5, 4, 4, 3},
    {"M negative", K, N, N, -1, 4, 5, 3, 5, 3, 4},
    {"M negative, by rows", R, N, N, -1, 4, 5, 5, 4, 4, 4},
    {"N negative", K, N, N, 3, -1, 5, 3, 5, 3, 5},
    {"N negative, by rows", R, N, N, 3, -1, 5, 5, 4, 4, 5},
    {"K negative", K, N, N, 3, 4, -1, 3, 5, 3, 6},
    {"K negative, by rows", R, N, N, 3, 4, -1, 5, 4, 4, 6},
    {"lda short", K, N, N, 3, 4, 5, 2, 5, 3, 9},
    {"lda short, transposed", K, T, N, 3, 4, 5, 4, 5, 3, 9},
    {"lda short, by rows", R, N, N, 3, 4, 5, 4, 4, 4, 9},
    {"lda short, transposed, by rows", R, T, N, 3, 4, 5, 2, 4, 4, 9},
    {"lda 0 with m 0", K, N, N, 0, 4, 5, 0, 5, 1, 9},
    {"ldb short", K, N, N, 3, 4, 5, 3, 4, 3, 11},
    {"ldb short, transposed", K, N, T, 3, 4, 5, 3, 3, 3, 11},
    {"ldb short, by rows", R, N, N, 3, 4, 5, 5, 3, 4, 11},
    {"ldb 0 with k 0", K, N, N, 3, 4, 0, 3, 0, 3, 11},
    {"ldc short", K, N, N, 3, 4, 5, 3, 5, 2, 14},
    {"ldc short, by rows", R, N, N, 3, 4, 5, 5, 4, 3, 14},
    {"ldc 0 with m 0", K, N, N, 0, 4, 5, 1, 5, 0, 14},

    {"the layout is looked at first", 0, 0, 0, -1, -1, -1, 0, 0, 0, 1},
    {"then TransA", K, 0, 0, -1, -1, -1, 0, 0, 0, 2},
    {"then M", K, N, N, -1, -1, -1, 0, 0, 0, 4},
    {"by rows N, which is the swapped M", R, N, N, -1, -1, -1, 0, 0, 0, 5},
    {"then lda", K, N, N, 3, 4, 5, 0, 0, 0, 9},
    {"by rows ldb, which is the swapped lda", R, N, N, 3, 4, 5, 0, 0, 0, 11},
};

typedef struct fortran_row {
    const char *what;
    char transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    int number;
} fortran_row;

static const fortran_row fortran_rows[] = {
    {"least leading dimensions", 'N', 'N', 3, 4, 5, 3, 5, 3, 0},
    {"lower case", 'n', 't', 3, 4, 5, 3, 4, 3, 0},
    {"C means T", 'C', 'c', 3, 4, 5, 5, 4, 3, 0},
    {"TRANSA", 'X', 'N', 3, 4, 5, 3, 5, 3, 1},
    {"TRANSB", 'N', '\0', 3, 4, 5, 3, 5, 3, 2},
    {"M", 'N', 'N', -1, 4, 5, 3, 5, 3, 3},
    {"N", 'N', 'N', 3, -1, 5, 3, 5, 3, 4},
    {"K", 'N', 'N', 3, 4, -1, 3, 5, 3, 5},
    {"LDA", 'N', 'N', 3, 4, 5, 2, 5, 3, 8},
    {"LDA, transposed", 'T', 'N', 3, 4, 5, 4, 5, 3, 8},
    {"LDB", 'N', 'N', 3, 4, 5, 3, 4, 3, 10},
    {"LDB, transposed", 'N', 'T', 3, 4, 5, 3, 3, 3, 10},
    {"LDC", 'N', 'N', 3, 4, 5, 3, 5, 2, 13},
    {"the first of all", 'X', 'X', -1, -1, -1, 0, 0, 0, 1},
    {"the first of the sizes", 'N', 'N', -1, -1, -1, 0, 0, 0, 3},
};

/* The rules are those of all routines of the class. */
static tb_routine routine;

static tb_gemm_arguments sizes(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
    return (tb_gemm_arguments){
        .routine = routine, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc};
}

static void numbers_are_netlibs(void)
{
    for (size_t i = 0; i < sizeof cblas_rows / sizeof *cblas_rows; i++) {
        const cblas_row *row = &cblas_rows[i];
        const tb_gemm_arguments given = sizes(row->m, row->n, row->k, row->lda, row->ldb, row->ldc);
        tb_product product;
        int number = tb_canonicalize_cblas(row->layout, row->transpose_a, row->transpose_b, &given, &product);
        CHECK(number == row->number, "CBLAS, %s: %d instead of %d", row->what, number, row->number);
    }
    for (size_t i = 0; i < sizeof fortran_rows / sizeof *fortran_rows; i++) {
        const fortran_row *row = &fortran_rows[i];
        const tb_gemm_arguments given = sizes(row->m, row->n, row->k, row->lda, row->ldb, row->ldc);
        tb_product product;
        int number = tb_canonicalize_fortran(row->transpose_a, row->transpose_b, &given, &product);
        CHECK(number == row->number, "Fortran, %s: %d instead of %d", row->what, number, row->number);
    }
}

static bool is_real(tb_scalar scalar, double value)
{
    return scalar.re == value && scalar.im == 0;
}

static void row_major_calls_swap_their_operands(void)
{
    const float a = 0, b = 0;
    float c = 0;
    tb_gemm_arguments given = sizes(3, 4, 5, 13, 14, 15);
    given.a = &a;
    given.b = &b;
    given.c = &c;
    given.alpha = 2;
    given.beta = 3;
    tb_product product;
    CHECK(tb_canonicalize_cblas(R, T, N, &given, &product) == 0, "a regular call");
    CHECK(product.routine == routine && tb_element_of(&product) == tb_routine_rows[routine].element,
          "routine");
    CHECK(product.m == 4 && product.n == 3 && product.k == 5, "sizes");
    CHECK(product.a.data == &b && product.b.data == &a && product.c.data == &c, "matrices");
    CHECK(product.a.ld == 14 && product.b.ld == 13 && product.c.ld == 15, "leading dimensions");
    CHECK(!product.a.transposed && product.b.transposed, "transposes");
    CHECK(is_real(product.alpha, 2) && is_real(product.beta, 3), "scalars");
}

static void column_major_calls_stay_as_they_are(void)
{
    const float a = 0, b = 0;
    tb_gemm_arguments given = sizes(3, 4, 5, 13, 14, 15);
    given.a = &a;
    given.b = &b;
    tb_product product;
    CHECK(tb_canonicalize_fortran('t', 'N', &given, &product) == 0, "a regular call");
    CHECK(product.m == 3 && product.n == 4 && product.a.data == &a && product.b.data == &b, "operands");
    CHECK(product.a.transposed && !product.b.transposed, "transposes");
}

int main(void)
{
    for (routine = 0; routine < TB_ROUTINES; routine++) {
        numbers_are_netlibs();
        row_major_calls_swap_their_operands();
        column_major_calls_stay_as_they_are();
    }
    return check_result();
}
