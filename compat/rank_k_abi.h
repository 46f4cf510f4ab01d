/* SYRK and HERK, as stamp.h wants them. Included once for each routine by a file of its own. Scalars of HERK are real:
 * REAL_SCALARS. */
#define CBLAS_PARAMETERS                                                                                     \
    int layout, int triangle, int transpose, int64_t n, int64_t k, scalar alpha, const REAL *a, int64_t lda, \
        scalar beta, REAL *c, int64_t ldc
#define CBLAS_ARGUMENTS layout, triangle, transpose, n, k, alpha, a, lda, beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *triangle, const char *transpose, const void *n, const void *k, const REAL *alpha,            \
        const REAL *a, const void *lda, const REAL *beta, REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS triangle, transpose, n, k, alpha, a, lda, beta, c, ldc

#define LENGTH_PARAMETERS size_t length_triangle, size_t length_transpose
#define LENGTHS           1, 1
#define EXTENTS(read)     read(n), read(n), read(k)
#define OPERANDS          a, a, c

#include "compat/class.h"

static void call_cblas(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.cblas(TB_COLUMN_MAJOR, p->mask == TB_LOWER ? TB_CBLAS_LOWER : TB_CBLAS_UPPER, cblas_operation(&p->a),
               p->n, p->k, HANDED(alpha), p->a.data, p->a.ld, HANDED(beta), p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(p->mask == TB_LOWER ? "L" : "U", fortran_operation(&p->a), &p->n, &p->k, alpha, p->a.data,
                 &p->a.ld, beta, p->c.data, &p->c.ld, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .n = read(n), .k = read(k), .alpha = number(alpha), .a = a,                  \
        .lda = read(lda), .beta = number(beta), .c = c, .ldc = read(ldc)                                     \
    }

TB_INLINED int canonicalize_cblas(tb_product *product, const tb_host_blas *host, CBLAS_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    return tb_rank_k_of_cblas(layout, triangle, transpose, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    return tb_rank_k_of_fortran(*triangle, *transpose, &given, product);
}

#include "compat/stamp.h"
