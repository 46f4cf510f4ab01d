#include "tests/sums.h"

#include <math.h>

void copy_rows(const view *a, int64_t i, int64_t count, int64_t k, double *rows)
{
    for (int64_t l = 0; l < k; l++)
        for (int64_t row = 0; row < AT_ONCE; row++)
            rows[l * AT_ONCE + row] = row < count ? number_at(a, i + row, l) : 0;
}

/* Compiled for what the processor has as well: these sums take most of the tests' time. */
#ifdef __x86_64__
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define WIDE_VECTORS
#endif

/* Sums of AT_ONCE rows of floats, whose products doubles have without an error. */
WIDE_VECTORS static sums sum_rows_of_floats(const double *rows, const view *b, int64_t j, int64_t k)
{
    double terms[AT_ONCE] = {0}, magnitudes[AT_ONCE] = {0};
    for (int64_t l = 0; l < k; l++) {
        const double factor = number_at(b, l, j);
        for (int row = 0; row < AT_ONCE; row++) {
            const double term = rows[l * AT_ONCE + row] * factor;
            terms[row] += term;
            magnitudes[row] += fabs(term);
        }
    }
    sums sums;
    for (int row = 0; row < AT_ONCE; row++) {
        sums.terms[row] = (long double)terms[row];
        sums.magnitudes[row] = (long double)magnitudes[row];
    }
    return sums;
}

/* What each product and each addition of doubles rounds off is known without an error, and is summed up beside. That is
 * nearer to the truth than sums of long doubles, which no vectors are made of. */
WIDE_VECTORS static sums sum_rows_of_doubles(const double *rows, const view *b, int64_t j, int64_t k)
{
    double terms[AT_ONCE] = {0}, rounded_off[AT_ONCE] = {0}, magnitudes[AT_ONCE] = {0};
    for (int64_t l = 0; l < k; l++) {
        const double factor = number_at(b, l, j);
        for (int row = 0; row < AT_ONCE; row++) {
            const double number = rows[l * AT_ONCE + row], term = number * factor;
            const double sum = terms[row] + term, added = sum - terms[row];
            rounded_off[row] += fma(number, factor, -term) + ((terms[row] - (sum - added)) + (term - added));
            terms[row] = sum;
            magnitudes[row] += fabs(term);
        }
    }
    sums sums;
    for (int row = 0; row < AT_ONCE; row++) {
        sums.terms[row] = (long double)terms[row] + (long double)rounded_off[row];
        sums.magnitudes[row] = (long double)magnitudes[row];
    }
    return sums;
}

/* Whether no double has overflowed in them, and what may have been lost below the smallest one is nothing beside them. */
static bool are_in_range(const sums *sums, int64_t count)
{
    for (int64_t row = 0; row < count; row++)
        if (!(sums->magnitudes[row] > 0x1p-900L && sums->magnitudes[row] < 0x1p1000L))
            return false;
    return true;
}

sums sum_rows(tb_element element, const view *a, int64_t i, int64_t count, const double *rows, const view *b,
              int64_t j, int64_t k)
{
    if (tb_real_of(element) == TB_FP32)
        return sum_rows_of_floats(rows, b, j, k);
    const sums sums = sum_rows_of_doubles(rows, b, j, k);
    return are_in_range(&sums, count) ? sums : sum_few(a, b, i, count, j, k);
}

sums sum_few(const view *a, const view *b, int64_t i, int64_t count, int64_t j, int64_t k)
{
    sums sums = {0};
    for (int64_t row = 0; row < count; row++)
        for (int64_t l = 0; l < k; l++) {
            const long double term = (long double)number_at(a, i + row, l) * (long double)number_at(b, l, j);
            sums.terms[row] += term;
            sums.magnitudes[row] += fabsl(term);
        }
    return sums;
}

void add_term(sums *sums, const double *a, const double *b)
{
    const long double re = a[0], im = a[1],
                      products[2][2] = {{re * b[0], -im * b[1]}, {re * b[1], im * b[0]}};
    for (int part = 0; part < 2; part++)
        for (int half = 0; half < 2; half++) {
            sums->terms[part] += products[part][half];
            sums->magnitudes[part] += fabsl(products[part][half]);
        }
}
