/* POTRF in bench/lapack: A = L L' or U' U, of which one triangle is stored. */
#ifndef BENCH_LAPACK_POTRF_H
#define BENCH_LAPACK_POTRF_H

#include "bench/lapack_routines.h"

double lapack_potrf_flop(const lapack_operands *operands);
double lapack_potrf_moved(const lapack_operands *operands);
void lapack_potrf_make(const lapack_operands *operands, void *matrix);
int lapack_potrf_fortran(const lapack_fortran *fortran, const lapack_operands *operands);
bool lapack_potrf_prepare(const lapack_operands *operands);
bool lapack_potrf_enqueue(const lapack_operands *operands);

/* Of one random vector x: |A x - L (L' x)| / (n |A| |x| roundoff), in the largest elements and sums of a row. */
double lapack_potrf_residual(const lapack_operands *operands, const void *a, const void *b);

#endif
