/* What the benchmarks time with, on the host's side. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "lib/process/clock.h"

#include <stddef.h>
#include <stdlib.h>

/* Ascending, for qsort. */
static inline int bench_compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return values[count / 2];
}

/* In host memory, a call this long is no faster behind another one of its side's. */
#define BENCH_LONG_SECONDS 0.1

#endif
