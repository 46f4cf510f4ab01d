/* GEMMT, which LAPACK calls GEMMTR, as stamp.h wants it. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS                                                                                         \
    int layout, int triangle, int transpose_a, int transpose_b, int64_t n, int64_t k, scalar alpha,          \
        const REAL *a, int64_t lda, const REAL *b, int64_t ldb, scalar beta, REAL *c, int64_t ldc
#define C_ARGUMENTS layout, triangle, transpose_a, transpose_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *triangle, const char *transpose_a, const char *transpose_b, const void *n, const void *k,    \
        const REAL *alpha, const REAL *a, const void *lda, const REAL *b, const void *ldb, const REAL *beta, \
        REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS triangle, transpose_a, transpose_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define LENGTH_PARAMETERS size_t length_triangle, size_t length_a, size_t length_b
#define LENGTHS           1, 1, 1
#define EXTENTS(read)     read(n), read(n), read(k)
#define OPERANDS          a, b, c

#include "compat/class.h"

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.c(TB_COLUMN_MAJOR, cblas_triangle(p->mask), cblas_operation(&p->a), cblas_operation(&p->b), p->n,
           p->k, HANDED(alpha), p->a.data, p->a.ld, p->b.data, p->b.ld, HANDED(beta), p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(fortran_triangle(p->mask), fortran_operation(&p->a), fortran_operation(&p->b), &p->n, &p->k,
                 alpha, p->a.data, &p->a.ld, p->b.data, &p->b.ld, beta, p->c.data, &p->c.ld, 1, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .n = read(n), .k = read(k), .alpha = number(alpha), .a = a,                  \
        .lda = read(lda), .b = b, .ldb = read(ldb), .beta = number(beta), .c = c, .ldc = read(ldc)           \
    }

TB_INLINED int canonicalize_c(tb_product *product, const tb_host_blas *host, C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    return tb_read_cblas(layout, (int[]){triangle, transpose_a, transpose_b}, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    return tb_read_fortran((char[]){*triangle, *transpose_a, *transpose_b}, &given, product);
}

#include "compat/stamp.h"
