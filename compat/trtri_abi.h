/* TRTRI, as lapack_stamp.h wants it. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS int layout, int letter, int diagonal, int64_t n, REAL *a, int64_t lda
#define C_ARGUMENTS  layout, letter, diagonal, n, a, lda

#define FORTRAN_PARAMETERS                                                                                   \
    const char *letter, const char *diagonal, const void *n, REAL *a, const void *lda, void *info
#define FORTRAN_ARGUMENTS letter, diagonal, n, a, lda, info
#define LENGTH_PARAMETERS size_t length_letter, size_t length_diagonal
#define LENGTHS           1, 1

#define NUMBER_OF_A 4
/* One row, regular in all else. */
#define MAY_BE_PROBE_C (a && (int32_t)n == 1 && (int32_t)lda == 1 && (char)letter == 'L')
#define MAY_BE_PROBE_FORTRAN                                                                                 \
    (a && *(const int32_t *)n == 1 && *(const int32_t *)lda == 1 && *letter == 'L' && *diagonal == 'N')

#define EXTENTS(read) read(n), read(n), read(n) / 6 + 1 /* n^3 / 6 multiply-adds, and some more */

#define C_RESULT int64_t /* info, in the caller's width */

#include "compat/function.h"
#include "compat/lapack_arguments.h"

static const char *diagonal_of(const tb_factor *factor)
{
    return factor->unit_diagonal ? "U" : "N";
}

static void call_c(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    /* What is returned may be a 32-bit integer. */
    *f->info =
        (int32_t)((function){address})
            .c(TB_COLUMN_MAJOR, *fortran_triangle(f->stored), *diagonal_of(f), f->n, f->a.data, f->a.ld);
}

static void call_fortran(void *address, tb_task task)
{
    const tb_factor *f = task.factor;
    *f->info = 0; /* of which a host with 32-bit integers writes the lower half */
    ((function){address})
        .fortran(fortran_triangle(f->stored), diagonal_of(f), &f->n, f->a.data, &f->a.ld, f->info, 1, 1);
}

/* A row-major triangle is the other one by columns, and so is its inverse. */
TB_INLINED int canonicalize_c(tb_factor *factor, const tb_host_blas *host, C_PARAMETERS)
{
    if (layout != TB_ROW_MAJOR && layout != TB_COLUMN_MAJOR)
        return 1;
    const int number =
        tb_read_trtri(TB_ROUTINE_, (char)letter, (char)diagonal, OF_CBLAS(n), a, OF_CBLAS(lda), factor);
    if (layout == TB_ROW_MAJOR)
        factor->stored = factor->stored == TB_LOWER ? TB_UPPER : TB_LOWER;
    return number > 0 ? number + 1 : 0;
}

TB_INLINED int canonicalize_fortran(tb_factor *factor, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    (void)info;
    return tb_read_trtri(TB_ROUTINE_, *letter, *diagonal, OF_FORTRAN(n), a, OF_FORTRAN(lda), factor);
}

#include "compat/lapack_stamp.h"
