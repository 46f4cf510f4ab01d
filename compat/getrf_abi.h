/* GETRF, as lapack_stamp.h wants it. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS int layout, int64_t m, int64_t n, REAL *a, int64_t lda, void *pivots
#define C_ARGUMENTS  layout, m, n, a, lda, pivots

#define FORTRAN_PARAMETERS const void *m, const void *n, REAL *a, const void *lda, void *pivots, void *info
#define FORTRAN_ARGUMENTS  m, n, a, lda, pivots, info
#define LENGTH_PARAMETERS
#define LENGTHS

#define NUMBER_OF_A 3
/* One row, regular in all else. */
#define MAY_BE_PROBE_C (a && (int32_t)m == 1 && (int32_t)n == 1 && (int32_t)lda == 1 && pivots)
#define MAY_BE_PROBE_FORTRAN                                                                                 \
    (a && *(const int32_t *)m == 1 && *(const int32_t *)n == 1 && *(const int32_t *)lda == 1)

#define EXTENTS(read)                                                                                        \
    read(m), read(n), tb_smaller(read(m), read(n)) / 3 + 1 /* n^3 / 3 multiply-adds, and some more */

#define C_RESULT int64_t /* info, in the caller's width */

#include "compat/function.h"
#include "compat/lapack_arguments.h"
#include "words/integers.h"

static void call_c(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    /* What is returned may be a 32-bit integer. */
    *f->info =
        (int32_t)((function){address}).c(TB_COLUMN_MAJOR, f->m, f->n, f->a.data, f->a.ld, f->pivots.data);
}

static void call_fortran(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    *f->info = 0; /* of which a host with 32-bit integers writes the lower half */
    ((function){address}).fortran(&f->m, &f->n, f->a.data, &f->a.ld, f->pivots.data, f->info);
}

/* The factors of a row-major matrix are not those of its transpose: LAPACKE turns it round. */
TB_INLINED int canonicalize_c(tb_factor *factor, const tb_host_blas *host, C_PARAMETERS)
{
    if (layout != TB_COLUMN_MAJOR)
        return 1;
    const int number = tb_read_getrf(TB_ROUTINE_, OF_CBLAS(m), OF_CBLAS(n), a, OF_CBLAS(lda),
                                     (tb_pivots){pivots, host->integer_bits}, factor);
    return number > 0 ? number + 1 : 0;
}

TB_INLINED int canonicalize_fortran(tb_factor *factor, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    (void)info;
    return tb_read_getrf(TB_ROUTINE_, OF_FORTRAN(m), OF_FORTRAN(n), a, OF_FORTRAN(lda),
                         (tb_pivots){pivots, host->integer_bits}, factor);
}

#include "compat/lapack_stamp.h"
