/* What the quanta of dgemm_crt go by (docs/precision.md), in double precision: of lines of numbers that are drawn, norms,
 * deficits, zeros and last bits. For crt_quanta.c.
 */
#ifndef TB_EMULATED_CRT_FORMULA_H
#define TB_EMULATED_CRT_FORMULA_H

#include "tests/emulated/crt_operands.h"
#include "words/integers.h"

/* ---- Numbers -------------------------------------------------------------------------------------------------- */

/* Some of k numbers are zeros, first ones or last ones; magnitudes of the others lie between two powers of two. But for a
 * few, which are so small that quanta are larger than their last bits. */
typedef struct shape {
    int bits;                    /* of numbers that have few; 0: all */
    double range;                /* between magnitudes, as a power of two */
    int first_zeros, last_zeros; /* 16ths of k */
} shape;

static inline double draw_number(const shape *shape, check_random *random)
{
    const double sign = check_between(random, 0, 1) ? 1 : -1;
    if (shape->bits == 0)
        return sign * exp2(shape->range * uniform(random)) * (1 + 0x1p-9 * uniform(random));
    const int64_t least = INT64_C(1) << (shape->bits - 1);
    return sign * ldexp((double)(check_between(random, least, 2 * least - 1) | 1),
                        (int)check_between(random, 0, (int64_t)shape->range - 4));
}

enum { FEW_APART = 150 };

/* One of numbers with few bits is the smallest, and one the largest by far, so that integers have range + bits + 0.6 bits. */
static inline void fill_line(lines *x, int64_t line, const shape *shape, check_random *random)
{
    const int64_t first = x->k * shape->first_zeros / 16, end = x->k - x->k * shape->last_zeros / 16;
    double *values = x->values + line * x->k;
    for (int64_t l = 0; l < x->k; l++)
        values[l] = l < first || l >= end ? 0 : draw_number(shape, random);
    for (int64_t l = first; l < end && shape->bits == 0; l += FEW_APART)
        values[l] *= 0x1p-12;
    if (shape->bits > 0) {
        values[first] = ldexp(1.5, (int)shape->range + shape->bits);
        values[end - 1] = ldexp(1.5, shape->bits - 1) + 1;
    }
    const int exponent = (int)check_between(random, -100, 100);
    for (int64_t l = 0; l < x->k; l++)
        values[l] = ldexp(values[l], exponent);
}

static inline lines draw(const shape *shape, int64_t count, int64_t k, bool embedded, bool along_k,
                         check_random *random)
{
    lines x = {.count = count, .k = k};
    x.values = malloc((size_t)(count * k) * sizeof *x.values);
    for (int64_t line = 0; line < count; line++)
        fill_line(&x, line, shape, random);
    store_lines(&x, embedded, along_k, random);
    return x;
}

/* ---- The formula ---------------------------------------------------------------------------------------------- */

/* What is known of a line; logarithms are to base 2. */
typedef struct known {
    double norm, largest, deficit;
    int64_t zeros;
    double lowest; /* of the last bit that is not 0 of any */
} known;

static inline known know(const double *values, int64_t k)
{
    known x = {.lowest = HUGE_VAL};
    double squares = 0, logarithms = 0, most = 0;
    for (int64_t l = 0; l < k; l++) {
        const double value = fabs(values[l]);
        x.zeros += value == 0;
        if (value == 0)
            continue;
        squares += value * value;
        logarithms += log2(value);
        most = fmax(most, value);
        int exponent;
        const int64_t digits = (int64_t)ldexp(frexp(value, &exponent), 53);
        x.lowest = fmin(x.lowest, exponent - 53 + __builtin_ctzll((uint64_t)digits));
    }
    x.norm = log2(squares) / 2;
    x.largest = log2(most);
    x.deficit = (double)(k - x.zeros) * x.largest - logarithms;
    return x;
}

typedef struct side {
    known *of;
    int64_t count, zeros;
    double spread; /* the most of D / t + log(|b| / B) */
} side;

static inline side know_lines(const lines *x)
{
    side all = {.of = malloc((size_t)x->count * sizeof(known)), .count = x->count};
    for (int64_t line = 0; line < x->count; line++) {
        all.of[line] = know(x->values + line * x->k, x->k);
        all.zeros = tb_larger(all.zeros, all.of[line].zeros);
    }
    return all;
}

static inline void find_spread(side *x, double terms)
{
    x->spread = -HUGE_VAL;
    for (int64_t line = 0; line < x->count; line++) {
        const known *one = &x->of[line];
        x->spread = fmax(x->spread, one->deficit / terms + one->norm - one->largest);
    }
}

#endif
