/* Whether a panel has been factored as the reference's GEQR2 and LARFT do it. Each column is what the panel's own reflectors make of it,
 * in long double, and its reflector is the one that LARFG makes of that, but for roundings: so that those of earlier columns are not
 * counted twice. Header only, for a program's one file.
 */
#ifndef TB_EMULATED_GEQRF_REFERENCE_H
#define TB_EMULATED_GEQRF_REFERENCE_H

#include "words/element.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct wide {
    long double re, im;
} wide;

/* Numbers in memory, by columns. */
typedef struct numbers {
    tb_element element;
    const void *start;
    int64_t ld;
} numbers;

typedef struct factored {
    int64_t rows, columns;
    numbers before, a, tau, t, v; /* v's start may be NULL */
    int terms; /* the most products that are added up one after the other, and the sums of those */
} factored;

/* The largest error in units of what is allowed, and where it is. */
typedef struct finding {
    long double worst;
    const char *what;
    int64_t row, column;
} finding;

static wide wide_at(numbers of, int64_t row, int64_t column)
{
    const int64_t index = row + column * of.ld;
    const double *const doubles = of.start;
    const float *const floats = of.start;
    switch (of.element) {
    case TB_FP32:
        return (wide){floats[index], 0};
    case TB_FP64:
        return (wide){doubles[index], 0};
    case TB_COMPLEX_FP32:
        return (wide){floats[2 * index], floats[2 * index + 1]};
    default:
        return (wide){doubles[2 * index], doubles[2 * index + 1]};
    }
}

static long double wide_size(wide a)
{
    return hypotl(a.re, a.im);
}

static wide wide_less(wide a, wide b)
{
    return (wide){a.re - b.re, a.im - b.im};
}

