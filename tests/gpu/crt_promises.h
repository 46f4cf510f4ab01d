/* What gpu_crt (crt.c) holds a product to: exact sums where operands are integers, the error that is promised
 * of reals, and a loop's classes and bounds of strange numbers.
 */
#ifndef TB_CRT_PROMISES_H
#define TB_CRT_PROMISES_H

#include "kernels/catalog.h"
#include "tests/gpu/crt_decided.h"
#include "words/product.h"

#define ROUNDOFF 0x1p-53
/* The rms errors that docs/precision.md has, in u d. */
#define FINE_RMS   0.0092
#define COARSE_RMS 0.10
/* What samples may have more: all of C, and the worst of some 90 lines, 40 numbers each, three times their
 * deviation of a ninth. */
#define OF_ALL  1.1
#define OF_LINE 1.4

__extension__ typedef __int128 wide;

typedef struct test {
    const tb_kernel *kernel;
    const family *family; /* of B */
    bool keeps_a;         /* it is that of the launch before */
    bool same;            /* B is A: of rows that are columns, too */
    lines a, b;
    promise promise; /* of reals */
    tb_product given;
    double *before, *after;
    void *device_c;
    size_t bytes_c;
} test;

static wide sum_of(const test *t, int64_t i, int64_t j)
{
    const int64_t *x = t->a.integers + i * t->a.k, *y = t->b.integers + j * t->b.k;
    wide sum = 0;
    for (int64_t l = 0; l < t->a.k; l++)
        sum += (wide)x[l] * y[l];
    return sum;
}

/* The sum, rounded once. */
static double exact_product(const test *t, int64_t i, int64_t j)
{
    return t->given.alpha.re * ldexp((double)sum_of(t, i, j), t->a.exponents[i] + t->b.exponents[j]);
}

static void describe(const test *t, char *text, size_t size)
{
    const tb_product *p = &t->given;
    snprintf(text, size, "%s, %s%s%s: %lld x %lld x %lld %c%c, alpha %g, beta %g, mask %d from %lld",
             t->kernel->name, t->family->name,
             t->a.embedded ? ", complex"
             : t->same     ? ", one operand"
                           : "",
             t->keeps_a ? ", again" : "", (long long)p->m, (long long)p->n, (long long)p->k,
             p->a.transposed ? 'T' : 'N', p->b.transposed ? 'T' : 'N', p->alpha.re, p->beta.re, (int)p->mask,
             (long long)p->diagonal);
}

static bool is_same(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

static bool is_exact(const test *t, int64_t i, int64_t j, double got)
{
    const double product = exact_product(t, i, j), beta = t->given.beta.re;
    return is_same(got, beta == 0 ? product : fma(beta, t->before[i + j * t->given.c.ld], product));
}

/* The error of C = alpha A B before the last rounding, and d. */
static double excess_of(const test *t, int64_t i, int64_t j, double got, double *magnitude)
{
    const int64_t k = t->a.k;
    const double *x = t->a.reals + i * k, *y = t->b.reals + j * k, alpha = t->given.alpha.re;
    double sum = 0, lost = 0;
    *magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const double product = x[l] * y[l], next = sum + product, part = next - sum;
        lost += (sum - (next - part)) + (product - part) + fma(x[l], y[l], -product);
        sum = next;
        *magnitude += fabs(alpha * product);
    }
    const double error = fabs((got - alpha * sum) - alpha * lost);
    return fmax(0, error - ROUNDOFF * fabs(got));
}

/* Whether an element is what a loop makes of it, with an alpha that is a power of two. */
static bool is_as_a_loop(const test *t, int64_t i, int64_t j, double got)
{
    const int64_t k = t->a.k;
    double loop = 0;
    long double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < k; l++) {
        const double x = value_at(&t->a, i, l), y = value_at(&t->b, j, l);
        loop = fma(x, y, loop);
        sum += (long double)x * y;
        magnitude += fabsl((long double)x * y);
    }
    loop *= t->given.alpha.re;
    if (!isfinite(loop))
        return isnan(loop) ? isnan(got) : got == loop;
    const long double room = (long double)(k + 4) * (ROUNDOFF * magnitude + 0x1p-1074L);
    return isfinite(got) && fabsl(got - t->given.alpha.re * sum) <= room;
}

