/* Operands for gpu_crt (crt.c): rows of op(A) or columns of op(B), of families of numbers that dgemm_crt is made for, and of those that
 * it has to leave to others. They are drawn on the host, and copied to the device.
 */
#ifndef TB_CRT_LINES_H
#define TB_CRT_LINES_H

#include "tests/check.h"
#include "tests/conformance/arena.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What a row of op(A), or a column of op(B), is made of. */
typedef enum kind { INTEGERS, EDGES, REALS, STRANGE } kind;
typedef struct family {
    const char *name;
    kind kind;
    int bits_a, bits_b; /* of integers */
    int shifted;        /* by so many bits more at most, each number by its own */
    int exponents;      /* powers of two of rows and of columns, up and down */
    int zeros;          /* of 100 numbers */
    int64_t k_most;
    double
        spread; /* reals are (u - 1/2) exp(spread N); 0: of nearly one magnitude, and either sign; -1: from 1 to 2 */
} family;

/* Instead of a spread: from 1 to 2; of nearly one magnitude, and either sign; the same, with one of a line 512 times as large. */
enum { POSITIVE = -3, ALIKE, ONE_LARGE };

static const family families[] = {
    {"signs", INTEGERS, 1, 1, 0, 0, 0, 4000, 0},
    {"bytes", INTEGERS, 8, 8, 0, 0, 0, 4000, 0},
    {"floats", INTEGERS, 24, 24, 0, 100, 0, 4000, 0},
    {"floats and bytes", INTEGERS, 24, 8, 0, 450, 0, 4000, 0},
    {"40 bits", INTEGERS, 40, 40, 0, 400, 0, 2100, 0},
    {"49 bits", INTEGERS, 49, 49, 0, 400, 0, 1100, 0},
    {"53 bits, k 1", INTEGERS, 53, 53, 0, 300, 0, 1, 0},
    {"shifted", INTEGERS, 10, 10, 44, 400, 0, 300, 0},
    {"most bits", INTEGERS, 10, 10, 51, 300, 0, 16, 0},
    {"shifted, few", INTEGERS, 9, 2, 30, 400, 0, 2100, 0},
    {"sparse", INTEGERS, 45, 45, 0, 300, 90, 600, 0},
    {"one a row", INTEGERS, 52, 52, 0, 300, 99, 130, 0},
    {"at the edge", EDGES, 0, 0, 0, 300, 0, 3000, 0},
    {"positive", REALS, 0, 0, 0, 300, 0, 12000, POSITIVE},
    {"one magnitude", REALS, 0, 0, 0, 300, 0, 12000, ALIKE},
    {"one large", REALS, 0, 0, 0, 300, 0, 12000, ONE_LARGE},
    {"normal-like", REALS, 0, 0, 0, 300, 0, 12000, 0.5},
    {"spread", REALS, 0, 0, 0, 300, 0, 400, 0.7},
    {"spread, native", REALS, 0, 0, 0, 100, 0, 12000, 8},
    {"strange", STRANGE, 0, 0, 0, 10, 0, 1100, 0.5},
};
enum { FAMILIES = sizeof families / sizeof *families };

static inline double uniform(check_random *random)
{
    return (double)(check_next(random) >> 11) * 0x1p-53;
}

static inline double normal(check_random *random)
{
    const double radius = sqrt(-2 * log(1 - uniform(random)));
    return radius * cos(2 * M_PI * uniform(random));
}

/* Rows of op(A) or columns of op(B); numbers are integers times the power of two of their line, or reals. */
typedef struct lines {
    int64_t count, k, ld;
    bool along_k; /* neighbours in memory are of one line */
    int64_t *integers;
    double *reals;
    int *exponents;
    double spread; /* of the family */
    int64_t alike; /* what all of them are at the edge, but for signs */
    double *block;
    void *device;
    size_t bytes;
} lines;

static inline double value_at(const lines *x, int64_t line, int64_t l)
{
    const int64_t at = line * x->k + l;
    return x->integers ? ldexp((double)x->integers[at], x->exponents[line]) : x->reals[at];
}

static inline int64_t draw_integer(const family *family, int bits, check_random *random)
{
    if (check_between(random, 0, 99) < family->zeros)
        return 0;
    const int64_t most = (INT64_C(1) << bits) - 1,
                  size = check_between(random, 0, 3) ? check_between(random, 0, most) : most;
    return (check_between(random, 0, 1) ? -size : size) *
           (INT64_C(1) << check_between(random, 0, family->shifted));
}

/* Of numbers that are all alike: a sum of k products is just below what some moduli take, or what they would take without a sign.
 * With so many moduli numbers stay below 2^52. */
