/* What bench/lapack says of LU's factors, of solutions by them, and of inverses: right ones have a small residual, and what a broken
 * routine would leave a large one. */
#include "bench/lapack_gesv.h"
#include "bench/lapack_getrf.h"
#include "bench/lapack_getri.h"
#include "tests/check.h"

#include <string.h>

enum { ORDER = 40, ROWS = 56, RIGHT_SIDES = 7 };

/* Each of the larger size, in doubles of complex numbers; what is changed is A and B together at first. */
static double made[2 * ROWS * ORDER], made_b[2 * ORDER * RIGHT_SIDES], factors[2 * ROWS * ORDER],
    solved[2 * ORDER * ORDER], changed[2 * (ROWS + RIGHT_SIDES) * ORDER];
static int pivots[ORDER];
static lapack_operands operands;

static lapack_number at(const void *matrix, int rows, int row, int column)
{
    return lapack_read_number(operands.element, matrix, (size_t)(row + column * rows));
}

static void put(void *matrix, int rows, int row, int column, lapack_number value)
{
    lapack_write_number(operands.element, matrix, (size_t)(row + column * rows), value);
}

static void exchange_rows(void *matrix, int rows, int columns, int one, int other)
{
    for (int j = 0; j < columns; j++) {
        const lapack_number moved = at(matrix, rows, one, j);
        put(matrix, rows, one, j, at(matrix, rows, other, j));
        put(matrix, rows, other, j, moved);
    }
}

/* Gauss's elimination, a column after the other. */
static void factor(void *a)
{
    const int m = operands.m, n = operands.n;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < m; i++)
            if (lapack_size_of(at(a, m, i, k)) > lapack_size_of(at(a, m, pivot, k)))
                pivot = i;
        pivots[k] = pivot + 1;
        exchange_rows(a, m, n, k, pivot);
        for (int i = k + 1; i < m; i++) {
            const lapack_number multiple = at(a, m, i, k) / at(a, m, k, k);
            put(a, m, i, k, multiple);
            for (int j = k + 1; j < n; j++)
                put(a, m, i, j, at(a, m, i, j) - multiple * at(a, m, k, j));
        }
    }
}

static void solve(const void *lu, void *b, int columns)
{
    const int n = operands.n;
    for (int k = 0; k < n; k++)
        exchange_rows(b, n, columns, k, pivots[k] - 1);
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < n; k++)
            for (int i = k + 1; i < n; i++)
                put(b, n, i, j, at(b, n, i, j) - at(lu, n, i, k) * at(b, n, k, j));
        for (int k = n - 1; k >= 0; k--) {
            put(b, n, k, j, at(b, n, k, j) / at(lu, n, k, k));
            for (int i = 0; i < k; i++)
                put(b, n, i, j, at(b, n, i, j) - at(lu, n, i, k) * at(b, n, k, j));
        }
    }
}

/* Makes the matrices, and factors A. */
static void begin(tb_element element, int rows)
{
    const size_t a_count = (size_t)rows * ORDER, b_count = (size_t)ORDER * RIGHT_SIDES;
    operands = (lapack_operands){.element = element,
                                 .m = rows,
                                 .n = ORDER,
                                 .right_sides = RIGHT_SIDES,
                                 .a = {.bytes = a_count * tb_bytes_of(element), .made = made},
                                 .b = {.bytes = b_count * tb_bytes_of(element), .made = made_b},
                                 .pivots = pivots};
    bench_fill_random(element, changed, a_count + b_count);
    memcpy(made, changed, operands.a.bytes);
    memcpy(made_b, (char *)changed + operands.a.bytes, operands.b.bytes);
    memcpy(factors, made, operands.a.bytes);
    factor(factors);
}

/* The matrix with another number in its last column but one. */
static const void *with(const void *right, size_t bytes, int rows, int columns, lapack_number value)
{
    memcpy(changed, right, bytes);
    put(changed, rows, rows - 3, columns - 2, value);
    return changed;
}

static const void *factors_with(lapack_number value)
{
    return with(factors, operands.a.bytes, operands.m, operands.n, value);
}

static double residual_with_pivot(int place, int pivot)
{
    const int right = pivots[place];
    pivots[place] = pivot;
    const double residual = lapack_getrf_residual(&operands, factors, NULL);
    pivots[place] = right;
    return residual;
}

