/* LAPACK's argument rules; see arguments.h. The answer is 0, and *factor is complete but for where its info goes; or it is the number
 * of the irregular argument that the routine reports, as Fortran counts, and *factor means nothing.
 */
#ifndef TB_LAPACK_ARGUMENTS_H
#define TB_LAPACK_ARGUMENTS_H

#include "compat/arguments.h"
#include "words/factor.h"

int tb_read_potrf(tb_routine routine, char letter, int64_t n, void *a, int64_t lda, tb_factor *factor);

int tb_read_getrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, tb_pivots pivots,
                  tb_factor *factor);

/* Whether what is stored of the matrix has an element that is no number: LAPACKE refuses such a one. Nobody looks at what lies on a
 * device. */
bool tb_has_nan(const tb_factor *factor);

/* Stores info in an integer of the caller's. */
void tb_store_info(void *info, int64_t value, int bits);

#endif
