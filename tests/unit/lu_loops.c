/* LU by portable loops, and exchanges of rows on the host: of every element, with numbers of rows of 32 and of 64 bits. Pivots are those of
 * the reference's rule, and the factors' product is the matrix; exchanges are compared with what is done one number after the other.
 */
#include "lib/call/portable_panel.h"
#include "tests/check.h"
#include "words/integers.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GAP = 0x5a, POSITION = 1000 };

static int parts_of(tb_element element)
{
    return tb_is_complex(element) ? 2 : 1;
}

static double part_of(const tb_matrix *a, int64_t row, int64_t column, int part)
{
    const void *there = tb_at(a, row, column);
    if (part >= parts_of(a->element))
        return 0;
    return tb_real_of(a->element) == TB_FP64 ? ((const double *)there)[part]
                                             : (double)((const float *)there)[part];
}

static void put(const tb_matrix *a, int64_t row, int64_t column, double re, double im)
{
    const double parts[] = {re, im};
    void *there = tb_at(a, row, column);
    for (int part = 0; part < parts_of(a->element); part++)
        if (tb_real_of(a->element) == TB_FP64)
            ((double *)there)[part] = parts[part];
        else
            ((float *)there)[part] = (float)parts[part];
}

static size_t bytes_of(const tb_matrix *a)
{
    return (size_t)(a->ld * a->columns) * tb_bytes_of(a->element);
}

static tb_matrix make_matrix(tb_element element, int64_t rows, int64_t columns, int64_t ld)
{
    tb_matrix a = {.rows = rows, .columns = columns, .ld = ld, .element = element};
    a.data = malloc(bytes_of(&a));
    memset(a.data, GAP, bytes_of(&a));
    return a;
}

static tb_matrix copy_of(const tb_matrix *a)
{
    tb_matrix copy = *a;
    copy.data = malloc(bytes_of(a));
    memcpy(copy.data, a->data, bytes_of(a));
    return copy;
}

static void fill(const tb_matrix *a, check_random *random)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            put(a, i, j, (double)check_uniform(random), (double)check_uniform(random));
}

static bool gaps_are_kept(const tb_matrix *a)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (const char *gap = tb_at(a, a->rows, j); gap < (const char *)tb_at(a, 0, j + 1); gap++)
            if (*gap != GAP)
                return false;
    return true;
}

/* Numbers of so many bits, one of which, behind them, is kept. */
static tb_pivots make_pivots(int bits, int64_t count)
{
    const tb_pivots pivots = {malloc((size_t)(count + 1) * sizeof(int64_t)), bits};
    tb_set_pivot(pivots, count, -7);
    return pivots;
}

/* ---- Factors ------------------------------------------------------------------------------------------------ */

static void swap_rows(const tb_matrix *a, int64_t one, int64_t other)
{
    for (int64_t j = 0; j < a->columns; j++) {
        const double re = part_of(a, one, j, 0), im = part_of(a, one, j, 1);
        put(a, one, j, part_of(a, other, j, 0), part_of(a, other, j, 1));
        put(a, other, j, re, im);
    }
}

typedef struct sum {
    long double re, im, sizes;
} sum;

static void add(sum *sum, const double x[2], const double y[2])
{
    sum->re += (long double)x[0] * y[0] - (long double)x[1] * y[1];
    sum->im += (long double)x[0] * y[1] + (long double)x[1] * y[0];
    sum->sizes += (fabsl(x[0]) + fabsl(x[1])) * (fabsl(y[0]) + fabsl(y[1]));
}

static sum product_at(const tb_matrix *factors, int64_t row, int64_t column)
{
    sum all = {0, 0, 0};
    for (int64_t k = 0; k <= row && k <= column; k++) {
        const double u[] = {part_of(factors, k, column, 0), part_of(factors, k, column, 1)},
                     l[] = {k == row ? 1 : part_of(factors, row, k, 0),
                            k == row ? 0 : part_of(factors, row, k, 1)};
        add(&all, l, u);
    }
    return all;
}

/* By Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.3, with a few roundings more of quotients by reciprocals. No
 * multiplier is larger than 1, but for those. */