static void check_factors(tb_element element, int rows)
{
    begin(element, rows);
    const char letter = tb_element_rows[element].letter;
    const double of_right = lapack_getrf_residual(&operands, factors, NULL),
                 of_none = lapack_getrf_residual(&operands, made, NULL),
                 of_one = lapack_getrf_residual(&operands, factors_with(5), NULL),
                 of_nan = lapack_getrf_residual(&operands, factors_with((double)NAN), NULL),
                 of_infinity = lapack_getrf_residual(&operands, factors_with((double)INFINITY), NULL),
                 of_pivot = residual_with_pivot(3, pivots[3] == rows ? rows - 1 : rows),
                 of_no_pivot = residual_with_pivot(ORDER - 1, rows + 1),
                 of_negative = residual_with_pivot(ORDER - 1, -INT32_MAX);
    CHECK(of_right < 0.5, "%cGETRF of %d rows: %g where the factors are right", letter, rows, of_right);
    CHECK(of_none > 1000, "%cGETRF of %d rows: %g of a matrix that is as it was", letter, rows, of_none);
    CHECK(of_one > 1000, "%cGETRF of %d rows: %g with one element wrong", letter, rows, of_one);
    CHECK(of_nan > 1000, "%cGETRF of %d rows: %g with one that is no number", letter, rows, of_nan);
    CHECK(of_infinity > 1000, "%cGETRF of %d rows: %g with one infinite", letter, rows, of_infinity);
    CHECK(of_pivot > 1000, "%cGETRF of %d rows: %g with one pivot wrong", letter, rows, of_pivot);
    CHECK(of_no_pivot > 1000, "%cGETRF of %d rows: %g with a pivot beyond", letter, rows, of_no_pivot);
    CHECK(of_negative > 1000, "%cGETRF of %d rows: %g with a negative pivot", letter, rows, of_negative);
}

static const void *solution_with(lapack_number value)
{
    return with(solved, operands.b.bytes, ORDER, RIGHT_SIDES, value);
}

static void check_solution(tb_element element)
{
    begin(element, ORDER);
    memcpy(solved, made_b, operands.b.bytes);
    solve(factors, solved, RIGHT_SIDES);
    const char letter = tb_element_rows[element].letter;
    const double of_right = lapack_gesv_residual(&operands, factors, solved),
                 of_none = lapack_gesv_residual(&operands, factors, made_b),
                 of_one = lapack_gesv_residual(&operands, factors, solution_with(500)),
                 of_nan = lapack_gesv_residual(&operands, factors, solution_with((double)NAN)),
                 of_infinity = lapack_gesv_residual(&operands, factors, solution_with((double)INFINITY)),
                 of_factors = lapack_gesv_residual(&operands, factors_with(5), solved);
    CHECK(of_right < 0.5, "%cGESV: %g where the solution is right", letter, of_right);
    CHECK(of_none > 1000, "%cGESV: %g of right-hand sides that are as they were", letter, of_none);
    CHECK(of_one > 1000, "%cGESV: %g with one element wrong", letter, of_one);
    CHECK(of_nan > 1000, "%cGESV: %g with one element that is no number", letter, of_nan);
    CHECK(of_infinity > 1000, "%cGESV: %g with one element infinite", letter, of_infinity);
    CHECK(of_factors > 1000, "%cGESV: %g with one element of the factors wrong", letter, of_factors);
}

static const void *inverse_with(lapack_number value)
{
    return with(solved, operands.a.bytes, ORDER, ORDER, value);
}

static void check_inverse(tb_element element)
{
    begin(element, ORDER);
    memset(solved, 0, sizeof solved);
    for (int i = 0; i < ORDER; i++)
        put(solved, ORDER, i, i, 1);
    solve(factors, solved, ORDER);
    const char letter = tb_element_rows[element].letter;
    const double of_right = lapack_getri_residual(&operands, solved, NULL),
                 of_none = lapack_getri_residual(&operands, factors, NULL),
                 of_one = lapack_getri_residual(&operands, inverse_with(500), NULL),
                 of_nan = lapack_getri_residual(&operands, inverse_with((double)NAN), NULL),
                 of_infinity = lapack_getri_residual(&operands, inverse_with((double)INFINITY), NULL);
    CHECK(of_right < 0.5, "%cGETRI: %g where the inverse is right", letter, of_right);
    CHECK(of_none > 1000, "%cGETRI: %g of factors that are as they were", letter, of_none);
    CHECK(of_one > 1000, "%cGETRI: %g with one element wrong", letter, of_one);
    CHECK(of_nan > 1000, "%cGETRI: %g with one element that is no number", letter, of_nan);
    CHECK(of_infinity > 1000, "%cGETRI: %g with one element infinite", letter, of_infinity);
}

/* LAPACK's operation counts: 2/3 n^3, of m x n m n^2 - n^3/3; with each right-hand side 2 n^2; an inverse takes 2 n^3. */
static void check_flop(void)
{
    operands = (lapack_operands){.m = 30, .n = 30, .right_sides = 4};
    const double cube = 30 * 30 * 30, square = 30 * 30;
    CHECK(fabs(lapack_getrf_flop(&operands) - 2 * cube / 3) < 1, "GETRF: %g", lapack_getrf_flop(&operands));
    CHECK(fabs(lapack_gesv_flop(&operands) - 2 * cube / 3 - 8 * square) < 1, "GESV: %g",
          lapack_gesv_flop(&operands));
    CHECK(fabs(lapack_getri_flop(&operands) - 2 * cube) < 1, "GETRI: %g", lapack_getri_flop(&operands));
    operands.m = 90;
    CHECK(fabs(lapack_getrf_flop(&operands) - 90 * square + cube / 3) < 1, "GETRF of 90 rows: %g",
          lapack_getrf_flop(&operands));
}

int main(void)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        check_factors(element, ORDER);
        check_factors(element, ROWS);
        check_solution(element);
        check_inverse(element);
    }
    check_flop();
    return check_result();
}
