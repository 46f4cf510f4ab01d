/* What the benchmarks time with, on the host's side. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "lib/process/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

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

/* OpenBLAS's threads go on spinning after a call for 2^28 ticks, 0.13 s at 2 GHz: who is measured next waits until they sleep. */
static inline void bench_rest_after_openblas(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

#endif
