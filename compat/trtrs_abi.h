/* TRTRS, as lapack_stamp.h wants it. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS                                                                                         \
    int layout, int letter, int operation, int diagonal, int64_t n, int64_t nrhs, REAL *a, int64_t lda,      \
        REAL *b, int64_t ldb
#define C_ARGUMENTS layout, letter, operation, diagonal, n, nrhs, a, lda, b, ldb

#define FORTRAN_PARAMETERS                                                                                   \
    const char *letter, const char *operation, const char *diagonal, const void *n, const void *nrhs,        \
        REAL *a, const void *lda, REAL *b, const void *ldb, void *info
#define FORTRAN_ARGUMENTS letter, operation, diagonal, n, nrhs, a, lda, b, ldb, info
#define LENGTH_PARAMETERS size_t length_letter, size_t length_operation, size_t length_diagonal
#define LENGTHS           1, 1, 1

#define NUMBER_OF_A 6
#define NUMBER_OF_B 8
/* One row, regular in all else. */
#define MAY_BE_PROBE_C                                                                                       \
    (a && b && (int32_t)n == 1 && (int32_t)nrhs == 1 && (int32_t)lda == 1 && (int32_t)ldb == 1 &&            \
     (char)letter == 'L' && (char)operation == 'N' && (char)diagonal == 'N')
#define MAY_BE_PROBE_FORTRAN                                                                                 \
    (a && b && *(const int32_t *)n == 1 && *(const int32_t *)nrhs == 1 && *(const int32_t *)lda == 1 &&      \
     *(const int32_t *)ldb == 1 && *letter == 'L' && *operation == 'N' && *diagonal == 'N')

#define EXTENTS(read) read(n), read(n), read(nrhs) / 2 + 1 /* n^2 / 2 multiply-adds for each column of B */

#define C_RESULT int64_t /* info, in the caller's width */

#include "compat/function.h"
#include "compat/lapack_arguments.h"

static void call_c(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    /* What is returned may be a 32-bit integer. */
    *f->info =
        (int32_t)((function){address})
            .c(TB_COLUMN_MAJOR, *fortran_triangle(f->stored), *tb_solve_operation(f),
               f->unit_diagonal ? 'U' : 'N', f->n, f->b.columns, f->a.data, f->a.ld, f->b.data, f->b.ld);
}

static void call_fortran(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    *f->info = 0; /* of which a host with 32-bit integers writes the lower half */
    ((function){address})
        .fortran(fortran_triangle(f->stored), tb_solve_operation(f), f->unit_diagonal ? "U" : "N", &f->n,
                 &f->b.columns, f->a.data, &f->a.ld, f->b.data, &f->b.ld, f->info, 1, 1, 1);
}

/* LAPACKE turns round what is row-major. */
TB_INLINED int canonicalize_c(tb_factor *factor, const tb_host_blas *host, C_PARAMETERS)
{
    if (layout != TB_COLUMN_MAJOR)
        return 1;
    const int number =
        tb_read_solve(TB_ROUTINE_, (char[4]){(char)letter, (char)operation, (char)diagonal}, OF_CBLAS(n),
                      OF_CBLAS(nrhs), a, OF_CBLAS(lda), (tb_pivots){NULL, 0}, b, OF_CBLAS(ldb), factor);
    return number > 0 ? number + 1 : 0;
}

TB_INLINED int canonicalize_fortran(tb_factor *factor, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    (void)info;
    return tb_read_solve(TB_ROUTINE_, (char[4]){*letter, *operation, *diagonal}, OF_FORTRAN(n),
                         OF_FORTRAN(nrhs), a, OF_FORTRAN(lda), (tb_pivots){NULL, 0}, b, OF_FORTRAN(ldb),
                         factor);
}

#include "compat/lapack_stamp.h"