/* What the largest error of reals, and the rms error of a line of C, may be, in u d. */
static double largest_error(const test *t)
{
    const double k = (double)t->a.k;
    return t->promise == NATIVE ? k : sqrt(2 * k) * (t->promise == FINE ? FINE_SHARE : COARSE_SHARE);
}
static double rms_error(const test *t)
{
    const double rms = t->promise == FINE ? FINE_RMS : COARSE_RMS;
    /* Where one operand has one sign, the errors of a line of the other are all alike: a sample of one. */
    const bool is_positive = t->a.spread == POSITIVE || t->b.spread == POSITIVE,
               is_repeated = t->a.spread == REPEATED || t->b.spread == REPEATED;
    if (is_repeated)
        return largest_error(t);
    return t->promise == NATIVE ? sqrt((double)t->a.k) : is_positive ? 4 * rms : rms;
}

/* All numbers of C are a sample of errors, and each line's. */
static void errors_are_small(const test *t, const char *text)
{
    static const char *const names[] = {"1/64", "0.17", "native"};
    const int64_t m = t->given.m, n = t->given.n;
    double *of_row = calloc((size_t)m, sizeof *of_row), *of_column = calloc((size_t)n, sizeof *of_column),
           most = 0, largest = 0, all = 0;
    if (!of_row || !of_column)
        abort();
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double magnitude;
            const double excess = excess_of(t, i, j, t->after[i + j * t->given.c.ld], &magnitude),
                         relative = excess / (ROUNDOFF * magnitude);
            largest = fmax(largest, relative);
            all += relative * relative / (double)(m * n);
            of_row[i] += relative * relative;
            of_column[j] += relative * relative;
        }
    for (int64_t i = 0; i < m; i++)
        most = fmax(most, of_row[i] / (double)n);
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, of_column[j] / (double)m);
    CHECK(sqrt(all) <= OF_ALL * rms_error(t) && sqrt(most) <= OF_LINE * rms_error(t) &&
              largest <= largest_error(t),
          "%s, share %s: rms error %g u d, of a row or column %g, largest %g", text, names[t->promise],
          sqrt(all), sqrt(most), largest);
    free(of_row);
    free(of_column);
}

static void check_elements(test *t, const char *text)
{
    int64_t wrong = 0, first = -1;
    for (int64_t j = 0; j < t->given.n && t->family->kind != REALS; j++) {
        const tb_range rows = tb_masked_rows(&t->given, j);
        for (int64_t i = rows.first; i < rows.first + rows.count; i++) {
            const int64_t at = i + j * t->given.c.ld;
            const bool holds =
                t->a.integers ? is_exact(t, i, j, t->after[at]) : is_as_a_loop(t, i, j, t->after[at]);
            wrong += !holds;
            if (!holds && first < 0)
                first = at;
        }
    }
    const int64_t ld = t->given.c.ld, i = first % ld, j = first / ld;
    CHECK(wrong == 0, "%s: %lld wrong, C(%lld, %lld) = %a, product %a", text, (long long)wrong, (long long)i,
          (long long)j, first >= 0 ? t->after[first] : 0,
          first >= 0 && t->a.integers ? exact_product(t, i, j) : 0);
}

static void check_test(test *t)
{
    char text[256];
    describe(t, text, sizeof text);
    arena_copy(t->after, t->device_c, t->bytes_c);
    check_elements(t, text);
    if (t->family->kind == REALS)
        errors_are_small(t, text);
    for (int64_t j = 0; j < t->given.n; j++) {
        const tb_range rows = tb_masked_rows(&t->given, j);
        if (rows.count > 0)
            memcpy(t->after + rows.first + j * t->given.c.ld, t->before + rows.first + j * t->given.c.ld,
                   (size_t)rows.count * sizeof(double));
    }
    CHECK(memcmp(t->after, t->before, t->bytes_c) == 0, "%s: bytes outside of C have changed", text);
}

#endif