static void check_factors(const tb_matrix *factors, const tb_matrix *before, tb_pivots pivots)
{
    const double roundoff = tb_element_rows[before->element].roundoff;
    const int64_t steps = tb_smaller(before->rows, before->columns);
    for (int64_t j = 0; j < steps; j++)
        swap_rows(before, j, tb_pivot_at(pivots, j) - POSITION - 1);
    for (int64_t j = 0; j < before->columns; j++)
        for (int64_t i = 0; i < before->rows; i++) {
            const sum found = product_at(factors, i, j);
            const double off = (double)(fabsl(found.re - part_of(before, i, j, 0)) +
                                        fabsl(found.im - part_of(before, i, j, 1))),
                         allowed = 2 * (double)(j + 8) * roundoff * (double)found.sizes,
                         l = fabs(part_of(factors, i, j, 0)) + fabs(part_of(factors, i, j, 1));
            if (!CHECK(off <= allowed && (i <= j || l <= 2), "(%d, %d) is off by %g, allowed %g; it is %g",
                       (int)i, (int)j, off, allowed, l))
                return;
        }
}

static void factors(tb_element element, int64_t rows, int64_t columns, int bits, check_random *random)
{
    static const tb_routine routines[TB_ELEMENTS] = {[TB_FP32] = TB_SGETRF,
                                                     [TB_FP64] = TB_DGETRF,
                                                     [TB_COMPLEX_FP32] = TB_CGETRF,
                                                     [TB_COMPLEX_FP64] = TB_ZGETRF};
    const int64_t steps = tb_smaller(rows, columns);
    const tb_matrix a = make_matrix(element, rows, columns, rows + check_between(random, 0, 3));
    const tb_pivots pivots = make_pivots(bits, steps);
    fill(&a, random);
    const tb_matrix before = copy_of(&a);
    const tb_factor block = tb_getrf(routines[element], rows, columns, a.data, a.ld, pivots, NULL);
    const int64_t info = tb_eliminate_by_loops(&block, POSITION);
    CHECK(info == 0 && gaps_are_kept(&a) && tb_pivot_at(pivots, steps) == -7,
          "%d x %d of %d: info is %d, or something else was written", (int)rows, (int)columns, (int)element,
          (int)info);
    bool are_below = true;
    for (int64_t j = 0; j < steps; j++) {
        const int64_t row = tb_pivot_at(pivots, j) - POSITION;
        are_below = are_below && row > j && row <= rows;
    }
    if (CHECK(are_below, "a pivot is no row below"))
        check_factors(&a, &before, pivots);
    free(a.data);
    free(before.data);
    free(pivots.data);
}

/* ---- One column, of which all is exact ---------------------------------------------------------------------- */

typedef struct column {
    const char *what;
    double re[4], im[4];
    int pivot; /* from 1; of complex numbers */
    int pivot_of_reals, info;
} column;

static const column columns[] = {
    {"of equals the first", {1, -4, 4, 4}, {0}, 2, 2, 0},
    {"|re| + |im|", {3, 2, 0, 2}, {0, 2, -4, -2}, 2, 1, 0},
    {"no number but the first", {1, NAN, 2, NAN}, {0}, 3, 3, 0},
    {"no number first", {NAN, 8, 2, INFINITY}, {0}, 1, 1, 0},
    {"infinite", {1, -INFINITY, INFINITY, 2}, {0}, 2, 2, 0},
    {"all are 0", {0, -0.0, 0, 0}, {0}, 1, 1, 1},
    {"the first is 0", {0, 0, -0.5, 0}, {0}, 3, 3, 0},
};

static void one_column(const column *column, tb_element element)
{
    const tb_matrix a = make_matrix(element, 4, 1, 4);
    int32_t pivot = 0;
    for (int64_t i = 0; i < 4; i++)
        put(&a, i, 0, column->re[i], column->im[i]);
    const tb_factor block = tb_getrf(TB_DGETRF, 4, 1, a.data, 4, (tb_pivots){&pivot, 32}, NULL);
    tb_factor own = block;
    own.a.element = element;
    const int64_t info = tb_eliminate_by_loops(&own, POSITION);
    const int wanted = tb_is_complex(element) ? column->pivot : column->pivot_of_reals;
    CHECK(pivot == POSITION + wanted && info == column->info, "%s, element %d: the pivot is row %d, info %d",
          column->what, (int)element, (int)pivot - POSITION, (int)info);
    if (info != 0)
        for (int64_t i = 0; i < 4; i++)
            CHECK(part_of(&a, i, 0, 0) == 0, "%s: divided by 0", column->what);
    free(a.data);
}

