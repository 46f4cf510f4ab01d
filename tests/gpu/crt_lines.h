/* Operands for gpu_crt (crt.c): rows of op(A) or columns of op(B), of families of numbers that dgemm_crt is made for, and of
 * those that it has to leave to others. They are drawn on the host, and copied to the device.
 */
#ifndef TB_CRT_LINES_H
#define TB_CRT_LINES_H

#include "kernels/crt/crt.h"
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
    double spread; /* reals are (u - 1/2) exp(spread N), or as follows */
} family;

/* Instead of a spread: a line's are all alike; from 1 to 2; of nearly one magnitude, and either sign; the same, with one of a
 * line 512 times as large. */
enum { REPEATED = -4, POSITIVE, ALIKE, ONE_LARGE };

/* Instead of what integers are shifted by: one less than the power of two, it, or one more. */
enum { NEAR = -1 };

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
    {"2^51 and signs", INTEGERS, 51, 0, NEAR, 300, 0, 4096, 0},
    {"one a row", INTEGERS, 52, 52, 0, 300, 99, 130, 0},
    {"at the edge", EDGES, 0, 0, 0, 300, 0, 3000, 0},
    {"repeated", REALS, 0, 0, 0, 300, 0, TB_CRT_K_MOST, REPEATED},
    {"positive", REALS, 0, 0, 0, 300, 0, TB_CRT_K_MOST, POSITIVE},
    {"one magnitude", REALS, 0, 0, 0, 300, 0, TB_CRT_K_MOST, ALIKE},
    {"one large", REALS, 0, 0, 0, 300, 0, TB_CRT_K_MOST, ONE_LARGE},
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
    bool embedded; /* A's, of complex numbers: two rows for each line that is drawn */
    bool
        cancels; /* products of reals come in pairs that nearly cancel: sums are small beside what rounding operands changes */
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
    if (family->shifted == NEAR) {
        const int64_t near = (INT64_C(1) << bits) + (bits > 0 ? check_between(random, -1, 1) : 0);
        return check_between(random, 0, 1) ? -near : near;
    }
    const int64_t most = (INT64_C(1) << bits) - 1,
                  size = check_between(random, 0, 3) ? check_between(random, 0, most) : most;
    return (check_between(random, 0, 1) ? -size : size) *
           (INT64_C(1) << check_between(random, 0, family->shifted));
}

/* Draws how large numbers are that are all alike: a sum of k products is just below what some moduli take, or what they would
 * take without a sign. With so many moduli numbers stay below 2^52. */
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

/* A number that makes a pair with one before it: products cancel but for one part of a million. */
static inline double draw_partner(double partner, bool in_b, check_random *random)
{
    const double near = partner * (1 + ldexp(uniform(random), -20));
    return in_b ? -near : near;
}

/* Numbers are the same along a line; in B every second one is negative, and a little larger. */
static inline void repeat_line(lines *x, bool in_b, int64_t line, check_random *random)
{
    double *own = x->reals + line * x->k;
    const double first = 1 + uniform(random), second = in_b ? -first * (1 + 0x1p-21) : first;
    for (int64_t l = 0; l < x->k; l++)
        own[l] = ldexp(l / (x->embedded + 1) % 2 ? second : first, x->exponents[line]);
}

/* Some lines are zeros, and the sum of some two neighbours' products is: all of the first ones of B's, equal in pairs in A's. */
static inline void fill_line(lines *x, const family *family, int bits, bool in_b, int64_t line,
                             check_random *random)
{
    const int64_t style = x->count > 4 ? line % 8 : 0, apart = x->embedded ? 2 : 1;
    if (x->reals && family->spread == REPEATED) {
        repeat_line(x, in_b, line, random);
        return;
    }
    for (int64_t l = 0; l < x->k; l++) {
        const int64_t at = line * x->k + l;
        if (x->reals && x->cancels && l / apart % 2 == 1) {
            x->reals[at] = draw_partner(x->reals[at - apart], in_b, random);
            continue;
        }
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

/* Complex lines, real and imaginary parts taking turns, as the rows of what they are embedded in (words/lowered.h): re, -im; im,
 * re. */
static inline void embed_lines(lines *x)
{
    const int64_t k = x->k;
    for (int64_t line = x->count - 1; line >= 0; line--) {
        for (int64_t l = 0; l < k; l += 2) {
            const int64_t from = line * k + l, upper = 2 * line * k + l, lower = upper + k;
            if (x->integers) {
                const int64_t re = x->integers[from], im = x->integers[from + 1];
                x->integers[upper] = x->integers[lower + 1] = re;
                x->integers[lower] = im;
                x->integers[upper + 1] = -im;
            } else {
                const double re = x->reals[from], im = x->reals[from + 1];
                x->reals[upper] = x->reals[lower + 1] = re;
                x->reals[lower] = im;
                x->reals[upper + 1] = -im;
            }
        }
        x->exponents[2 * line] = x->exponents[2 * line + 1] = x->exponents[line];
    }
    x->count *= 2;
}

/* Puts the lines where the device has them. */
static inline void place_lines(lines *x, check_random *random)
{
    x->ld = (x->along_k ? x->k : x->count) + check_between(random, 0, 3);
    x->bytes = (size_t)(x->ld * (x->along_k ? x->count : x->k)) * sizeof(double);
    x->block = must_allocate(x->bytes);
    memset(x->block, 0xff, x->bytes);
    for (int64_t line = 0; line < x->count; line++)
        for (int64_t l = 0; l < x->k; l++) {
            const double value = value_at(x, line, l);
            x->block[x->along_k ? l + line * x->ld : line + l * x->ld] =
                value == 0 && !x->embedded && l % 3 == 1 ? -0.0 : value;
        }
    x->device = arena_allocate(TB_MEMORY_DEVICE, x->bytes);
    arena_copy(x->device, x->block, x->bytes);
}

/* Draws lines of op(B), where there is an op(A); else of op(A), with an even k if that is embedded. */
static inline lines draw_lines(const family *family, const lines *a, bool embedded, int64_t count, int64_t k,
                               check_random *random)
{
    const bool in_b = a != NULL;
    lines x = {.count = count,
               .k = k,
               .spread = family->spread,
               .alike = a ? a->alike : draw_alike(k, random),
               .cancels = a ? a->cancels : check_between(random, 0, 3) > 0,
               .embedded = embedded,
               .along_k = embedded ? in_b : check_between(random, 0, 1)};
    const size_t numbers = (size_t)(2 * count * k);
    if (family->kind == INTEGERS || family->kind == EDGES)
        x.integers = must_allocate(numbers * sizeof *x.integers);
    else
        x.reals = must_allocate(numbers * sizeof *x.reals);
    x.exponents = must_allocate(2 * (size_t)count * sizeof *x.exponents);
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
    if (embedded && !in_b)
        embed_lines(&x);
    place_lines(&x, random);
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