static inline int64_t draw_alike(int64_t k, check_random *random)
{
    static const int moduli[] = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211};
    enum { COUNT = sizeof moduli / sizeof *moduli };
    const int least = (int)check_between(random, 3, COUNT);
    double product = check_between(random, 0, 3) ? 0.93 : 0.465;
    for (int i = 0; i < COUNT && (i < least || product < 0x1p16 * (double)k); i++)
        product *= moduli[i];
    return (int64_t)sqrt(product / (double)k);
}

static inline double draw_real(const family *family, bool is_large, check_random *random)
{
    const double half = uniform(random) - 0.5;
    if (family->spread >= 0)
        return half * exp(family->spread * normal(random));
    if (family->spread == POSITIVE)
        return 1 + uniform(random);
    const double alike = copysign(1 + ldexp(uniform(random), -10), half);
    return is_large && family->spread == ONE_LARGE ? 512 * alike : alike;
}

/* Some lines are zeros, and the sum of some two neighbours' products is: all of the first ones of B's, equal in pairs in A's. */
static inline void fill_line(lines *x, const family *family, int bits, bool in_b, int64_t line,
                             check_random *random)
{
    const int64_t style = x->count > 4 ? line % 8 : 0;
    for (int64_t l = 0; l < x->k; l++) {
        const int64_t at = line * x->k + l;
        if (x->reals) {
            x->reals[at] = ldexp(draw_real(family, l == line % x->k, random), x->exponents[line]);
            continue;
        }
        if (family->kind == EDGES) {
            x->integers[at] = style % 2 ? -x->alike : x->alike;
            continue;
        }
        x->integers[at] = style == 3 ? 0 : draw_integer(family, bits, random);
        if (style == 5 && l % 2 == 1)
            x->integers[at] = in_b ? -x->integers[at - 1] : x->integers[at - 1];
        else if (style == 5 && l == x->k - 1)
            x->integers[at] = 0;
    }
}

static inline void spoil(lines *x, check_random *random)
{
    static const double strange[] = {INFINITY, -INFINITY, NAN,      0x1p-1074, -0x1p-1022,
                                     0x1p481,  -0x1p-481, 0x1p1000, DBL_MAX};
    const int64_t line = check_between(random, 0, 1) ? x->count - 1 : check_between(random, 0, x->count - 1),
                  l = check_between(random, 0, 1) ? x->k - 1 : check_between(random, 0, x->k - 1);
    x->reals[line * x->k + l] = CHECK_PICK(random, strange);
}

static inline void *must_allocate(size_t bytes)
{
    void *block = malloc(bytes > 0 ? bytes : 1);
    if (!block)
        abort();
    return block;
}

static inline lines draw_lines(const family *family, bool in_b, int64_t count, int64_t k, int64_t alike,
                               check_random *random)
{
    lines x = {.count = count,
               .k = k,
               .spread = family->spread,
               .alike = alike,
               .along_k = check_between(random, 0, 1)};
    const size_t numbers = (size_t)(count * k);
    if (family->kind == INTEGERS || family->kind == EDGES)
        x.integers = must_allocate(numbers * sizeof *x.integers);
    else
        x.reals = must_allocate(numbers * sizeof *x.reals);
    x.exponents = must_allocate((size_t)count * sizeof *x.exponents);
    for (int64_t line = 0; line < count; line++) {
        const int bits = in_b ? family->bits_b : family->bits_a;
        int exponent = (int)check_between(random, -family->exponents, family->exponents);
        if (family->exponents == 450) /* to the limits: 2^480 and 2^-480 are numbers that the method takes */
            exponent = check_between(random, 0, 1) ? -480 : 481 - bits - family->shifted;
        x.exponents[line] = exponent;
        fill_line(&x, family, bits, in_b, line, random);
    }
    if (family->kind == STRANGE)
        spoil(&x, random);
    x.ld = (x.along_k ? k : count) + check_between(random, 0, 3);
    x.bytes = (size_t)(x.ld * (x.along_k ? count : k)) * sizeof(double);
    x.block = must_allocate(x.bytes);
    memset(x.block, 0xff, x.bytes);
    for (int64_t line = 0; line < count; line++)
        for (int64_t l = 0; l < k; l++) {
            const double value = value_at(&x, line, l);
            x.block[x.along_k ? l + line * x.ld : line + l * x.ld] = value == 0 && l % 3 == 1 ? -0.0 : value;
        }
    x.device = arena_allocate(TB_MEMORY_DEVICE, x.bytes);
    arena_copy(x.device, x.block, x.bytes);
    return x;
}

static inline void free_lines(lines *x)
{
    void *blocks[] = {x->integers, x->reals, x->exponents, x->block};
    for (int i = 0; i < 4; i++)
        free(blocks[i]);
    arena_release(TB_MEMORY_DEVICE, x->device);
}

#endif
