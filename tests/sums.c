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
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE_VECTORS
#endif

/* Sums of AT_ONCE rows in a type whose rounding errors are small beside those of the elements. */
#define STAMP_SUM_ROWS(name, wide, magnitude)                                                                \
    WIDE_VECTORS static sums name(const double *rows, const view *b, int64_t j, int64_t k)                   \
    {                                                                                                        \
        wide terms[AT_ONCE] = {0}, magnitudes[AT_ONCE] = {0};                                                \
        for (int64_t l = 0; l < k; l++) {                                                                    \
            const wide factor = (wide)number_at(b, l, j);                                                    \
            for (int row = 0; row < AT_ONCE; row++) {                                                        \
                const wide term = (wide)rows[l * AT_ONCE + row] * factor;                                    \
                terms[row] += term;                                                                          \
                magnitudes[row] += magnitude(term);                                                          \
            }                                                                                                \
        }                                                                                                    \
        sums sums;                                                                                           \
        for (int row = 0; row < AT_ONCE; row++) {                                                            \
            sums.terms[row] = (long double)terms[row];                                                       \
            sums.magnitudes[row] = (long double)magnitudes[row];                                             \
        }                                                                                                    \
        return sums;                                                                                         \
    }
STAMP_SUM_ROWS(sum_rows_of_floats, double, fabs)
STAMP_SUM_ROWS(sum_rows_of_doubles, long double, fabsl)

sums sum_rows(tb_element element, const double *rows, const view *b, int64_t j, int64_t k)
{
    return tb_real_of(element) == TB_FP64 ? sum_rows_of_doubles(rows, b, j, k)
                                          : sum_rows_of_floats(rows, b, j, k);
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
