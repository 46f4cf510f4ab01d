/* Operands for products by dgemm_crt on the host (crt.c): numbers of families that integers serve, and of such that they do not,
 * in memory that ends where none may be touched.
 */
#ifndef TB_EMULATED_CRT_OPERANDS_H
#define TB_EMULATED_CRT_OPERANDS_H

#include "tests/check.h"
#include "tests/emulated/guarded.h"

#include <math.h>

/* ---- Lines: rows of op(A), or columns of op(B) --------------------------------------------------------------- */

typedef enum kind { INTEGERS, REALS, STRANGE } kind;

typedef struct family {
    const char *name;
    kind kind;
    int bits;
    int exponents;  /* of lines, up and down */
    int zeros;      /* of 100 numbers */
    double strange; /* one number; and what the others are multiplied by, see spread */
    double spread;  /* reals are (u - 1/2) exp(spread (u - 1/2)), or 1 + u where it is 0 */
} family;

static const family families[] = {
    {"signs", INTEGERS, 1, 0, 0, 0, 0},
    {"24 bits", INTEGERS, 24, 100, 0, 0, 0},
    {"40 bits", INTEGERS, 40, 400, 0, 0, 0},
    {"sparse", INTEGERS, 45, 300, 90, 0, 0},
    {"nothing but zeros", INTEGERS, 8, 0, 100, 0, 0},
    {"reals", REALS, 53, 300, 0, 0, 1},
    {"positive", REALS, 53, 0, 0, 0, 0},
    {"less alike", REALS, 0, 0, 0, 0, 6},
    {"reals and zeros", REALS, 0, 0, 10, 0, 1},
    {"spread", STRANGE, 0, 0, 0, 0, 150},
    {"infinite", STRANGE, 0, 0, 0, INFINITY, 1},
    {"NaN", STRANGE, 0, 0, 0, NAN, 1},
    {"subnormal", STRANGE, 0, 0, 0, 0x1p-1074, 1},
    {"large", STRANGE, 0, 0, 0, 0x1p500, 1},
    {"large by far", STRANGE, 0, 0, 0, 0x1p60, 1},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* What no integers are made of, whatever is beside it. */
static inline bool is_beyond(const family *family)
{
    return family->strange != 0 && !(fabs(family->strange) > 0x1p-400 && fabs(family->strange) < 0x1p400);
}

typedef struct lines {
    const family *family;
    int64_t count, k; /* numbers, or parts of complex ones */
    int64_t *integers;
    int *exponents;
    double *values;
    memory memory;
    int64_t ld;
    bool along_k;
} lines;

static inline double uniform(check_random *random)
{
    return (double)(check_next(random) >> 11) * 0x1p-53;
}

static inline void draw_line(lines *x, int64_t line, check_random *random)
{
    const family *family = x->family;
    x->exponents[line] =
        family->exponents ? (int)check_between(random, -family->exponents, family->exponents) : 0;
    for (int64_t l = 0; l < x->k; l++) {
        const int64_t at = line * x->k + l;
        const bool zero = check_between(random, 0, 99) < family->zeros;
        const int64_t most = (INT64_C(1) << family->bits) - 1;
        x->integers[at] = zero || family->kind != INTEGERS ? 0 : check_between(random, -most, most);
        const double half = uniform(random) - 0.5,
                     real = zero                  ? 0
                            : family->spread == 0 ? 1.5 + half
                                                  : half * exp(family->spread * (uniform(random) - 0.5));
        x->values[at] = ldexp(family->kind == INTEGERS ? (double)x->integers[at] : real, x->exponents[line]);
    }
}

static inline lines draw_lines(const family *family, int64_t count, int64_t k, check_random *random)
{
    lines x = {.family = family, .count = count, .k = k};
    x.integers = malloc((size_t)(count * k) * sizeof *x.integers);
    x.values = malloc((size_t)(count * k) * sizeof *x.values);
    x.exponents = malloc((size_t)count * sizeof *x.exponents);
    for (int64_t line = 0; line < count; line++)
        draw_line(&x, line, random);
    if (family->kind == STRANGE && family->strange != 0)
        x.values[check_between(random, 0, count * k - 1)] = family->strange;
    return x;
}

static inline void free_lines(lines *x)
{
    free(x->integers);
    free(x->values);
    free(x->exponents);
    release(&x->memory);
}

/* Where a number lies in memory: of A's row `row` of those stored, which are twice as many where complex numbers are embedded. */
static inline void store_lines(lines *x, bool is_embedded, bool along_k, check_random *random)
{
    const int64_t rows = is_embedded ? 2 * x->count : x->count;
    x->along_k = along_k;
    const int64_t length = x->along_k ? x->k : rows, columns = x->along_k ? rows : x->k;
    x->ld = length + check_between(random, 0, 2);
    x->memory = guarded((size_t)(x->ld * (columns - 1) + length) * sizeof(double));
    double *to = (double *)x->memory.start;
    for (int64_t line = 0; line < x->count; line++)
        for (int64_t l = 0; l < x->k; l++) {
            const double value = x->values[line * x->k + l];
            if (!is_embedded)
                to[x->along_k ? l + line * x->ld : line + l * x->ld] = value;
            else { /* a real part, or an imaginary one: re, -im; im, re */
                const bool is_imaginary = l % 2;
                to[2 * line + is_imaginary + (l - is_imaginary) * x->ld] = value;
                to[2 * line + !is_imaginary + (l - is_imaginary + 1) * x->ld] = is_imaginary ? -value : value;
            }
        }
}

#endif
