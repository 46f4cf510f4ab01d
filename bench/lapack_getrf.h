/* GETRF in bench/lapack: P A = L U, with partial pivoting. */
#ifndef BENCH_LAPACK_GETRF_H
#define BENCH_LAPACK_GETRF_H

#include "bench/lapack_routines.h"

double lapack_getrf_flop(const lapack_operands *operands);
int lapack_getrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_getrf_prepare(const lapack_operands *operands);
bool lapack_getrf_enqueue(const lapack_operands *operands);
void lapack_getrf_collect(const lapack_operands *operands);

/* Of one random vector x: |P A x - L (U x)| / (m |A| |x| roundoff), in the largest elements and sums of a row. */
double lapack_getrf_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
