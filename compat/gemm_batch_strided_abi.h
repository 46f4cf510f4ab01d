/* GEMM_BATCH_STRIDED, as batch_stamp.h wants it: one group, each matrix as far behind the one before. Included once for each
 * routine by a file that the build writes. Strides count elements, also of complex numbers, as MKL has them.
 */
#define C_PARAMETERS                                                                                         \
    int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, scalar alpha,             \
        const REAL *a, int64_t lda, int64_t stride_a, const REAL *b, int64_t ldb, int64_t stride_b,          \
        scalar beta, REAL *c, int64_t ldc, int64_t stride_c, int64_t size
#define C_ARGUMENTS                                                                                          \
    layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,      \
        stride_c, size

#define FORTRAN_PARAMETERS                                                                                   \
    const char *transpose_a, const char *transpose_b, const void *m, const void *n, const void *k,           \
        const REAL *alpha, const REAL *a, const void *lda, const void *stride_a, const REAL *b,              \
        const void *ldb, const void *stride_b, const REAL *beta, REAL *c, const void *ldc,                   \
        const void *stride_c, const void *size
#define FORTRAN_ARGUMENTS                                                                                    \
    transpose_a, transpose_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, size

#define LENGTH_PARAMETERS size_t length_a, size_t length_b
#define LENGTHS           1, 1

#include "compat/batch.h"
#include "compat/class.h"

static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.c(TB_COLUMN_MAJOR, cblas_operation(&p->a), cblas_operation(&p->b), p->m, p->n, p->k, HANDED(alpha),
           p->a.data, p->a.ld, p->batch.members[TB_A].stride, p->b.data, p->b.ld,
           p->batch.members[TB_B].stride, HANDED(beta), p->c.data, p->c.ld, p->batch.members[TB_C].stride,
           tb_members_of(p));
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const int64_t size = tb_members_of(p);
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    host.fortran(fortran_operation(&p->a), fortran_operation(&p->b), &p->m, &p->n, &p->k, alpha, p->a.data,
                 &p->a.ld, &p->batch.members[TB_A].stride, p->b.data, &p->b.ld,
                 &p->batch.members[TB_B].stride, beta, p->c.data, &p->c.ld, &p->batch.members[TB_C].stride,
                 &size, 1, 1);
}

#define GIVEN(read, number)                                                                                  \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .m = read(m), .n = read(n), .k = read(k), .alpha = number(alpha), .a = a,    \
        .lda = read(lda), .b = b, .ldb = read(ldb), .beta = number(beta), .c = c, .ldc = read(ldc)           \
    }

/* One of the products, and how far apart they are. */
TB_INLINED int batch_of_cblas(tb_product *product, int64_t strides[TB_ROLES], const tb_host_blas *host,
                              C_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_CBLAS, NUMBER_OF_CBLAS);
    const bool exchanged = layout == TB_ROW_MAJOR;
    strides[TB_A] = OF_CBLAS(exchanged ? stride_b : stride_a);
    strides[TB_B] = OF_CBLAS(exchanged ? stride_a : stride_b);
    strides[TB_C] = OF_CBLAS(stride_c);
    const int number = tb_read_cblas(layout, (int[]){transpose_a, transpose_b}, &given, product);
    return number != 0 ? number : OF_CBLAS(size) < 0 ? TB_ARGUMENT_BATCH_SIZE : 0;
}

TB_INLINED int batch_of_fortran(tb_product *product, int64_t strides[TB_ROLES], const tb_host_blas *host,
                                FORTRAN_PARAMETERS)
{
    const tb_arguments given = GIVEN(OF_FORTRAN, NUMBER_OF_FORTRAN);
    strides[TB_A] = OF_FORTRAN(stride_a);
    strides[TB_B] = OF_FORTRAN(stride_b);
    strides[TB_C] = OF_FORTRAN(stride_c);
    const int number = tb_read_fortran((char[]){*transpose_a, *transpose_b}, &given, product);
    return number != 0 ? number : OF_FORTRAN(size) < 0 ? TB_ARGUMENT_BATCH_SIZE - 1 : 0;
}

static void look_at_c(tb_batch_call *call, const tb_host_blas *host, C_PARAMETERS)
{
    tb_product product;
    int64_t strides[TB_ROLES];
    call->number = batch_of_cblas(&product, strides, host, C_ARGUMENTS);
    if (call->number == 0)
        tb_add_group(call, &product, OF_CBLAS(size), strides, false);
}

static void look_at_fortran(tb_batch_call *call, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    tb_product product;
    int64_t strides[TB_ROLES];
    call->number = batch_of_fortran(&product, strides, host, FORTRAN_ARGUMENTS);
    if (call->number == 0)
        tb_add_group(call, &product, OF_FORTRAN(size), strides, false);
}

static void multiply_c(const tb_host_blas *host, C_PARAMETERS)
{
    tb_product product;
    int64_t strides[TB_ROLES];
    if (batch_of_cblas(&product, strides, host, C_ARGUMENTS) != 0 || OF_CBLAS(size) == 0)
        return;
    tb_spread_product(&product, OF_CBLAS(size), strides, false);
    tb_perform(tb_task_of_product(&product), &host->base);
}

static void multiply_fortran(const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    tb_product product;
    int64_t strides[TB_ROLES];
    if (batch_of_fortran(&product, strides, host, FORTRAN_ARGUMENTS) != 0 || OF_FORTRAN(size) == 0)
        return;
    tb_spread_product(&product, OF_FORTRAN(size), strides, false);
    tb_perform(tb_task_of_product(&product), &host->base);
}

#define MAY_BE_PROBE_C       tb_may_be_probe(NUMBER_OF_CBLAS(alpha), NUMBER_OF_CBLAS(beta))
#define MAY_BE_PROBE_FORTRAN tb_may_be_probe(NUMBER_OF_FORTRAN(alpha), NUMBER_OF_FORTRAN(beta))
#define PROBED               c

#include "compat/batch_stamp.h"
