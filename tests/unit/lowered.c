/* Lowering (words/lowered.h): the real product of what is written out is the product that was given, of complex numbers, of
 * symmetric and Hermitian matrices, under masks and with two terms. All numbers are small and whole, so that both are exact;
 * what must not be read is NaN.
 */
#include "tests/check.h"
#include "tests/unit/products.h"
#include "words/lowered.h"

#include <complex.h>
#include <string.h>

enum { MOST = 6, GAP = 2, PRODUCTS = 20000, ROOM = 4 * (2 * MOST) * (2 * MOST + GAP) };

typedef double _Complex number;

/* A matrix has room for what is written out as well. */
typedef struct matrix {
    double room[ROOM];
} matrix;

static double get_part(const void *at, tb_element real, int64_t part)
{
    return real == TB_FP64 ? ((const double *)at)[part] : (double)((const float *)at)[part];
}

static void set_part(void *at, tb_element real, int64_t part, double value)
{
    if (real == TB_FP64)
        ((double *)at)[part] = value;
    else
        ((float *)at)[part] = (float)value;
}

static number get(const tb_matrix *x, int64_t i, int64_t j)
{
    const void *at = tb_at(x, i, j);
    const tb_element real = tb_real_of(x->element);
    return CMPLX(get_part(at, real, 0), tb_is_complex(x->element) ? get_part(at, real, 1) : 0);
}

static void set(const tb_matrix *x, int64_t i, int64_t j, number value)
{
    void *at = tb_at(x, i, j);
    set_part(at, tb_real_of(x->element), 0, creal(value));
    if (tb_is_complex(x->element))
        set_part(at, tb_real_of(x->element), 1, cimag(value));
}

/* Element (i, j) of op(X), from the definitions. */
static number value_of(const tb_operand *x, int64_t i, int64_t j)
{
    const int64_t row = x->transposed ? j : i, column = x->transposed ? i : j,
                  down = row + x->diagonal - column;
    number value;
    if (x->structure == TB_GENERAL) {
        value = get(&x->matrix, row, column);
        return x->conjugated ? conj(value) : value;
    }
    const bool mirrored = x->stored == TB_LOWER ? down < 0 : down > 0;
    value =
        mirrored ? get(&x->matrix, column - x->diagonal, row + x->diagonal) : get(&x->matrix, row, column);
    if (x->structure == TB_HERMITIAN)
        value = down == 0 ? creal(value) : mirrored ? conj(value) : value;
    return value;
}

/* ---- Random products -------------------------------------------------------------------------------------- */

static number random_number(check_random *random, tb_element element)
{
    const double re = (double)check_between(random, -3, 3), im = (double)check_between(random, -3, 3);
    return CMPLX(re, tb_is_complex(element) ? im : 0);
}

static void fill(check_random *random, const tb_operand *x)
{
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            number value = random_number(random, x->element);
            if (x->structure != TB_GENERAL && (x->stored == TB_LOWER ? i < j : i > j))
                value = CMPLX(NAN, NAN);
            if (x->structure == TB_HERMITIAN && i == j)
                value = CMPLX(creal(value), NAN);
            set(&x->matrix, i, j, value);
        }
}

static tb_scalar random_scalar(check_random *random, tb_element element)
{
    const number value = random_number(random, element);
    return (tb_scalar){creal(value), cimag(value)};
}

static void conjugate_at_random(check_random *random, tb_operand *x)
{
    x->conjugated = tb_is_complex(x->element) && check_between(random, 0, 1);
}

static tb_product random_symm(check_random *random, matrix *of)
{
    static const tb_routine routines[] = {TB_SSYMM, TB_DSYMM, TB_CSYMM, TB_ZSYMM, TB_CHEMM, TB_ZHEMM};
    const int64_t m = check_between(random, 1, MOST), n = check_between(random, 1, MOST);
    const bool left = check_between(random, 0, 1);
    return tb_symm(CHECK_PICK(random, routines), left, check_between(random, 0, 1) ? TB_LOWER : TB_UPPER, m,
                   n, 0, of[0].room, (left ? m : n) + GAP, of[1].room, m + GAP, 0, of[2].room, m + GAP);
}

/* General operands; under a mask, and with two terms. */
static tb_product random_gemm(check_random *random, matrix *of)
{
    static const tb_routine routines[] = {TB_SGEMM, TB_DGEMM, TB_CGEMM, TB_ZGEMM};
    const bool two = check_between(random, 0, 1);
    const int64_t n = check_between(random, 1, MOST), m = two ? n : check_between(random, 1, MOST),
                  k = check_between(random, 1, MOST);
    tb_product product =
        tb_gemm(CHECK_PICK(random, routines), check_between(random, 0, 1), check_between(random, 0, 1), m, n,
                k, 0, of[0].room, MOST + GAP, of[1].room, MOST + GAP, 0, of[2].room, m + GAP);
    conjugate_at_random(random, &product.a);
    conjugate_at_random(random, &product.b);
    product.terms = two ? 2 : (int)check_between(random, 0, 1);
    if (two)
        product.c.structure =
            tb_is_complex(product.c.element) && check_between(random, 0, 1) ? TB_HERMITIAN : TB_SYMMETRIC;
    return product_masked(product, (int)check_between(random, 0, 2), check_between(random, 0, m + n));
}

