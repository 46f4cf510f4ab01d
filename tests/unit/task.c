/* A task answers for what it is: for a product of every routine, a batch, a factorization, and a solve. */
#include "words/members.h"
#include "words/task.h"

#include "tests/check.h"
#include "tests/unit/products.h"

#include <string.h>

enum { M = 5, N = 7, K = 3 };

static const tb_matrix *matrix_of(const tb_product *product, int number)
{
    return number == 0 ? &product->a.matrix : number == 1 ? &product->b.matrix : &product->c.matrix;
}

static void a_product_of_any_routine_answers_as_the_product(void)
{
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const tb_product product = product_of_routine(routine, M, N, K);
        const tb_task task = tb_task_of_product(&product);
        const tb_extents extents = tb_task_extents(task);
        const char *name = tb_routine_rows[routine].name;
        CHECK(tb_is_product(task) && tb_task_routine(task) == product.routine, "%s is another routine's",
              name);
        CHECK(tb_task_element(task) == tb_routine_rows[routine].element, "%s has another element", name);
        CHECK(tb_task_members(task) == 1, "%s is a batch", name);
        CHECK(extents.count == 3 && extents.of[0] == product.m && extents.of[1] == product.n &&
                  extents.of[2] == product.k && strcmp(extents.names, "mnk") == 0,
              "%s has other extents", name);
        CHECK(tb_task_flops(task) == 2 * tb_volume(&product), "%s has %g flops", name, tb_task_flops(task));
        CHECK(tb_task_bytes(task) == tb_product_bytes(&product), "%s has %zu bytes", name,
              tb_task_bytes(task));
        CHECK(tb_task_matrices(task) == 3, "%s has %d matrices", name, tb_task_matrices(task));
        for (int i = 0; i < 3; i++)
            CHECK(tb_task_matrix(task, i) == matrix_of(&product, i) && tb_task_touches(task, i),
                  "matrix %d of %s is another one", i, name);
    }
}

/* What every routine is told of as: letters and sizes. */
static void products_are_told_of_by_their_letters(void)
{
    static const struct {
        const char *classes_routine, *letters;
    } rows[] = {
        {"sgemm", "NN"},   {"dsyrk", "LNT"},  {"zherk", "LNC"},      {"sgemmt", "LNN"},
        {"csymm", "LL"},   {"chemm", "LL"},   {"dsyr2k", "LNT"},     {"zher2k", "LNC"},
        {"strmm", "LLNN"}, {"dtrsm", "LLNN"}, {"sgemm_batch", "NN"}, {"sgemm_batch_strided", "NN"},
    };
    bool seen[TB_CLASSES] = {false};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
            char letters[TB_LETTERS_SIZE];
            if (strcmp(tb_routine_rows[routine].name, rows[i].classes_routine) != 0)
                continue;
            const tb_product product = product_of_routine(routine, M, N, K);
            seen[tb_routine_rows[routine].class] = true;
            tb_print_letters(tb_task_of_product(&product), letters);
            CHECK(strcmp(letters, rows[i].letters) == 0, "%s has letters %s", rows[i].classes_routine,
                  letters);
        }
    for (int class = 0; class < TB_CLASSES; class ++)
        CHECK(seen[class] || tb_class_rows[class].is_lapack, "no row is of class %d", class);
}

