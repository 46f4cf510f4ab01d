/* ORGQR and ORGLQ, of complex numbers UNGQR and UNGLQ, as lapack_stamp.h wants it. Included once for each routine by a file that the build
 * writes.
 *
 * LAPACKE's function that is no _work function has no work: what is read instead lies on the caller's stack, or in registers, and is
 * handed on at most. A host's that has none leaves it alone. */
#define C_PARAMETERS                                                                                         \
    int layout, int64_t m, int64_t n, int64_t k, REAL *a, int64_t lda, REAL *tau, REAL *work, int64_t lwork
#define C_ARGUMENTS layout, m, n, k, a, lda, tau, work, lwork

#define FORTRAN_PARAMETERS                                                                                   \
    const void *m, const void *n, const void *k, REAL *a, const void *lda, REAL *tau, REAL *work,            \
        const void *lwork, void *info
#define FORTRAN_ARGUMENTS m, n, k, a, lda, tau, work, lwork, info
#define LENGTH_PARAMETERS
#define LENGTHS

#define NUMBER_OF_A   4
#define NUMBER_OF_TAU 6
/* One row, regular in all else. */
#define MAY_BE_PROBE_C                                                                                       \
    (a && (int32_t)m == 1 && (int32_t)n == 1 && (int32_t)k == 1 && (int32_t)lda == 1 && tau)
#define MAY_BE_PROBE_FORTRAN                                                                                 \
    (a && *(const int32_t *)m == 1 && *(const int32_t *)n == 1 && *(const int32_t *)k == 1 &&                \
     *(const int32_t *)lda == 1 && tau)
#define MAY_BE_QUERY_C       (tb_spelling_rows[caller.spelling].is_work && (int32_t)lwork == TB_WORK_QUERY)
#define MAY_BE_QUERY_FORTRAN (*(const int32_t *)lwork == TB_WORK_QUERY)

#define EXTENTS(read) read(m), read(n), 2 * read(k) / 3 + 1 /* 2 n^3 / 3 multiply-adds, and some more */

#define C_RESULT int64_t /* info, in the caller's width */

#include "compat/function.h"
#include "compat/lapack_arguments.h"
#include "words/integers.h"

static void call_c(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    tb_work work;
    *f->info = TB_INFO_UNDONE;
    if (!tb_make_work(&work, f))
        return;
    /* What is returned may be a 32-bit integer. */
    *f->info = (int32_t)((function){address})
                   .c(TB_COLUMN_MAJOR, f->m, f->n, f->reflectors.count, f->a.data, f->a.ld, f->reflectors.tau,
                      work.data, work.count);
    tb_unmake_work(&work);
}

static void call_fortran(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    tb_work work;
    *f->info = TB_INFO_UNDONE;
    if (!tb_make_work(&work, f))
        return;
    *f->info = 0; /* of which a host with 32-bit integers writes the lower half */
    ((function){address})
        .fortran(&f->m, &f->n, &f->reflectors.count, f->a.data, &f->a.ld, f->reflectors.tau, work.data,
                 &work.count, f->info);
    tb_unmake_work(&work);
}

/* LAPACKE turns round what is row-major. */
TB_INLINED int canonicalize_c(tb_factor *factor, const tb_host_blas *host, C_PARAMETERS)
{
    const bool has_work = tb_spelling_rows[host->spelling].is_work;
    if (layout != TB_COLUMN_MAJOR)
        return 1;
    const int number = tb_read_orgqr(TB_ROUTINE_, OF_CBLAS(m), OF_CBLAS(n), OF_CBLAS(k), a, OF_CBLAS(lda),
                                     tau, has_work ? OF_CBLAS(lwork) : INT64_MAX, factor);
    if (number == TB_IS_QUERY && !host->address)
        tb_answer_query(factor, work);
    return number > 0 ? number + 1 : number;
}

TB_INLINED int canonicalize_fortran(tb_factor *factor, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    (void)info;
    const int number = tb_read_orgqr(TB_ROUTINE_, OF_FORTRAN(m), OF_FORTRAN(n), OF_FORTRAN(k), a,
                                     OF_FORTRAN(lda), tau, OF_FORTRAN(lwork), factor);
    if (number == TB_IS_QUERY && !host->address)
        tb_answer_query(factor, work);
    return number;
}

#include "compat/lapack_stamp.h"
