/* What bench/ calls arrives in the runtime as the product that it made: every routine that is no batch, in each way that its
 * letters may read.
 */
#include "bench/routine.h"
#include "tests/check.h"
#include "tests/unit/arrivals.h"

enum { M = 700, N = 600, K = 500 };

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
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        const bench_routine *row = bench_find_any_routine(tb_routine_rows[routine].name);
        CHECK((row == NULL) == tb_class_of(routine)->is_batch, "%s", tb_routine_rows[routine].name);
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
