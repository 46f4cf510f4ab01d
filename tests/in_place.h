/* Matrices of triangular products and solves in C's place, and by how much a result misses what was asked for. Of the matrices,
 * what must not be read is NaN, and what must not be written has CANARY in all bytes.
 *
 * Header only.
 */
#ifndef TB_IN_PLACE_H
#define TB_IN_PLACE_H

#include "tests/check.h"
#include "words/product.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANARY 0xa5

typedef long double complex number;

static inline number get(tb_element element, const void *data, int64_t at)
{
    switch (element) {
    case TB_FP32:
        return ((const float *)data)[at];
    case TB_FP64:
        return ((const double *)data)[at];
    case TB_COMPLEX_FP32:
        return ((const float complex *)data)[at];
    default:
        return ((const double complex *)data)[at];
    }
}

static inline void set(tb_element element, void *data, int64_t at, number value)
{
    switch (element) {
    case TB_FP32:
        ((float *)data)[at] = (float)creall(value);
        break;
    case TB_FP64:
        ((double *)data)[at] = (double)creall(value);
        break;
    case TB_COMPLEX_FP32:
        ((float complex *)data)[at] = (float complex)value;
        break;
    default:
        ((double complex *)data)[at] = (double complex)value;
    }
}

static inline number draw(tb_element element, check_random *random)
{
    const double re = check_uniform(random), im = check_uniform(random);
    return tb_is_complex(element) ? CMPLX(re, im) : re;
}

static inline void *filled(tb_element element, int64_t count, uint8_t byte)
{
    const size_t bytes = (size_t)count * tb_bytes_of(element);
    void *data = malloc(bytes + 1);
    memset(data, byte, bytes);
    return data;
}

/* A triangle whose solutions do not grow; the other one is NaN, and so is a diagonal of ones. */
static inline void *draw_triangle(tb_element element, int64_t order, int64_t ld, bool lower, bool unit,
                                  check_random *random)
{
    void *a = filled(element, ld * order, 0xff);
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i < order; i++)
            if (i == j && !unit)
                set(element, a, i + j * ld, 2 + draw(element, random));
            else if (i != j && (i > j) == lower)
                set(element, a, i + j * ld, draw(element, random) / sqrt((double)order));
    return a;
}

static inline void *draw_c(tb_element element, int64_t m, int64_t n, int64_t ld, check_random *random)
{
    void *c = filled(element, ld * n, CANARY);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            set(element, c, i + j * ld, draw(element, random));
    return c;
}

/* An element of op(A). */
static inline number triangle_at(const tb_operand *a, int64_t i, int64_t j)
{
    const int64_t row = a->transposed ? j : i, column = a->transposed ? i : j;
    if (row == column && a->unit_diagonal)
        return 1;
    if (row != column && (row > column) != (a->stored == TB_LOWER))
        return 0;
    const number x = get(a->element, a->data, row + column * a->ld);
    return a->conjugated ? conjl(x) : x;
}

static inline bool is_finite(number x)
{
    return isfinite((double)creall(x)) && isfinite((double)cimagl(x));
}

/* Infinities and NaN in a few of C's numbers; of a complex one in a part of it. */
static inline void spoil(const tb_product *p, check_random *random)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (int count = (int)check_between(random, 1, 4); count > 0 && p->m > 0 && p->n > 0; count--) {
        const int64_t at = check_between(random, 0, p->m - 1) + check_between(random, 0, p->n - 1) * p->c.ld;
        const bool im = tb_is_complex(p->c.element) && check_between(random, 0, 1);
        const double x = CHECK_PICK(random, values);
        set(p->c.element, p->c.data, at, im ? CMPLX(1, x) : CMPLX(x, 1));
    }
}

/* A sum of parts, as multiply-adds have it: what a complex multiplication of C makes of infinities is something else. */
static inline void add_term(double (*sum)[2], number a, number x)
{
    const double re = (double)creall(a), im = (double)cimagl(a), x_re = (double)creall(x),
                 x_im = (double)cimagl(x);
    (*sum)[0] += re * x_re - im * x_im;
    (*sum)[1] += re * x_im + im * x_re;
}

static inline bool has_class_of(double x, double expected)
{
    if (isfinite(x) && isfinite(expected))
        return true;
    return isnan(expected) ? isnan(x) : x == expected;
}

/* Whether of a product's numbers those are finite, infinite and NaN that are where nothing but what is stored of the triangle is
 * multiplied; of complex ones, whether those are finite. */
static inline bool has_right_classes(const tb_product *p, const void *before, const void *after)
{
    const bool left = tb_is_triangle_left(p), is_complex = tb_is_complex(p->c.element);
    const tb_operand *a = left ? &p->a : &p->b;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            const int64_t own = left ? i : j;
            const bool lower = (a->stored == TB_LOWER) != (a->transposed == left);
            double sum[2] = {0, 0};
            for (int64_t l = lower ? 0 : own; l < (lower ? own + 1 : p->k); l++)
                add_term(&sum, left ? triangle_at(a, i, l) : triangle_at(a, l, j),
                         get(a->element, before, left ? l + j * p->c.ld : i + l * p->c.ld));
            const number c = get(a->element, after, i + j * p->c.ld);
            if (tb_is_zero(p->alpha))
                sum[0] = sum[1] = 0;
            const bool right = is_complex ? is_finite(c) == is_finite(CMPLX(sum[0], sum[1]))
                                          : has_class_of((double)creall(c), p->alpha.re * sum[0]);
            if (!right)
                return false;
        }
    return true;
}

/* How much alpha B, or X, is missed by, in units of u |op(A)| |X|. */
typedef struct missed {
    double largest, rms;
} missed;

/* B before, and X after; of a product the other way round. */
static inline missed miss(const tb_product *p, const void *before, const void *after)
{
    const bool left = tb_is_triangle_left(p), solves = p->in_place == TB_SOLVES;
    const tb_operand *a = left ? &p->a : &p->b;
    const tb_element element = a->element;
    const void *factor = solves ? after : before, *other = solves ? before : after;
    const number alpha = CMPLXL(p->alpha.re, p->alpha.im);
    double largest = 0, squares = 0;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            number sum = 0;
            long double size = 0;
            for (int64_t l = 0; l < p->k; l++) {
                const number x = left ? triangle_at(a, i, l) : triangle_at(a, l, j);
                if (x == 0)
                    continue;
                const number term = x * get(element, factor, left ? l + j * p->c.ld : i + l * p->c.ld);
                sum += term;
                size += cabsl(term);
            }
            if (!solves && !is_finite(sum)) /* has_right_classes looks at these */
                continue;
            const number c = get(element, other, i + j * p->c.ld);
            const long double difference = solves ? cabsl(sum - alpha * c) : cabsl(alpha * sum - c);
            const double units =
                (double)(difference == 0 ? 0 : difference / size) / tb_element_rows[element].roundoff;
            if (!(units <= largest))
                largest = isnan(units) ? INFINITY : units;
            squares += units * units;
        }
    return (missed){largest, sqrt(squares / fmax(1, (double)p->m * (double)p->n))};
}

static inline bool gaps_are_untouched(const tb_product *p)
{
    const size_t bytes = tb_bytes_of(p->c.element);
    for (int64_t j = 0; j < p->n; j++)
        for (size_t at = (size_t)p->m * bytes; at < (size_t)p->c.ld * bytes; at++)
            if (((const unsigned char *)tb_at(&p->c.matrix, 0, j))[at] != CANARY)
                return false;
    return true;
}

#endif
