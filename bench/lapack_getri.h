/* GETRF and GETRI in bench/lapack, one after the other: the inverse in A's place. cuSOLVER has no getri: getrf, a copy of the identity
 * within the device, getrs, and a copy into A's place, all of which count. */
#ifndef BENCH_LAPACK_GETRI_H
#define BENCH_LAPACK_GETRI_H

#include "bench/lapack_routines.h"

double lapack_getri_flop(const lapack_operands *operands);
int lapack_getri_count_work(const lapack_fortran *fortran, const lapack_operands *operands);
int lapack_getri_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_getri_prepare(const lapack_operands *operands);
bool lapack_getri_enqueue(const lapack_operands *operands);

/* Of one random vector x: |X (A x) - x| / (n |A| |X| |x| roundoff), X the inverse, in the largest elements and sums of a row. */
double lapack_getri_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
