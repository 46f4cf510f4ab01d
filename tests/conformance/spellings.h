/* Every name under which programs call the routines that are taken over, but for batches, as they call them. */
#ifndef TB_SPELLINGS_H
#define TB_SPELLINGS_H

#include "words/routine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spelling {
    const char *name;
    tb_routine routine;
    bool fortran;
    int bits; /* of an integer argument */
} spelling;

extern spelling spellings[];
extern size_t spelling_count;

/* NULL: there is none. */
const spelling *spelling_named(const char *name);

/* Those of all classes; a call has those of its own. Side, transposes, triangle and diagonal are CBLAS's numbers or Fortran's
 * letters, as the spelling has them; row_major is CBLAS's. B of TRMM and TRSM, which is written, is c. */
typedef struct call_arguments {
    bool row_major;
    int side, triangle, transpose_a, transpose_b, diagonal;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta, alpha_im, beta_im; /* imaginary parts are those of complex routines */
    const void *a, *b;
    void *c;
} call_arguments;

/* Where names are looked up: a handle of dlopen; what the dynamic linker finds unless it is set. */
extern void *spelling_library;

/* Calls the name that is found; false where there is none. */
bool call_routine(const spelling *spelling, const call_arguments *arguments);

#endif
