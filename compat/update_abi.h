/* SYRK, HERK, SYR2K and HER2K, as stamp.h wants them. Included by rank_k_abi.h and rank_2k_abi.h, which say:
 *
 *   OF_B(...)                                what belongs to B; nothing where the routine has none
 *   OPERANDS                                 as stamp.h wants them
 *
 * Scalars of HERK are real: REAL_SCALARS; so is beta of HER2K: REAL_BETA.
 */
#define C_PARAMETERS                                                                                         \
    int layout, int triangle, int transpose, int64_t n, int64_t k, scalar alpha, const REAL *a,              \
        int64_t lda OF_B(, const REAL *b, int64_t ldb), beta_scalar beta, REAL *c, int64_t ldc
#define C_ARGUMENTS layout, triangle, transpose, n, k, alpha, a, lda OF_B(, b, ldb), beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *triangle, const char *transpose, const void *n, const void *k, const REAL *alpha,            \
        const REAL *a, const void *lda OF_B(, const REAL *b, const void *ldb), const REAL *beta, REAL *c,    \
        const void *ldc
#define FORTRAN_ARGUMENTS triangle, transpose, n, k, alpha, a, lda OF_B(, b, ldb), beta, c, ldc

#define LENGTH_PARAMETERS size_t length_triangle, size_t length_transpose
#define LENGTHS           1, 1
#define EXTENTS(read)     read(n), read(n), read(k)

#include "compat/class.h"

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.c(TB_COLUMN_MAJOR, cblas_triangle(p->mask), cblas_operation(&p->a), p->n, p->k, HANDED(alpha),
           p->a.data, p->a.ld OF_B(, p->b.data, p->b.ld), HANDED_BETA(beta), p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(fortran_triangle(p->mask), fortran_operation(&p->a), &p->n, &p->k, alpha, p->a.data,
                 &p->a.ld OF_B(, p->b.data, &p->b.ld), beta, p->c.data, &p->c.ld, 1, 1);
}

#define GIVEN(read, number, beta_number)                                                                     \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .n = read(n), .k = read(k), .alpha = number(alpha), .a = a,                  \
        .lda = read(lda), OF_B(.b = b, .ldb = read(ldb), ).beta = beta_number(beta), .c = c,                 \
        .ldc = read(ldc)                                                                                     \
    }

TB_INLINED int canonicalize_c(tb_product *product, const tb_host_blas *host, C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS, BETA_OF_CBLAS);
    return tb_read_cblas(layout, (int[]){triangle, transpose}, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN, BETA_OF_FORTRAN);
    return tb_read_fortran((char[]){*triangle, *transpose}, &given, product);
}

#include "compat/stamp.h"
