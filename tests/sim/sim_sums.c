/* The loops in which the simulated device spends its time. They are of memory of its own, so that no sanitizer looks
 * at them, and are compiled for what the processor has as well; none makes one rounding of a product and an addition,
 * wherever it runs.
 */
#include "tests/sim/sim.h"

#include <string.h>

#ifdef __x86_64__
#define WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE_VECTORS
#endif

WIDE_VECTORS static void add_columns(double *restrict sums, const double *restrict columns, int64_t apart,
                                     const double *restrict factors, int64_t rows, int64_t count)
{
    int64_t l = 0;
    for (; l + 4 <= count; l += 4) {
        const double *restrict first = columns + l * apart, *restrict second = first + apart,
                               *restrict third = second + apart, *restrict fourth = third + apart;
        for (int64_t i = 0; i < rows; i++) {
            double sum = sums[i];
            sum += first[i] * factors[l];
            sum += second[i] * factors[l + 1];
            sum += third[i] * factors[l + 2];
            sum += fourth[i] * factors[l + 3];
            sums[i] = sum;
        }
    }
    for (; l < count; l++)
        for (int64_t i = 0; i < rows; i++)
            sums[i] += columns[l * apart + i] * factors[l];
}

WIDE_VECTORS static void add_complex_columns(double *restrict re, double *restrict im,
                                             const double *restrict columns_re,
                                             const double *restrict columns_im, int64_t apart,
                                             const double *restrict factors_re,
                                             const double *restrict factors_im, int64_t rows, int64_t count)
{
    for (int64_t l = 0; l < count; l++) {
        const double *restrict x = columns_re + l * apart, *restrict y = columns_im + l * apart;
        const double factor = factors_re[l], turn = factors_im[l];
        for (int64_t i = 0; i < rows; i++) {
            re[i] += x[i] * factor - y[i] * turn;
            im[i] += x[i] * turn + y[i] * factor;
        }
    }
}

void sim_add_columns(sim_columns sums, const sim_columns *columns, int64_t apart, const sim_columns *factors,
                     int64_t rows, int64_t count)
{
    if (sums.im == NULL)
        add_columns(sums.re, columns->re, apart, factors->re, rows, count);
    else
        add_complex_columns(sums.re, sums.im, columns->re, columns->im, apart, factors->re, factors->im, rows,
                            count);
}

/* Numbers go by turns into so many hashes: one waits for itself. */
uint64_t sim_hash(const double *numbers, int64_t count)
{
    enum { AT_ONCE = 4 };
    uint64_t hashes[AT_ONCE + 1] = {0}, bits;
    for (int64_t i = 0; i < count; i += AT_ONCE)
        for (int64_t at = 0; at < AT_ONCE && i + at < count; at++) {
            memcpy(&bits, &numbers[i + at], sizeof bits);
            hashes[at] = (hashes[at] ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
            hashes[at] ^= hashes[at] >> 32;
        }
    for (int at = 0; at < AT_ONCE; at++)
        hashes[AT_ONCE] = (hashes[AT_ONCE] ^ hashes[at]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return hashes[AT_ONCE];
}
