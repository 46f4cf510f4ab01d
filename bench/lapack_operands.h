/* What the sides of bench/lapack compute with: matrices that are made once, and written anew before each call. */
#ifndef BENCH_LAPACK_OPERANDS_H
#define BENCH_LAPACK_OPERANDS_H

#include "bench/lapack_options.h"
#include "bench/lapack_routines.h"

/* Ends the program where no memory is left. */
void *lapack_allocate(size_t bytes);

/* In ordinary memory where the options say so, or on the device. */
lapack_operands lapack_make_operands(const lapack_options *options, bool has_device,
                                     const lapack_routine *routine, tb_element element, int n);
void lapack_free_operands(const lapack_operands *operands);

/* Writes the matrices as they were made where the next call overwrites them. */
void lapack_refill(const lapack_operands *operands);

/* Copies what will be overwritten to the device, and back. */
void lapack_send(const lapack_operands *operands);
void lapack_bring_back(const lapack_operands *operands);

/* Of what was computed last. */
double lapack_residual(const lapack_operands *operands);

#endif
