/* SYMM and HEMM, as stamp.h wants them. Included once for each routine by a file that the build writes. */
#define C_PARAMETERS                                                                                         \
    int layout, int side, int triangle, int64_t m, int64_t n, scalar alpha, const REAL *a, int64_t lda,      \
        const REAL *b, int64_t ldb, scalar beta, REAL *c, int64_t ldc
#define C_ARGUMENTS layout, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *side, const char *triangle, const void *m, const void *n, const REAL *alpha, const REAL *a,  \
        const void *lda, const REAL *b, const void *ldb, const REAL *beta, REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc

#define LENGTH_PARAMETERS size_t length_side, size_t length_triangle
#define LENGTHS           1, 1
#define EXTENTS(read)     read(m), read(n), is_left_##read(side) ? read(m) : read(n)
#define OPERANDS          a, b, c

#define is_left_OF_CBLAS(side)   ((side) == TB_CBLAS_LEFT)
#define is_left_OF_FORTRAN(side) (*(side) == 'L' || *(side) == 'l')

#include "compat/class.h"

/* The symmetric operand, which stands first in the call, and the other one. */
static const tb_operand *symmetric_of(const tb_product *p)
{
    return tb_is_symmetric_left(p) ? &p->a : &p->b;
}

static const tb_operand *general_of(const tb_product *p)
{
    return tb_is_symmetric_left(p) ? &p->b : &p->a;
}

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const tb_operand *a = symmetric_of(p), *b = general_of(p);
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.c(TB_COLUMN_MAJOR, tb_is_symmetric_left(p) ? TB_CBLAS_LEFT : TB_CBLAS_RIGHT,
           cblas_triangle(a->stored), p->m, p->n, HANDED(alpha), a->data, a->ld, b->data, b->ld, HANDED(beta),
           p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const tb_operand *a = symmetric_of(p), *b = general_of(p);
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(tb_is_symmetric_left(p) ? "L" : "R", fortran_triangle(a->stored), &p->m, &p->n, alpha,
                 a->data, &a->ld, b->data, &b->ld, beta, p->c.data, &p->c.ld, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .m = read(m), .n = read(n), .alpha = number(alpha), .a = a,                  \
        .lda = read(lda), .b = b, .ldb = read(ldb), .beta = number(beta), .c = c, .ldc = read(ldc)           \
    }

TB_INLINED int canonicalize_c(tb_product *product, const tb_host_blas *host, C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    return tb_read_cblas(layout, (int[]){side, triangle}, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    return tb_read_fortran((char[]){*side, *triangle}, &given, product);
}

#include "compat/stamp.h"
