/* What a BLAS of fixture_blas.c tells about itself, through its exported variable fixture_blas. */
#ifndef FIXTURE_BLAS_H
#define FIXTURE_BLAS_H

#include <stdatomic.h>
#include <stdbool.h>

/* What the fixtures report for any irregular call: a number that only they use. */
#define FIXTURE_IRREGULAR 1000

typedef struct fixture_state {
    bool nests; /* its CBLAS function calls its Fortran one, as reference BLAS does */
    atomic_int cblas_calls, fortran_calls; /* not those with alpha = 0, which TileBLAS makes of candidates */
    atomic_int wrong_lengths;              /* Fortran calls that had a hidden string length other than 1 */
} fixture_state;

#endif
