/* GESV in bench/lapack: A X = B by GETRF, with as many right-hand sides as columns unless there is an option; cuSOLVER's getrf and
 * getrs. B has random numbers, too. */
#ifndef BENCH_LAPACK_GESV_H
#define BENCH_LAPACK_GESV_H

#include "bench/lapack_routines.h"

double lapack_gesv_flop(const lapack_operands *operands);
int lapack_gesv_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_gesv_enqueue(const lapack_operands *operands);

/* Of one random vector x: |A (X x) - B x| / (n |A| |X| |x| roundoff), in the largest elements and sums of a row; or GETRF's
 * residual, as the factors are left, too: the larger one. */
double lapack_gesv_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