static wide wide_product(wide a, wide b)
{
    return (wide){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static wide wide_conjugate(wide a)
{
    return (wide){a.re, -a.im};
}

static wide wide_quotient(wide a, wide b)
{
    const wide scaled = {b.re / wide_size(b), -b.im / wide_size(b)}, product = wide_product(a, scaled);
    return (wide){product.re / wide_size(b), product.im / wide_size(b)};
}

/* Of so many, without overflow. */
static long double wide_norm(const wide *column, int64_t count)
{
    long double largest = 0, sum = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmaxl(largest, fmaxl(fabsl(column[i].re), fabsl(column[i].im)));
    for (int64_t i = 0; i < count && largest > 0; i++)
        sum += column[i].re / largest * (column[i].re / largest) +
               column[i].im / largest * (column[i].im / largest);
    return largest * sqrtl(sum);
}

static void note(finding *finding, long double error, long double allowed, const char *what, int64_t row,
                 int64_t column)
{
    const long double ratio = error == 0 ? 0 : error / allowed;
    if (ratio <= finding->worst)
        return;
    finding->worst = ratio;
    finding->what = what;
    finding->row = row;
    finding->column = column;
}

/* A number of a reflector. */
static wide reflector_at(const factored *x, int64_t row, int64_t column)
{
    if (row <= column)
        return (wide){row == column, 0};
    return wide_at(x->a, row, column);
}

/* v' c, from the reflector's first row on. */
static wide with_reflector(const factored *x, int64_t reflector, const wide *column)
{
    wide sum = {0, 0};
    for (int64_t i = reflector; i < x->rows; i++) {
        const wide product = wide_product(wide_conjugate(reflector_at(x, i, reflector)), column[i]);
        sum.re += product.re;
        sum.im += product.im;
    }
    return sum;
}

/* c - conj(tau) v (v' c) */
static void reflect(const factored *x, int64_t reflector, wide *column)
{
    const wide tau = wide_conjugate(wide_at(x->tau, reflector, 0)),
               taken = wide_product(tau, with_reflector(x, reflector, column));
    for (int64_t i = reflector; i < x->rows && (taken.re != 0 || taken.im != 0); i++)
        column[i] = wide_less(column[i], wide_product(reflector_at(x, i, reflector), taken));
}

/* What a step's roundings may come to, in units of the column's norm. */
static long double allowed_at(const factored *x, int64_t step)
{
    const int parts = tb_is_complex(x->a.element) ? 2 : 1;
    return (long double)tb_element_rows[x->a.element].roundoff * parts * (long double)(step + 2) *
           (x->terms + 16);
}

/* Half the distance of the smallest numbers. */
static long double least_of(tb_element element)
{
    return tb_real_of(element) == TB_FP64 ? 0x1p-1074L : 0x1p-149L;
}

/* The reflector of what has become of a column, whose norm was `size`. */
static void check_reflector(const factored *x, int64_t j, const wide *column, long double size,
                            finding *found)
{
    const wide tau = wide_at(x->tau, j, 0), diagonal = wide_at(x->a, j, j), alpha = column[j];
    const long double slack = allowed_at(x, j) * size + least_of(x->a.element),
                      below = wide_norm(column + j + 1, x->rows - j - 1),
                      norm = wide_norm(column + j, x->rows - j);
    const bool nothing_below = below == 0 && alpha.im == 0, is_exact = j == 0;
    note(found, fabsl(diagonal.im), 0, "the diagonal is not real", j, j);
    if (tau.re == 0 && tau.im == 0) {
        note(found, below + fabsl(alpha.im), is_exact ? 0 : slack, "tau is 0", j, j);
        note(found, wide_size(wide_less(diagonal, alpha)), slack, "the diagonal", j, j);
        for (int64_t i = j + 1; i < x->rows; i++)
            note(found, wide_size(wide_at(x->a, i, j)), 0, "not 0 where tau is", i, j);
        return;
    }
    note(found, is_exact && nothing_below, 0, "tau is not 0", j, j);
    const bool either_sign = fabsl(alpha.re) <= slack && !is_exact,
               is_negative = either_sign ? diagonal.re > 0 : signbit(alpha.re);
    const wide beta = {is_negative ? norm : -norm, 0}, first = wide_less(alpha, beta);
    note(found, wide_size(wide_less(diagonal, beta)), slack, "the diagonal", j, j);
    if (norm <= 4 * slack)
        return;
    note(found, wide_size(wide_less(wide_quotient(wide_less(beta, alpha), beta), tau)) * norm, slack, "tau",
         j, j);
    for (int64_t i = j + 1; i < x->rows; i++) {
        const wide wanted = wide_quotient(column[i], first), v = wide_at(x->a, i, j);
        note(found, wide_size(wide_less(wanted, v)) * wide_size(first), slack, "v", i, j);
    }
}

/* Reflectors are unitary, and T is the triangle of those before. */
static void check_triangle(const factored *x, int64_t j, wide *triangle, int64_t steps, wide *v,
                           finding *found)
{
    const wide tau = wide_at(x->tau, j, 0);
    wide products[64];
    for (int64_t i = 0; i < x->rows; i++)
        v[i] = reflector_at(x, i, j);
    const long double square = with_reflector(x, j, v).re, roundoff = allowed_at(x, j);
    note(found, fabsl(2 * tau.re - (tau.re * tau.re + tau.im * tau.im) * square), roundoff, "not unitary", j,
         j);
    for (int64_t i = 0; i < j; i++)
        products[i] = with_reflector(x, i, v);
    triangle[j + j * steps] = tau;
    for (int64_t i = 0; i < steps; i++) {
        wide sum = i == j ? tau : (wide){0, 0};
        long double size = wide_size(sum);
        for (int64_t k = i; k < j; k++) {
            const wide product = wide_product(tau, wide_product(triangle[i + k * steps], products[k]));
            sum = wide_less(sum, product);
            size += wide_size(product);
        }
        triangle[i + j * steps] = sum;
        note(found, wide_size(wide_less(wide_at(x->t, i, j), sum)), i > j ? 0 : roundoff * (1 + size), "T", i,
             j);
    }
}

/* Of the first columns, so many. */
static finding check_factored(const factored *x, int64_t columns)
{
    const int64_t steps = x->rows < x->columns ? x->rows : x->columns;
    wide *const column = malloc((size_t)x->rows * sizeof *column), *const triangle =
                                                                       calloc((size_t)(steps * steps),
                                                                              sizeof *triangle);
    finding found = {0, "nothing", -1, -1};
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < x->rows; i++)
            column[i] = wide_at(x->before, i, j);
        const long double size = wide_norm(column, x->rows);
        for (int64_t i = 0; i < j && i < steps; i++)
            reflect(x, i, column);
        for (int64_t i = 0; i < x->rows && (i < j || j >= steps); i++)
            note(&found, wide_size(wide_less(wide_at(x->a, i, j), column[i])),
                 allowed_at(x, j) * size + least_of(x->a.element), "R", i, j);
        if (j >= steps)
            continue;
        check_reflector(x, j, column, size, &found);
        check_triangle(x, j, triangle, steps, column, &found);
        for (int64_t i = 0; i < x->rows && x->v.start; i++)
            note(&found, wide_size(wide_less(wide_at(x->v, i, j), reflector_at(x, i, j))), 0, "V", i, j);
    }
    free(column);
    free(triangle);
    return found;
}

#endif
