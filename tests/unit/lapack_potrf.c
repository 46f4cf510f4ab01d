/* What bench/lapack says of a Cholesky factor: a right one has a small residual, and what a broken routine would leave a large one. */
#include "bench/lapack_potrf.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { ORDER = 40 };

/* A number of any element. */
typedef struct pair {
    double re, im;
} pair;

static lapack_operands operands;

static size_t index_of(int row, int column)
{
    return (size_t)row + (size_t)column * ORDER;
}

static pair read_pair(const void *matrix, int row, int column)
{
    const size_t i = index_of(row, column);
    const float *floats = matrix;
    const double *doubles = matrix;
    switch (operands.element) {
    case TB_FP32:
        return (pair){(double)floats[i], 0};
    case TB_FP64:
        return (pair){doubles[i], 0};
    case TB_COMPLEX_FP32:
        return (pair){(double)floats[2 * i], (double)floats[2 * i + 1]};
    default:
        return (pair){doubles[2 * i], doubles[2 * i + 1]};
    }
}

static void write_pair(void *matrix, int row, int column, pair value)
{
    const size_t i = index_of(row, column);
    float *floats = matrix;
    double *doubles = matrix;
    if (operands.element == TB_FP32) {
        floats[i] = (float)value.re;
    } else if (operands.element == TB_FP64) {
        doubles[i] = value.re;
    } else if (operands.element == TB_COMPLEX_FP32) {
        floats[2 * i] = (float)value.re;
        floats[2 * i + 1] = (float)value.im;
    } else {
        memcpy(&doubles[2 * i], &value, sizeof value);
    }
}

/* Of the lower triangle, which U' is where the upper one is stored. */
static pair read_lower(const void *matrix, int row, int column)
{
    const pair stored = operands.upper ? read_pair(matrix, column, row) : read_pair(matrix, row, column);
    return (pair){stored.re, operands.upper ? -stored.im : stored.im};
}

static void write_lower(void *matrix, int row, int column, pair value)
{
    if (operands.upper)
        write_pair(matrix, column, row, (pair){value.re, -value.im});
    else
        write_pair(matrix, row, column, value);
}

/* By the definition, a column after the other. */
static void factor(void *a)
{
    for (int j = 0; j < ORDER; j++)
        for (int i = j; i < ORDER; i++) {
            pair sum = read_lower(a, i, j);
            for (int k = 0; k < j; k++) {
                const pair x = read_lower(a, i, k), y = read_lower(a, j, k);
                sum.re -= x.re * y.re + x.im * y.im;
                sum.im -= x.im * y.re - x.re * y.im;
            }
            const double root = i == j ? sqrt(sum.re) : read_lower(a, j, j).re;
            write_lower(a, i, j, i == j ? (pair){root, 0} : (pair){sum.re / root, sum.im / root});
        }
}

/* The residual of the factor with one element of its last column but two, or its row, instead. */
static double residual_with(const void *right, void *changed, pair value)
{
    memcpy(changed, right, operands.a.bytes);
    write_lower(changed, ORDER - 2, ORDER - 3, value);
    return lapack_potrf_residual(&operands, changed, NULL);
}

static void check_residuals(tb_element element, bool upper)
{
    static double made[2 * ORDER * ORDER], right[2 * ORDER * ORDER], changed[2 * ORDER * ORDER];
    operands = (lapack_operands){.element = element, .upper = upper, .n = ORDER, .a.made = made};
    operands.a.bytes = ORDER * ORDER * tb_bytes_of(element);
    bench_fill_random(element, made, ORDER * ORDER);
    lapack_potrf_make(&operands, made);
    memcpy(right, made, operands.a.bytes);
    factor(right);
    const char letter = tb_element_rows[element].letter, *triangle = upper ? "upper" : "lower";
    const double of_right = lapack_potrf_residual(&operands, right, NULL),
                 of_none = lapack_potrf_residual(&operands, made, NULL),
                 of_one = residual_with(right, changed, (pair){5, 5}),
                 of_nan = residual_with(right, changed, (pair){(double)NAN, 0});
    CHECK(of_right < 0.5, "%cPOTRF, %s: %g where the factor is right", letter, triangle, of_right);
    CHECK(of_none > 1000, "%cPOTRF, %s: %g of a matrix that is as it was", letter, triangle, of_none);
    CHECK(of_one > 1000, "%cPOTRF, %s: %g with one element wrong", letter, triangle, of_one);
    CHECK(of_nan > 1000, "%cPOTRF, %s: %g with one element that is no number", letter, triangle, of_nan);
}

/* What is not stored is not looked at. */
static void check_other_triangle(void)
{
    static double made[ORDER * ORDER], right[ORDER * ORDER];
    operands = (lapack_operands){.element = TB_FP64, .n = ORDER, .a = {.bytes = sizeof made, .made = made}};
    bench_fill_random(TB_FP64, made, ORDER * ORDER);
    lapack_potrf_make(&operands, made);
    memcpy(right, made, sizeof made);
    factor(right);
    made[index_of(0, 1)] = right[index_of(3, 7)] = (double)NAN;
    const double residual = lapack_potrf_residual(&operands, right, NULL);
    CHECK(residual < 0.5, "%g with other numbers above the lower triangle", residual);
}

int main(void)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        check_residuals(element, false);
        check_residuals(element, true);
    }
    check_other_triangle();
    return check_result();
}
