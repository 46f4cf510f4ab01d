/* TRMM and TRSM, as stamp.h wants them. Included once for each routine by a file that the build writes. Their
 * B is what they write: here it is called c, as it is in the product.
 */
#define C_PARAMETERS                                                                                         \
    int layout, int side, int triangle, int transpose, int diagonal, int64_t m, int64_t n, scalar alpha,     \
        const REAL *a, int64_t lda, REAL *c, int64_t ldc
#define C_ARGUMENTS layout, side, triangle, transpose, diagonal, m, n, alpha, a, lda, c, ldc

#define FORTRAN_PARAMETERS                                                                                   \
    const char *side, const char *triangle, const char *transpose, const char *diagonal, const void *m,      \
        const void *n, const REAL *alpha, const REAL *a, const void *lda, REAL *c, const void *ldc
#define FORTRAN_ARGUMENTS side, triangle, transpose, diagonal, m, n, alpha, a, lda, c, ldc

#define LENGTH_PARAMETERS                                                                                    \
    size_t length_side, size_t length_triangle, size_t length_transpose, size_t length_diagonal
#define LENGTHS       1, 1, 1, 1
#define EXTENTS(read) read(m), read(n), is_left_##read(side) ? read(m) : read(n)
#define OPERANDS      a, c, c

#define is_left_OF_CBLAS(side)   ((side) == TB_CBLAS_LEFT)
#define is_left_OF_FORTRAN(side) (*(side) == 'L' || *(side) == 'l')

#define IN_PLACE

#include "compat/class.h"

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const tb_operand *a = tb_triangle_of(p);
    const REAL alpha[] = PARTS(p->alpha);
    host.c(TB_COLUMN_MAJOR, tb_is_triangle_left(p) ? TB_CBLAS_LEFT : TB_CBLAS_RIGHT,
           cblas_triangle(a->stored), cblas_operation(a),
           a->unit_diagonal ? TB_CBLAS_UNIT : TB_CBLAS_NON_UNIT, p->m, p->n, HANDED(alpha), a->data, a->ld,
           p->c.data, p->c.ld);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const tb_operand *a = tb_triangle_of(p);
    const REAL alpha[] = PARTS(p->alpha);
    host.fortran(tb_is_triangle_left(p) ? "L" : "R", fortran_triangle(a->stored), fortran_operation(a),
                 a->unit_diagonal ? "U" : "N", &p->m, &p->n, alpha, a->data, &a->ld, p->c.data, &p->c.ld, 1,
                 1, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .m = read(m), .n = read(n), .alpha = number(alpha), .a = a,                  \
        .lda = read(lda), .c = c, .ldc = read(ldc)                                                           \
    }

TB_INLINED int canonicalize_c(tb_product *product, const tb_host_blas *host, C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    return tb_read_cblas(layout, (int[]){side, triangle, transpose, diagonal}, &given, product);
}

TB_INLINED int canonicalize_fortran(tb_product *product, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    return tb_read_fortran((char[]){*side, *triangle, *transpose, *diagonal}, &given, product);
}

#include "compat/stamp.h"