static void a_product_is_printed_whole(void)
{
    char text[TB_TASK_TEXT_SIZE];
    tb_product product = tb_gemm(TB_DGEMM, false, true, M, N, K, 0.5, NULL, 11, NULL, 12, 0, NULL, 13);
    tb_print_task(tb_task_of_product(&product), text);
    CHECK(strcmp(text, "dgemm NT m=5 n=7 k=3 lda=11 ldb=12 ldc=13 alpha=0.5 beta=0") == 0, "%s", text);
    product = tb_gemm(TB_ZGEMM, true, false, M, N, K, 0.5, NULL, 11, NULL, 12, 2, NULL, 13);
    product.a.conjugated = true;
    tb_spread(&product, TB_C, 4, 1000, NULL);
    tb_print_task(tb_task_of_product(&product), text);
    CHECK(strcmp(text, "zgemm CN products=4 m=5 n=7 k=3 lda=11 ldb=12 ldc=13 alpha=(0.5,0) beta=(2,0)") == 0,
          "%s", text);
    product = tb_gemm(TB_CGEMM, true, true, INT64_MAX, INT64_MAX, INT64_MAX, -1.23456e-300, NULL, INT64_MAX,
                      NULL, INT64_MAX, -1.23456e-300, NULL, INT64_MAX);
    product.alpha.im = product.beta.im = -1.23456e-300;
    tb_spread(&product, TB_C, INT64_MAX, 0, NULL);
    product.routine = TB_SGEMM_BATCH_STRIDED;
    tb_print_task(tb_task_of_product(&product), text);
    CHECK(strstr(text, "beta=(-1.23456e-300,-1.23456e-300)"), "the longest is cut: %s", text);
}

static void a_batch_has_the_flops_of_all(void)
{
    tb_product product = product_of_routine(TB_CGEMM, M, N, K);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&product, role, 9, 1000, NULL);
    const tb_task task = tb_task_of_product(&product);
    CHECK(tb_task_members(task) == 9, "%lld members", (long long)tb_task_members(task));
    CHECK(tb_task_flops(task) == 9 * 8.0 * M * N * K, "%g flops", tb_task_flops(task));
}

static void what_is_left_of_a_product_touches_c_alone(void)
{
    const tb_product product = product_of_routine(TB_SGEMM, M, N, K), rest = tb_without_product(&product);
    const tb_task task = tb_task_of_product(&rest);
    CHECK(!tb_task_touches(task, TB_A) && !tb_task_touches(task, TB_B) && tb_task_touches(task, TB_C),
          "beta * C touches A or B");
}

static void a_factorization_answers_for_its_matrix(void)
{
    char letters[TB_LETTERS_SIZE], text[TB_TASK_TEXT_SIZE];
    double numbers[1];
    int64_t info = 0;
    for (tb_triangle stored = TB_LOWER; stored <= TB_UPPER; stored++) {
        const tb_factor factor = tb_potrf(TB_DPOTRF, stored, 6, numbers, 9, &info);
        const tb_task task = tb_task_of_factor(&factor);
        const tb_extents extents = tb_task_extents(task);
        CHECK(!tb_is_product(task) && tb_task_routine(task) == TB_DPOTRF, "of another routine");
        CHECK(tb_task_element(task) == TB_FP64 && tb_task_members(task) == 1, "of another element");
        CHECK(extents.count == 1 && extents.of[0] == 6 && strcmp(extents.names, "n") == 0, "other extents");
        CHECK(tb_task_flops(task) == 72, "%g flops", tb_task_flops(task));
        CHECK(tb_task_bytes(task) == 18 * sizeof(double), "%zu bytes", tb_task_bytes(task));
        CHECK(tb_task_matrices(task) == 1 && tb_task_matrix(task, 0) == &factor.a && tb_task_touches(task, 0),
              "another matrix");
        CHECK(factor.a.data == numbers && factor.a.rows == 6 && factor.a.columns == 6 && factor.info == &info,
              "not what the call said");
        tb_print_letters(task, letters);
        CHECK(strcmp(letters, stored == TB_LOWER ? "L" : "U") == 0, "letters %s", letters);
        tb_print_task(task, text);
        CHECK(strcmp(text, stored == TB_LOWER ? "dpotrf L n=6 lda=9" : "dpotrf U n=6 lda=9") == 0, "%s",
              text);
    }
    const tb_factor complex = tb_potrf(TB_ZPOTRF, TB_LOWER, 6, numbers, 9, &info);
    CHECK(tb_task_flops(tb_task_of_factor(&complex)) == 4 * 72, "of complex numbers");
}

