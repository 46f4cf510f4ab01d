/* What bench/lapack says of QR's factors, as reflectors and with Q formed: right ones have a small residual, and what a broken routine
 * would leave a large one. */
#include "bench/lapack_geqrf.h"
#include "bench/lapack_orgqr.h"
#include "tests/check.h"

#include <string.h>

enum { ORDER = 40, ROWS = 56 };

/* Each of the larger size, in doubles of complex numbers. */
static double made[2 * ROWS * ORDER], factored[2 * ROWS * ORDER], formed[2 * ROWS * ORDER],
    triangle[2 * ORDER * ORDER], changed[2 * ROWS * ORDER], tau[2 * ORDER];
static lapack_operands operands;

static lapack_number at(const void *matrix, int rows, int row, int column)
{
    return lapack_read_number(operands.element, matrix, (size_t)(row + column * rows));
}

static void put(void *matrix, int rows, int row, int column, lapack_number value)
{
    lapack_write_number(operands.element, matrix, (size_t)(row + column * rows), value);
}

/* A column of the matrix := (1 - factor v v') times it, with v below another column's diagonal, and a one on that. */
static void reflect(int v, lapack_number factor, void *matrix, int column)
{
    const int m = operands.m;
    lapack_number sum = at(matrix, m, v, column);
    for (int i = v + 1; i < m; i++)
        sum += conj(at(factored, m, i, v)) * at(matrix, m, i, column);
    put(matrix, m, v, column, at(matrix, m, v, column) - factor * sum);
    for (int i = v + 1; i < m; i++)
        put(matrix, m, i, column, at(matrix, m, i, column) - at(factored, m, i, v) * factor * sum);
}

/* The column becomes v below the diagonal, and a real number on it, as LAPACK's LARFG makes it. Returns tau. */
static lapack_number make_reflector(int column)
{
    const int m = operands.m;
    const lapack_number alpha = at(factored, m, column, column);
    double squares = 0;
    for (int i = column; i < m; i++)
        squares += pow(cabs(at(factored, m, i, column)), 2);
    if (column == m - 1 && cimag(alpha) == 0)
        return 0;
    const double beta = -copysign(sqrt(squares), creal(alpha));
    for (int i = column + 1; i < m; i++)
        put(factored, m, i, column, at(factored, m, i, column) / (alpha - beta));
    put(factored, m, column, column, beta);
    return (beta - alpha) / beta;
}

static void factor(void)
{
    for (int j = 0; j < ORDER; j++) {
        const lapack_number reflected = make_reflector(j);
        lapack_write_number(operands.element, tau, (size_t)j, reflected);
        for (int column = j + 1; column < ORDER; column++)
            reflect(j, conj(reflected), factored, column);
    }
}

static void form(void)
{
    memset(formed, 0, sizeof formed);
    for (int column = 0; column < ORDER; column++) {
        put(formed, operands.m, column, column, 1);
        for (int j = ORDER - 1; j >= 0; j--)
            reflect(j, lapack_read_number(operands.element, tau, (size_t)j), formed, column);
    }
}

/* Makes the matrix, and factors it. What stands below the triangle is not looked at. */
static void begin(tb_element element, int rows)
{
    operands = (lapack_operands){.element = element,
                                 .m = rows,
                                 .n = ORDER,
                                 .a = {.bytes = (size_t)rows * ORDER * tb_bytes_of(element), .made = made},
                                 .tau = tau,
                                 .triangle = triangle};
    bench_fill_random(element, made, (size_t)rows * ORDER);
    memcpy(factored, made, operands.a.bytes);
    factor();
    form();
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++)
            put(triangle, ORDER, i, j, i > j ? (double)NAN : at(factored, rows, i, j));
}

/* The matrix with another number there. */
static const void *with(const void *right, int row, int column, lapack_number value)
{
    memcpy(changed, right, operands.a.bytes);
    put(changed, operands.m, row, column, value);
    return changed;
}

static double residual_with_tau(int place, lapack_number value)
{
    const size_t i = (size_t)place;
    const lapack_number right = lapack_read_number(operands.element, tau, i);
    lapack_write_number(operands.element, tau, i, value);
    const double residual = lapack_geqrf_residual(&operands, factored, NULL);
    lapack_write_number(operands.element, tau, i, right);
    return residual;
}

