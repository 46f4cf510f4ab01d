/* Every name under which programs call batches, as they call them. */
#ifndef TB_BATCH_CALLS_H
#define TB_BATCH_CALLS_H

#include "words/routine.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct batch_spelling {
    char name[40];
    tb_routine routine;
    bool fortran;
    int bits; /* of an integer argument */
} batch_spelling;

int64_t batch_spelling_count(void);
const batch_spelling *batch_spelling_numbered(int64_t number);
const batch_spelling *batch_spelling_named(const char *name); /* NULL: there is none */

/* Arguments of a group, as Fortran has letters; strides, in elements, are of strided batches alone. */
typedef struct batch_group {
    char transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha[2], beta[2]; /* real and imaginary part */
    int64_t strides[3];       /* of A, B and C */
    int64_t size;
} batch_group;

/* Where names are looked up, as spelling_library (spellings.h). */
extern void *batch_library;

/* Calls the name that is found; false where there is none. Addresses of all groups are one after the other; a strided
 * batch is one group, whose first ones are taken. */
bool batch_call(const batch_spelling *spelling, bool row_major, const batch_group *groups, int64_t count,
                const void *const *a, const void *const *b, void *const *c);

#endif