static tb_product random_product(check_random *random, matrix *of)
{
    tb_product product = check_between(random, 0, 1) ? random_symm(random, of) : random_gemm(random, of);
    product.alpha = random_scalar(random, product.c.element);
    product.beta = (tb_scalar){(double)check_between(random, -2, 2), 0};
    fill(random, &product.a);
    fill(random, &product.b);
    return product;
}

/* ---- Both ways -------------------------------------------------------------------------------------------- */

/* op(A) op(B), and with two terms what mirrors it. */
static number sum_of(const tb_product *p, int64_t i, int64_t j)
{
    const number alpha = CMPLX(p->alpha.re, p->alpha.im);
    const bool hermitian = p->c.structure == TB_HERMITIAN;
    number sum = 0, other = 0;
    for (int64_t l = 0; l < p->k; l++) {
        sum += value_of(&p->a, i, l) * value_of(&p->b, l, j);
        if (p->terms == 2)
            other += value_of(&p->a, j, l) * value_of(&p->b, l, i);
    }
    return alpha * sum + (hermitian ? conj(alpha * other) : alpha * other);
}

static void multiply(const tb_product *p)
{
    for (int64_t j = 0; j < p->n; j++) {
        const tb_range rows = tb_masked_rows(p, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++)
            set(&p->c.matrix, i, j, sum_of(p, i, j) + p->beta.re * get(&p->c.matrix, i, j));
    }
}

static void expand(const tb_expansion *x)
{
    const bool is_complex = tb_is_complex(x->source.element);
    const int64_t rows = x->target.rows / (is_complex ? 2 : 1),
                  columns = x->target.columns / (x->embedded ? 2 : 1);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) {
            const number value = CMPLX(x->factor.re, x->factor.im) * value_of(&x->source, i, j);
            if (!is_complex) {
                set(&x->target, i, j, value);
                continue;
            }
            const int64_t column = x->embedded ? 2 * j : j;
            set(&x->target, 2 * i, column, creal(value));
            set(&x->target, 2 * i + 1, column, cimag(value));
            if (x->embedded) {
                set(&x->target, 2 * i, column + 1, -cimag(value));
                set(&x->target, 2 * i + 1, column + 1, creal(value));
            }
        }
}

/* Expands in four parts, which begin where numbers do. */
static void expand_in_parts(check_random *random, const tb_expansion *x)
{
    const int64_t of_row = tb_is_complex(x->source.element) ? 2 : 1, of_column = x->embedded ? 2 : 1;
    const int64_t rows = x->target.rows, columns = x->target.columns;
    const int64_t row = of_row * check_between(random, 0, rows / of_row),
                  column = of_column * check_between(random, 0, columns / of_column);
    const tb_range down[] = {{0, row}, {row, rows - row}},
                   across[] = {{0, column}, {column, columns - column}};
    for (int i = 0; i < 4; i++) {
        const tb_expansion part = tb_expansion_part(x, down[i / 2], across[i % 2]);
        expand(&part);
    }
}

static tb_product lower(check_random *random, const tb_product *given, matrix *expanded)
{
    tb_product lowered = tb_lowered(given);
    for (tb_role role = TB_A; role <= TB_B; role++) {
        if (!tb_is_expanded(given, role))
            continue;
        lowered.operands[role].data = expanded[role].room;
        for (int term = 0; term < tb_terms_of(given); term++) {
            const tb_expansion expansion = tb_expansion_of(given, &lowered, role, term);
            expand_in_parts(random, &expansion);
        }
    }
    return lowered;
}

static bool is_real_and_general(const tb_product *p)
{
    return tb_is_plain(p) && p->alpha.im == 0 && p->beta.im == 0 && !p->a.conjugated && !p->b.conjugated &&
           p->a.element == p->c.element && p->b.element == p->c.element;
}

/* Elements that differ, wherever they lie. Zeros are equal whatever their sign. */
static int64_t count_differences(const matrix *x, const matrix *y, tb_element real)
{
    int64_t differences = 0;
    for (int64_t at = 0; at < ROOM; at++)
        differences += !(get_part(x->room, real, at) == get_part(y->room, real, at));
    return differences;
}

static void lowered_products_are_what_was_given(void)
{
    static matrix of[3], expanded[2], result, start;
    check_random random = {.state = check_seed()};
    for (int i = 0; i < PRODUCTS; i++) {
        const tb_product given = random_product(&random, of);
        memset(&start, 0, sizeof start);
        for (size_t at = 0; at < ROOM; at++)
            set_part(start.room, tb_real_of(given.c.element), (int64_t)at,
                     (double)check_between(&random, -3, 3));

        of[2] = start;
        const tb_product lowered = lower(&random, &given, expanded);
        multiply(&lowered);
        result = of[2];
        of[2] = start;
        multiply(&given);
        const char *name = tb_routine_rows[given.routine].name;
        CHECK(is_real_and_general(&lowered), "product %d, %s: not a real one of general matrices", i, name);
        const int64_t differences = count_differences(&result, &of[2], tb_real_of(given.c.element));
        CHECK(differences == 0,
              "product %d, %s: %d x %d x %d, %d terms, mask %d, diagonal %d: %d elements differ", i, name,
              (int)given.m, (int)given.n, (int)given.k, given.terms, given.mask, (int)given.diagonal,
              (int)differences);
        CHECK(tb_volume(&lowered) == tb_volume(&given), "product %d, %s: %g multiply-adds", i, name,
              tb_volume(&lowered));
    }
}

int main(void)
{
    lowered_products_are_what_was_given();
    return check_result();
}
