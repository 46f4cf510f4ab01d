/* The ziggurat method: G. Marsaglia and W. W. Tsang, The Ziggurat Method for Generating Random Variables, Journal of
 * Statistical Software 5(8), 2000. The area under f(x) = exp(-x^2 / 2) is covered by layers of equal area, each as wide
 * as the one above is at its lower edge; a random point of a random layer nearly always lies below the curve.
 */
#include "bench/normal.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LAYERS = 128 };

/* Where the tail begins, and the area of a layer, for that many layers: from the paper. */
static const double TAIL = 3.442619855899, AREA = 9.91256303526217e-3;

static double widths[LAYERS + 1], heights[LAYERS + 1]; /* of a layer, and of the curve at its right edge */

static double density(double x)
{
    return exp(-x * x / 2);
}

static void prepare(void)
{
    double width = TAIL;
    widths[0] = AREA / density(TAIL); /* the lowest layer and the tail, as wide as its area makes it */
    for (int layer = 1; layer < LAYERS; layer++) {
        widths[layer] = width;
        heights[layer] = density(width);
        width = sqrt(-2 * log(fmin(density(width) + AREA / width, 1)));
    }
    heights[LAYERS] = 1;
}

/* Marsaglia's xorshift. */
static uint64_t next_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Above 0, and at most 1. */
static double uniform(uint64_t *state)
{
    return (double)((next_bits(state) >> 11) + 1) * 0x1p-53;
}

static double draw_tail(uint64_t *state)
{
    double beyond, y;
    do {
        beyond = -log(uniform(state)) / TAIL;
        y = -log(uniform(state));
    } while (2 * y < beyond * beyond);
    return TAIL + beyond;
}

double bench_normal(uint64_t *state)
{
    static bool prepared;
    if (!prepared)
        prepare();
    prepared = true;
    for (;;) {
        const uint64_t bits = next_bits(state);
        const int layer = (int)(bits % LAYERS);
        const double at = (double)((int64_t)bits >> 11) * 0x1p-52 * widths[layer];
        if (fabs(at) < widths[layer + 1])
            return at;
        if (layer == 0)
            return copysign(draw_tail(state), at);
        const double height = heights[layer] + uniform(state) * (heights[layer + 1] - heights[layer]);
        if (height < density(at))
            return at;
    }
}

static double byte(uint64_t *state)
{
    return (double)(next_bits(state) >> 56);
}

static double integer(uint64_t *state)
{
    return (double)((int64_t)next_bits(state) >> 56);
}

static double single(uint64_t *state)
{
    return (double)(float)(1 + uniform(state));
}

static double spread(uint64_t *state)
{
    const double u = uniform(state) - 0.5;
    return u * exp(4 * bench_normal(state));
}

bench_numbers *bench_find_numbers(const char *name)
{
    static const struct {
        const char *name;
        bench_numbers *numbers;
    } all[] = {{"normal", bench_normal},
               {"bytes", byte},
               {"integers", integer},
               {"floats", single},
               {"spread", spread}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].numbers;
    return NULL;
}