static void a_rectangle_has_two_extents(void)
{
    char text[TB_TASK_TEXT_SIZE];
    const tb_factor factor = tb_getrf(TB_SGETRF, 8, 6, NULL, 9, (tb_pivots){NULL, 32}, NULL);
    const tb_task task = tb_task_of_factor(&factor);
    const tb_extents extents = tb_task_extents(task);
    CHECK(extents.count == 2 && extents.of[0] == 8 && extents.of[1] == 6 && strcmp(extents.names, "mn") == 0,
          "other extents");
    CHECK(tb_task_bytes(task) == 48 * sizeof(float) && tb_task_matrices(task) == 1, "other amounts");
    CHECK(tb_task_flops(task) == 2 * 6 * (8 * 6 - 3 * 14 + 12), "%g flops", tb_task_flops(task));
    tb_print_task(task, text);
    CHECK(strcmp(text, "sgetrf m=8 n=6 lda=9") == 0, "%s", text);
    const tb_factor qr = tb_geqrf(TB_CGEQRF, 8, 6, NULL, 9, NULL, NULL);
    CHECK(tb_task_flops(tb_task_of_factor(&qr)) == 8 * (8 * 36 - 72), "of QR: %g flops",
          tb_task_flops(tb_task_of_factor(&qr)));
    tb_print_task(tb_task_of_factor(&qr), text);
    CHECK(strcmp(text, "cgeqrf m=8 n=6 lda=9") == 0, "%s", text);
}

/* 4 m n k - 2 (m + n) k^2 + 4/3 k^3 flops of real numbers, as LAPACK counts them. */
static void what_reflectors_make_has_three_extents(void)
{
    char text[TB_TASK_TEXT_SIZE];
    const tb_factor factor = tb_orgqr(TB_ZUNGQR, 8, 6, 3, NULL, 9, NULL, NULL);
    const tb_task task = tb_task_of_factor(&factor);
    const tb_extents extents = tb_task_extents(task);
    CHECK(extents.count == 3 && extents.of[0] == 8 && extents.of[1] == 6 && extents.of[2] == 3 &&
              strcmp(extents.names, "mnk") == 0,
          "other extents");
    CHECK(tb_task_flops(task) == 4 * (4 * 8 * 6 * 3 - 2 * 14 * 9 + 36), "%g flops", tb_task_flops(task));
    CHECK(tb_task_bytes(task) == 48 * 2 * sizeof(double) && tb_task_matrices(task) == 1, "other amounts");
    CHECK(tb_factor_order(&factor) == 3 && tb_makes_q(&factor) && tb_changes_a(&factor) &&
              !tb_makes_factors(&factor) && !tb_solves(&factor),
          "it does something else");
    tb_print_task(task, text);
    CHECK(strcmp(text, "zungqr m=8 n=6 k=3 lda=9") == 0, "%s", text);
}

