/* What bench/ calls arrives in the runtime as the product that it made: every routine that is no batch, in each way that its
 * letters may read.
 */
#include "bench/routine.h"
#include "lib/call/multiply.h"
#include "tests/check.h"

enum { M = 700, N = 600, K = 500 };

#define TB_ROUTINE(NAME, name, class, element) void name##_(void);
#include "words/routines.def"
#undef TB_ROUTINE

static bench_function *const functions[TB_ROUTINES] = {
#define TB_ROUTINE(NAME, name, class, element) [TB_##NAME] = name##_,
#include "words/routines.def"
#undef TB_ROUTINE
};

static tb_product arrived;
static int arrivals;

/* In the place of the runtime. */
void __wrap_tb_multiply(const tb_product *product, const tb_host *host);
void __wrap_tb_multiply(const tb_product *product, const tb_host *host)
{
    (void)host;
    arrived = *product;
    arrivals++;
}

static bool is_same_operand(const tb_operand *x, const tb_operand *y)
{
    return x->data == y->data && x->rows == y->rows && x->columns == y->columns && x->ld == y->ld &&
           x->element == y->element && x->transposed == y->transposed && x->conjugated == y->conjugated &&
           x->structure == y->structure && x->stored == y->stored && x->unit_diagonal == y->unit_diagonal;
}

static bool is_same_product(const tb_product *x, const tb_product *y)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!is_same_operand(&x->operands[role], &y->operands[role]))
            return false;
    return x->routine == y->routine && x->m == y->m && x->n == y->n && x->k == y->k &&
           x->alpha.re == y->alpha.re && x->alpha.im == y->alpha.im && x->beta.re == y->beta.re &&
           x->beta.im == y->beta.im && x->mask == y->mask && x->terms / 2 == y->terms / 2 &&
           x->in_place == y->in_place;
}

static void check_call(const bench_routine *routine, bool transpose_a, bool transpose_b)
{
    static double a, b, c; /* nobody looks at what is there */
    const tb_product product = bench_product_of(routine, transpose_a, transpose_b, M, N, K, &a, &b, &c);
    const int before = arrivals;
    bench_call_fortran(functions[product.routine], &product);
    if (CHECK(arrivals == before + 1, "%s: nothing arrived", routine->name))
        CHECK(is_same_product(&arrived, &product), "%s, %d %d: another product arrived", routine->name,
              transpose_a, transpose_b);
}

/* Multiply-adds of GEMM are M N K; of C's triangle, or with a triangle, half as many and a little. */
static void check_flop(const char *name, double expected)
{
    const tb_product product =
        bench_product_of(bench_find_any_routine(name), false, false, M, N, K, NULL, NULL, NULL);
    CHECK(bench_flop(&product) == expected, "%s: %g operations, not %g", name, bench_flop(&product),
          expected);
}

int main(void)
{
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const bench_routine *row = bench_find_any_routine(tb_routine_rows[routine].name);
        CHECK((row == NULL) == tb_is_batch_class(tb_routine_rows[routine].class), "%s",
              tb_routine_rows[routine].name);
        for (int way = 0; row && way < 4; way++)
            check_call(row, way & 1, way & 2);
    }
    check_flop("dgemm", 2.0 * M * N * K);
    check_flop("zgemm", 8.0 * M * N * K);
    check_flop("dsyrk", (double)N * (N + 1) * K);
    check_flop("dsyr2k", 2.0 * N * (N + 1) * K);
    check_flop("dtrmm", (double)M * M * N);
    return check_result();
}
