/* What modules of caller.c have, besides references to a BLAS. */
#ifndef CALLER_H
#define CALLER_H

#include <stdbool.h>

/* The elements that came out wrong of a product of about that size, by Fortran's name or by that of CBLAS. */
long caller_errors(bool fortran, int size);

/* The address of Fortran's function in read-only data, and where it is in data. */
void *caller_constant(void);
void **caller_variable(void);

#endif
