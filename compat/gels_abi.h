/* GELS, as lapack_stamp.h wants it. Included once for each routine by a file that the build writes.
 *
 * LAPACKE's function that is no _work function has no work: what is read instead lies on the caller's stack, and is handed on at most. A
 * host's that has none leaves it alone. */
#define C_PARAMETERS                                                                                         \
    int layout, int letter, int64_t m, int64_t n, int64_t nrhs, REAL *a, int64_t lda, REAL *b, int64_t ldb,  \
        REAL *work, int64_t lwork
#define C_ARGUMENTS layout, letter, m, n, nrhs, a, lda, b, ldb, work, lwork

#define FORTRAN_PARAMETERS                                                                                   \
    const char *letter, const void *m, const void *n, const void *nrhs, REAL *a, const void *lda, REAL *b,   \
        const void *ldb, REAL *work, const void *lwork, void *info
#define FORTRAN_ARGUMENTS letter, m, n, nrhs, a, lda, b, ldb, work, lwork, info
#define LENGTH_PARAMETERS size_t length_letter
#define LENGTHS           1

#define NUMBER_OF_A 5
#define NUMBER_OF_B 7
/* One row, regular in all else. */
#define MAY_BE_PROBE_C                                                                                       \
    (a && b && (int32_t)m == 1 && (int32_t)n == 1 && (int32_t)nrhs == 1 && (int32_t)lda == 1 &&              \
     (int32_t)ldb == 1 && (char)letter == 'N')
#define MAY_BE_PROBE_FORTRAN                                                                                 \
    (a && b && *(const int32_t *)m == 1 && *(const int32_t *)n == 1 && *(const int32_t *)nrhs == 1 &&        \
     *(const int32_t *)lda == 1 && *(const int32_t *)ldb == 1 && *letter == 'N')
#define MAY_BE_QUERY_C       (tb_spelling_rows[caller.spelling].is_work && (int32_t)lwork == TB_WORK_QUERY)
#define MAY_BE_QUERY_FORTRAN (*(const int32_t *)lwork == TB_WORK_QUERY)

#define EXTENTS(read)                                                                                        \
    read(m), read(n), tb_smaller(read(m), read(n)) + 2 * read(nrhs) /* about as many multiply-adds */

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
                   .c(TB_COLUMN_MAJOR, *tb_solve_operation(f), f->m, f->n, f->b.columns, f->a.data, f->a.ld,
                      f->b.data, f->b.ld, work.data, work.count);
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
        .fortran(tb_solve_operation(f), &f->m, &f->n, &f->b.columns, f->a.data, &f->a.ld, f->b.data, &f->b.ld,
                 work.data, &work.count, f->info, 1);
    tb_unmake_work(&work);
}

/* LAPACKE turns round what is row-major. */
TB_INLINED int canonicalize_c(tb_factor *factor, const tb_host_blas *host, C_PARAMETERS)
{
    const bool has_work = tb_spelling_rows[host->spelling].is_work;
    if (layout != TB_COLUMN_MAJOR)
        return 1;
    const int number =
        tb_read_gels(TB_ROUTINE_, (char)letter, OF_CBLAS(m), OF_CBLAS(n), OF_CBLAS(nrhs), a, OF_CBLAS(lda), b,
                     OF_CBLAS(ldb), has_work ? OF_CBLAS(lwork) : INT64_MAX, factor);
    if (number == TB_IS_QUERY && !host->address)
        tb_answer_query(factor, work);
    return number > 0 ? number + 1 : number;
}

TB_INLINED int canonicalize_fortran(tb_factor *factor, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    (void)info;
    const int number = tb_read_gels(TB_ROUTINE_, *letter, OF_FORTRAN(m), OF_FORTRAN(n), OF_FORTRAN(nrhs), a,
                                    OF_FORTRAN(lda), b, OF_FORTRAN(ldb), OF_FORTRAN(lwork), factor);
    if (number == TB_IS_QUERY && !host->address)
        tb_answer_query(factor, work);
    return number;
}

#include "compat/lapack_stamp.h"
