/* Errors of sums of a few steps: with two chains, or more, they are well below a loop's. Header only, after
 * gemm.h; `real` is the type of a number's parts.
 */
#ifndef TB_EMULATED_SHORT_SUMS_H
#define TB_EMULATED_SHORT_SUMS_H

#include "kernels/catalog.h"

#include <float.h>
#include <math.h>

/* The share of a loop's rms error that is allowed. What two chains of half as many steps have: 0.56 of
 * numbers of one sign, 0.71 of both. */
#define TWO_CHAINS 0.85

/* A square of C, of numbers in 0..1; k contiguous in both operands. */
enum { SIDE = 64, PARTS = sizeof(number) / sizeof(real), K_MOST = 129 };
typedef struct short_sums {
    int64_t k;
    _Alignas(16) number a[SIDE * K_MOST], b[SIDE * K_MOST], c[SIDE * SIDE];
} short_sums;

/* The factors of a part of an element: of product number l of those that it is the sum of. */
static void factors_at(const short_sums *s, int64_t row, int64_t column, int part, int64_t l, real *x,
                       real *y)
{
    const real *a = (const real *)&s->a[row * s->k], *b = (const real *)&s->b[column * s->k];
    const int64_t other = PARTS == 2 && part ? l ^ 1 : l;
    *x = PARTS == 2 && !part && l % 2 ? -a[l] : a[other];
    *y = b[l];
}

static double square(long double x)
{
    return (double)(x * x);
}

/* The root of the mean square of errors, in u d; of the kernel's sums, and of a loop's. */
static void measure_short_sums(const short_sums *s, double *of_kernel, double *of_loop)
{
    const long double u = sizeof(real) == sizeof(float) ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double kernel = 0, loops = 0;
    for (int64_t i = 0; i < SIDE * SIDE * PARTS; i++) {
        long double sum = 0, magnitude = 0;
        real loop = 0, x, y;
        const int64_t row = i / PARTS % SIDE, column = i / PARTS / SIDE;
        for (int64_t l = 0; l < PARTS * s->k; l++) {
            factors_at(s, row, column, (int)(i % PARTS), l, &x, &y);
            loop = sizeof(real) == sizeof(float) ? (real)fmaf((float)x, (float)y, (float)loop)
                                                 : (real)fma((double)x, (double)y, (double)loop);
            sum += (long double)x * y;
            magnitude += fabsl((long double)x * y);
        }
        kernel += square((((const real *)s->c)[i] - sum) / (u * magnitude));
        loops += square((loop - sum) / (u * magnitude));
    }
    *of_kernel = sqrt(kernel / (SIDE * SIDE * PARTS));
    *of_loop = sqrt(loops / (SIDE * SIDE * PARTS));
}

/* Nobody has to cut so few steps into pieces of their own. */
static void short_sums_are_of_chains(const tb_kernel *kernel, const tb_launcher *launcher,
                                     check_random *random)
{
    static const int64_t ks[] = {64, 100, K_MOST};
    static short_sums s;
    s.k = CHECK_PICK(random, ks);
    for (int64_t i = 0; i < SIDE * K_MOST * PARTS; i++) {
        ((real *)s.a)[i] = (real)((double)(check_next(random) >> 11) * 0x1p-53);
        ((real *)s.b)[i] = (real)((double)(check_next(random) >> 11) * 0x1p-53);
    }
    const tb_product product =
        tb_gemm(ROUTINE, true, false, SIDE, SIDE, s.k, 1, s.a, s.k, s.b, s.k, 0, s.c, SIDE);
    const tb_schedule schedule = tb_prepare(kernel, &product, launcher->target);
    CHECK(schedule.workspace == 0 && kernel->launch(launcher, kernel, &product, &schedule, NULL) == TB_OK,
          "%s", kernel->name);
    double ours, loops;
    measure_short_sums(&s, &ours, &loops);
    CHECK(ours <= TWO_CHAINS * loops, "%s, k %lld: rms error %.4f u d, where a loop has %.4f", kernel->name,
          (long long)s.k, ours, loops);
}

#endif
