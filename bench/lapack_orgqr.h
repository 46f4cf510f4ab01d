/* GEQRF and ORGQR, or UNGQR, in bench/lapack, one after the other: Q's first n columns in A's place. */
#ifndef BENCH_LAPACK_ORGQR_H
#define BENCH_LAPACK_ORGQR_H

#include "bench/lapack_routines.h"

double lapack_orgqr_flop(const lapack_operands *operands);
int lapack_orgqr_count_work(const lapack_fortran *fortran, const lapack_operands *operands);
int lapack_orgqr_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_orgqr_prepare(const lapack_operands *operands);
bool lapack_orgqr_enqueue(const lapack_operands *operands);

/* Of one random vector x: |Q' (Q x) - x| / (m |x| roundoff) or, with the triangle R that was kept, |A x - Q (R x)| / (m |A| |x|
 * roundoff), in the largest elements and sums of a row: the larger one. */
double lapack_orgqr_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