static void check_reflectors(tb_element element, int rows)
{
    begin(element, rows);
    const char letter = tb_element_rows[element].letter;
    const double of_right = lapack_geqrf_residual(&operands, factored, NULL),
                 of_none = lapack_geqrf_residual(&operands, made, NULL),
                 of_r = lapack_geqrf_residual(&operands, with(factored, 2, ORDER - 2, 9), NULL),
                 of_v = lapack_geqrf_residual(&operands, with(factored, rows - 2, 3, 9), NULL),
                 of_nan = lapack_geqrf_residual(&operands, with(factored, rows - 2, 3, (double)NAN), NULL),
                 of_tau = residual_with_tau(5, 0.1), of_tau_nan = residual_with_tau(5, (double)NAN);
    CHECK(of_right < 0.5, "%cGEQRF of %d rows: %g where the factors are right", letter, rows, of_right);
    CHECK(of_none > 1000, "%cGEQRF of %d rows: %g of a matrix that is as it was", letter, rows, of_none);
    CHECK(of_r > 1000, "%cGEQRF of %d rows: %g with one element of R wrong", letter, rows, of_r);
    CHECK(of_v > 1000, "%cGEQRF of %d rows: %g with one element of a reflector wrong", letter, rows, of_v);
    CHECK(of_nan > 1000, "%cGEQRF of %d rows: %g with one that is no number", letter, rows, of_nan);
    CHECK(of_tau > 1000, "%cGEQRF of %d rows: %g with one tau wrong", letter, rows, of_tau);
    CHECK(of_tau_nan > 1000, "%cGEQRF of %d rows: %g with a tau that is no number", letter, rows, of_tau_nan);
}

/* Q and R whose product is right, and whose first column and row are not. */
static double residual_with_scaled(double scale)
{
    memcpy(changed, formed, operands.a.bytes);
    for (int i = 0; i < operands.m; i++)
        put(changed, operands.m, i, 0, scale * at(formed, operands.m, i, 0));
    for (int j = 0; j < ORDER; j++)
        put(triangle, ORDER, 0, j, at(triangle, ORDER, 0, j) / scale);
    const double residual = lapack_orgqr_residual(&operands, changed, NULL);
    for (int j = 0; j < ORDER; j++)
        put(triangle, ORDER, 0, j, at(triangle, ORDER, 0, j) * scale);
    return residual;
}

/* Columns that are orthonormal, and not those: two of them the other way round. */
static double residual_with_exchanged(void)
{
    memcpy(changed, formed, operands.a.bytes);
    for (int i = 0; i < operands.m; i++) {
        put(changed, operands.m, i, 4, at(formed, operands.m, i, 5));
        put(changed, operands.m, i, 5, at(formed, operands.m, i, 4));
    }
    return lapack_orgqr_residual(&operands, changed, NULL);
}

static double residual_with_triangle(int row, int column, lapack_number value)
{
    const lapack_number right = at(triangle, ORDER, row, column);
    put(triangle, ORDER, row, column, value);
    const double residual = lapack_orgqr_residual(&operands, formed, NULL);
    put(triangle, ORDER, row, column, right);
    return residual;
}

static void check_formed(tb_element element, int rows)
{
    begin(element, rows);
    const char letter = tb_element_rows[element].letter;
    const double of_right = lapack_orgqr_residual(&operands, formed, NULL),
                 of_none = lapack_orgqr_residual(&operands, factored, NULL),
                 of_one = lapack_orgqr_residual(&operands, with(formed, rows - 2, 3, 0.9), NULL),
                 of_nan = lapack_orgqr_residual(&operands, with(formed, rows - 2, 3, (double)NAN), NULL),
                 of_scaled = residual_with_scaled(2), of_exchanged = residual_with_exchanged(),
                 of_r = residual_with_triangle(2, ORDER - 2, 9);
    CHECK(of_right < 0.5, "%cORGQR of %d rows: %g where Q is right", letter, rows, of_right);
    CHECK(of_none > 1000, "%cORGQR of %d rows: %g of reflectors that are as they were", letter, rows,
          of_none);
    CHECK(of_one > 1000, "%cORGQR of %d rows: %g with one element wrong", letter, rows, of_one);
    CHECK(of_nan > 1000, "%cORGQR of %d rows: %g with one that is no number", letter, rows, of_nan);
    CHECK(of_scaled > 1000, "%cORGQR of %d rows: %g with columns of another length", letter, rows, of_scaled);
    CHECK(of_exchanged > 1000, "%cORGQR of %d rows: %g with two columns exchanged", letter, rows,
          of_exchanged);
    CHECK(of_r > 1000, "%cORGQR of %d rows: %g with one element of R wrong", letter, rows, of_r);
}

/* LAPACK's operation counts: 2 m n^2 - 2/3 n^3, and as many again where Q is formed. */
static void check_flop(void)
{
    operands = (lapack_operands){.m = 30, .n = 30};
    const double cube = 30 * 30 * 30, square = 30 * 30;
    CHECK(fabs(lapack_geqrf_flop(&operands) - 4 * cube / 3) < 1, "GEQRF: %g", lapack_geqrf_flop(&operands));
    CHECK(fabs(lapack_orgqr_flop(&operands) - 8 * cube / 3) < 1, "ORGQR: %g", lapack_orgqr_flop(&operands));
    operands.m = 90;
    CHECK(fabs(lapack_geqrf_flop(&operands) - 180 * square + 2 * cube / 3) < 1, "GEQRF of 90 rows: %g",
          lapack_geqrf_flop(&operands));
}

int main(void)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        check_reflectors(element, ORDER);
        check_reflectors(element, ROWS);
        check_formed(element, ORDER);
        check_formed(element, ROWS);
    }
    check_flop();
    return check_result();
}
