/* GEQRF in bench/lapack: A = Q R, with Q as reflectors below the diagonal, and tau. */
#ifndef BENCH_LAPACK_GEQRF_H
#define BENCH_LAPACK_GEQRF_H

#include "bench/lapack_routines.h"

double lapack_geqrf_flop(const lapack_operands *operands);
int lapack_geqrf_count_work(const lapack_fortran *fortran, const lapack_operands *operands);
int lapack_geqrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_geqrf_prepare(const lapack_operands *operands);
bool lapack_geqrf_enqueue(const lapack_operands *operands);
void lapack_geqrf_collect(const lapack_operands *operands);

/* Of one random vector x: |A x - Q (R x)| / (m |A| |x| roundoff), in the largest elements and sums of a row. */
double lapack_geqrf_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
