/* GEMM, as stamp.h wants it. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS                                                                                         \
    int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, scalar alpha,             \
        const REAL *a, int64_t lda, const REAL *b, int64_t ldb, scalar beta, REAL *c, int64_t ldc
#define C_ARGUMENTS layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *transpose_a, const char *transpose_b, const void *m, const void *n, const void *k,           \
        const REAL *alpha, const REAL *a, const void *lda, const REAL *b, const void *ldb, const REAL *beta, \
        REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#define LENGTH_PARAMETERS size_t length_a, size_t length_b
#define LENGTHS           1, 1
#define EXTENTS(read)     read(m), read(n), read(k)
#define OPERANDS          a, b, c

#include "compat/class.h"

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.c(TB_COLUMN_MAJOR, cblas_operation(&p->a), cblas_operation(&p->b), p->m, p->n, p->k, HANDED(alpha),
           p->a.data, p->a.ld, p->b.data, p->b.ld, HANDED(beta), p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(fortran_operation(&p->a), fortran_operation(&p->b), &p->m, &p->n, &p->k, alpha, p->a.data,
                 &p->a.ld, p->b.data, &p->b.ld, beta, p->c.data, &p->c.ld, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .m = read(m), .n = read(n), .k = read(k), .alpha = number(alpha), .a = a,    \
        .lda = read(lda), .b = b, .ldb = read(ldb), .beta = number(beta), .c = c, .ldc = read(ldc)           \
    }

TB_INLINED int canonicalize_c(tb_product *product, const tb_host_blas *host, C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    return tb_read_cblas(layout, (int[]){transpose_a, transpose_b}, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    return tb_read_fortran((char[]){*transpose_a, *transpose_b}, &given, product);
}

#include "compat/stamp.h"