/* 4 k n m - 2 n k^2 flops of real numbers, as LAPACK counts them, and of those on the right likewise. */
static void what_reflectors_are_applied_to_has_three_extents(void)
{
    static const struct {
        bool right;
        double flops;
        size_t elements;
        const char *text;
    } rows[] = {{false, 4 * (4 * 3 * 6 * 8 - 2 * 6 * 9), 24, "zunmqr LC m=8 n=6 k=3 lda=9 ldb=10"},
                {true, 4 * (4 * 3 * 6 * 8 - 2 * 8 * 9), 18, "zunmqr RC m=8 n=6 k=3 lda=9 ldb=10"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[TB_TASK_TEXT_SIZE];
        const tb_factor factor =
            tb_ormqr(TB_ZUNMQR, rows[i].right, true, 8, 6, 3, NULL, 9, NULL, NULL, 10, NULL);
        const tb_task task = tb_task_of_factor(&factor);
        const tb_extents extents = tb_task_extents(task);
        CHECK(extents.count == 3 && extents.of[0] == 8 && extents.of[1] == 6 && extents.of[2] == 3, "%s",
              rows[i].text);
        CHECK(tb_task_flops(task) == rows[i].flops, "%s: %g flops", rows[i].text, tb_task_flops(task));
        CHECK(tb_task_bytes(task) == (rows[i].elements + 48) * 2 * sizeof(double) &&
                  tb_task_matrices(task) == 2,
              "%s: other amounts", rows[i].text);
        CHECK(tb_factor_order(&factor) == 3 && tb_applies_q(&factor) && tb_solves(&factor) &&
                  !tb_changes_a(&factor) && tb_is_all_or_nothing(&factor) == rows[i].right &&
                  factor.conjugated,
              "%s: it does something else", rows[i].text);
        tb_print_task(task, text);
        CHECK(strcmp(text, rows[i].text) == 0, "%s instead of %s", text, rows[i].text);
    }
}

/* As many flops as the adjoint has. */
static void rows_have_reflectors_as_columns_do(void)
{
    char text[TB_TASK_TEXT_SIZE];
    const tb_factor lq = tb_geqrf(TB_DGELQF, 6, 8, NULL, 9, NULL, NULL),
                    qr = tb_geqrf(TB_DGEQRF, 8, 6, NULL, 9, NULL, NULL),
                    rows = tb_orgqr(TB_CUNGLQ, 6, 8, 3, NULL, 9, NULL, NULL),
                    columns = tb_orgqr(TB_CUNGQR, 8, 6, 3, NULL, 9, NULL, NULL);
    CHECK(tb_factor_volume(&lq) == tb_factor_volume(&qr) && tb_factor_order(&lq) == 6 &&
              tb_makes_factors(&lq) && tb_makes_lq(&lq) && tb_factoring_routine(&lq) == TB_DGEQRF,
          "LQ is something else");
    CHECK(tb_factor_volume(&rows) == tb_factor_volume(&columns) && tb_factor_order(&rows) == 3 &&
              tb_makes_q(&rows) && !tb_makes_factors(&rows),
          "Q of rows is something else");
    CHECK(tb_is_by_rows(&lq) && tb_is_by_rows(&rows) && !tb_is_by_rows(&qr) && !tb_is_by_rows(&columns) &&
              tb_reflector_length(&lq) == 8 && tb_reflected_lines(&lq) == 6 &&
              tb_reflector_length(&qr) == 8 && tb_reflected_lines(&qr) == 6,
          "other rows");
    tb_print_task(tb_task_of_factor(&lq), text);
    CHECK(strcmp(text, "dgelqf m=6 n=8 lda=9") == 0, "%s", text);
    tb_print_task(tb_task_of_factor(&rows), text);
    CHECK(strcmp(text, "cunglq m=6 n=8 k=3 lda=9") == 0, "%s", text);
}

/* 2 n^2 (m - n / 3) flops of the factorization, and for each column of B 4 m n - 2 n^2, and n^2. */
static void least_squares_have_three_extents(void)
{
    char text[TB_TASK_TEXT_SIZE];
    const tb_factor factor = tb_gels(TB_DGELS, false, 9, 6, 5, NULL, 9, NULL, 10, NULL),
                    wide = tb_gels(TB_ZGELS, true, 6, 9, 5, NULL, 6, NULL, 10, NULL);
    const tb_task task = tb_task_of_factor(&factor);
    const tb_extents extents = tb_task_extents(task);
    const double flops = 2 * 36 * (9 - 2) + 5 * (4 * 9 * 6 - 2 * 36 + 36);
    CHECK(extents.count == 3 && extents.of[0] == 9 && extents.of[1] == 6 && extents.of[2] == 5,
          "other extents");
    CHECK(tb_task_flops(task) == flops && tb_task_flops(tb_task_of_factor(&wide)) == 4 * flops, "%g flops",
          tb_task_flops(task));
    CHECK(tb_task_bytes(task) == (54 + 45) * sizeof(double) && tb_task_matrices(task) == 2, "other amounts");
    CHECK(tb_finds_least_squares(&factor) && tb_is_overdetermined(&factor) && !tb_applies_q(&factor) &&
              !tb_is_overdetermined(&wide) && wide.b.rows == 9,
          "it does something else");
    tb_print_task(task, text);
    CHECK(strcmp(text, "dgels N m=9 n=6 r=5 lda=9 ldb=10") == 0, "%s", text);
}

/* Of each class: what of A is read, and how; multiply-adds by the factors, and to them. */
static void a_solve_answers_for_two_matrices(void)
{
    enum { ORDER = 6, COLUMNS = 4 };
    static const struct {
        tb_routine routine;
        tb_triangle stored;
        bool transposed, conjugated, unit_diagonal;
        const char *text;
        double flops;
        size_t elements; /* of A */
    } rows[] = {
        {TB_DPOTRS, TB_LOWER, false, false, false, "dpotrs L n=6 r=4 lda=9 ldb=7", 2 * 144, 18},
        {TB_ZPOSV, TB_UPPER, false, false, false, "zposv U n=6 r=4 lda=9 ldb=7", 8 * (144 + 36), 18},
        {TB_SGETRS, TB_FULL, true, false, false, "sgetrs T n=6 r=4 lda=9 ldb=7", 2 * 144, 36},
        {TB_CGETRS, TB_FULL, true, true, false, "cgetrs C n=6 r=4 lda=9 ldb=7", 8 * 144, 36},
        {TB_DGESV, TB_FULL, false, false, false, "dgesv n=6 r=4 lda=9 ldb=7", 2 * (144 + 72), 36},
        {TB_DTRTRS, TB_LOWER, false, false, true, "dtrtrs LNU n=6 r=4 lda=9 ldb=7", 2 * 72, 18},
        {TB_ZTRTRS, TB_UPPER, true, true, false, "ztrtrs UCN n=6 r=4 lda=9 ldb=7", 8 * 72, 18},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[TB_TASK_TEXT_SIZE];
        tb_factor factor = tb_getrf(rows[i].routine, ORDER, ORDER, NULL, 9, (tb_pivots){NULL, 32}, NULL);
        factor.stored = rows[i].stored;
        factor.transposed = rows[i].transposed;
        factor.conjugated = rows[i].conjugated;
        factor.unit_diagonal = rows[i].unit_diagonal;
        factor.b = (tb_matrix){
            .rows = ORDER, .columns = COLUMNS, .ld = 7, .element = tb_routine_rows[rows[i].routine].element};
        const tb_task task = tb_task_of_factor(&factor);
        const tb_extents extents = tb_task_extents(task);
        CHECK(extents.count == 2 && extents.of[0] == ORDER && extents.of[1] == COLUMNS, "%s: other extents",
              rows[i].text);
        CHECK(tb_task_matrices(task) == 2 && tb_task_matrix(task, 0) == &factor.a &&
                  tb_task_matrix(task, 1) == &factor.b && tb_task_touches(task, 0) &&
                  tb_task_touches(task, 1),
              "%s: other matrices", rows[i].text);
        CHECK(tb_task_flops(task) == rows[i].flops, "%s: %g flops", rows[i].text, tb_task_flops(task));
        CHECK(tb_task_bytes(task) == (rows[i].elements + ORDER * COLUMNS) * tb_bytes_of(factor.a.element),
              "%s: %zu bytes", rows[i].text, tb_task_bytes(task));
        tb_print_task(task, text);
        CHECK(strcmp(text, rows[i].text) == 0, "%s instead of %s", text, rows[i].text);
    }
}

int main(void)
{
    a_product_of_any_routine_answers_as_the_product();
    products_are_told_of_by_their_letters();
    a_product_is_printed_whole();
    a_batch_has_the_flops_of_all();
    what_is_left_of_a_product_touches_c_alone();
    a_factorization_answers_for_its_matrix();
    a_rectangle_has_two_extents();
    what_reflectors_make_has_three_extents();
    what_reflectors_are_applied_to_has_three_extents();
    rows_have_reflectors_as_columns_do();
    least_squares_have_three_extents();
    a_solve_answers_for_two_matrices();
    return check_result();
}