/* A pivot that is too small to have a reciprocal. */
static void tiny_pivots(tb_element element)
{
    const double tiny = (tb_real_of(element) == TB_FP64 ? DBL_MIN : (double)FLT_MIN) / 8;
    const tb_matrix a = make_matrix(element, 2, 1, 2);
    int32_t pivot = 0;
    put(&a, 0, 0, tiny, 0);
    put(&a, 1, 0, -tiny / 2, 0);
    tb_factor block = tb_getrf(TB_DGETRF, 2, 1, a.data, 2, (tb_pivots){&pivot, 32}, NULL);
    block.a.element = element;
    CHECK(tb_eliminate_by_loops(&block, 0) == 0 && part_of(&a, 1, 0, 0) == -0.5,
          "element %d: a tiny pivot makes %g", (int)element, part_of(&a, 1, 0, 0));
    free(a.data);
}

/* Elimination goes on. */
static void a_pivot_is_zero(tb_element element)
{
    static const double numbers[3][3] = {{2, 1, 4}, {4, 2, 4}, {0, 0, 8}};
    static const double wanted[3][3] = {{4, 2, 4}, {0.5, 0, 2}, {0, 0, 8}};
    const tb_matrix a = make_matrix(element, 3, 3, 3);
    int64_t pivots[3];
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++)
            put(&a, i, j, numbers[i][j], 0);
    tb_factor block = tb_getrf(TB_DGETRF, 3, 3, a.data, 3, (tb_pivots){pivots, 64}, NULL);
    block.a.element = element;
    CHECK(tb_eliminate_by_loops(&block, 0) == 2 && pivots[0] == 2 && pivots[1] == 2 && pivots[2] == 3,
          "element %d: pivots %d, %d, %d", (int)element, (int)pivots[0], (int)pivots[1], (int)pivots[2]);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++)
            CHECK(part_of(&a, i, j, 0) == wanted[i][j], "(%d, %d) is %g", (int)i, (int)j,
                  part_of(&a, i, j, 0));
    free(a.data);
}

/* ---- Exchanges ---------------------------------------------------------------------------------------------- */

static int64_t draw_row(int64_t rows, check_random *random)
{
    const int64_t none[] = {0, -1, rows + 1, INT32_MAX};
    return check_between(random, 0, 9) == 0 ? CHECK_PICK(random, none) : check_between(random, 1, rows);
}

static void exchanges(tb_element element, int bits, bool backwards, check_random *random)
{
    const int64_t rows = check_between(random, 1, 60), columns = check_between(random, 0, 7),
                  first = check_between(random, 0, rows), count = check_between(random, 0, rows - first);
    const tb_matrix a = make_matrix(element, rows, columns, rows + check_between(random, 0, 2));
    const tb_pivots pivots = make_pivots(bits, count);
    fill(&a, random);
    const tb_matrix expected = copy_of(&a);
    for (int64_t i = 0; i < count; i++)
        tb_set_pivot(pivots, i, draw_row(rows, random));
    for (int64_t i = 0; i < count; i++) {
        const int64_t step = backwards ? count - 1 - i : i, row = tb_pivot_at(pivots, step) - 1;
        if (row >= 0 && row < rows)
            swap_rows(&expected, first + step, row);
    }
    const tb_row_exchange exchange = {
        .matrix = a, .first = first, .count = count, .pivots = pivots, .backwards = backwards};
    tb_exchange_rows(&exchange);
    CHECK(memcmp(a.data, expected.data, bytes_of(&a)) == 0,
          "%d x %d of %d, rows from %d, %d: other rows were exchanged", (int)rows, (int)columns, (int)element,
          (int)first, (int)count);
    free(a.data);
    free(expected.data);
    free(pivots.data);
}

int main(void)
{
    static const int64_t sizes[] = {1, 2, 5, 32, 61};
    check_random random = {check_seed()};
    for (int i = 0; i < TB_ELEMENTS; i++) {
        const tb_element element = (tb_element)i;
        for (int size = 0; size < 25; size++)
            factors(element, sizes[size / 5], sizes[size % 5], size % 2 ? 32 : 64, &random);
        for (size_t column = 0; column < sizeof columns / sizeof *columns; column++)
            one_column(&columns[column], element);
        tiny_pivots(element);
        a_pivot_is_zero(element);
        for (int times = 0; times < 200; times++)
            exchanges(element, times % 2 ? 32 : 64, times % 4 < 2, &random);
    }
    return check_result();
}
