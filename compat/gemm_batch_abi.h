/* GEMM_BATCH, as batch_stamp.h wants it: groups of products. What a group's products have in common is an element of an array for
 * each argument; where their matrices begin, of all groups one after the other, is in one array for each of A, B and C. Included
 * once for each routine by a file that the build writes.
 */
#define C_PARAMETERS                                                                                         \
    int layout, const int *transpose_a, const int *transpose_b, const void *m, const void *n, const void *k, \
        const REAL *alpha, const REAL *const *a, const void *lda, const REAL *const *b, const void *ldb,     \
        const REAL *beta, REAL *const *c, const void *ldc, int64_t group_count, const void *group_size
#define C_ARGUMENTS                                                                                          \
    layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size

#define FORTRAN_PARAMETERS                                                                                   \
    const char *transpose_a, const char *transpose_b, const void *m, const void *n, const void *k,           \
        const REAL *alpha, const REAL *const *a, const void *lda, const REAL *const *b, const void *ldb,     \
        const REAL *beta, REAL *const *c, const void *ldc, const void *group_count, const void *group_size
#define FORTRAN_ARGUMENTS                                                                                    \
    transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size

#define LENGTH_PARAMETERS size_t length_a, size_t length_b
#define LENGTHS           1, 1

#include "compat/batch.h"
#include "compat/class.h"

/* A host's arrays of one element: with 32-bit integers it reads the lower half. */
static void call_c(void *address, const tb_product *p)
{
    const function host = {address};
    const int a = cblas_operation(&p->a), b = cblas_operation(&p->b);
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    tb_addresses at;
    for (int64_t first = 0; tb_take_addresses(p, first, &at); first += at.count)
        host.c(TB_COLUMN_MAJOR, &a, &b, &p->m, &p->n, &p->k, alpha, (const REAL *const *)at.of[TB_A],
               &p->a.ld, (const REAL *const *)at.of[TB_B], &p->b.ld, beta, (REAL *const *)at.of[TB_C],
               &p->c.ld, 1, &at.count);
}

static void call_fortran(void *address, const tb_product *p)
{
    const function host = {address};
    const int64_t one = 1;
    const REAL alpha[] = PARTS(p->alpha), beta[] = PARTS(p->beta);
    tb_addresses at;
    for (int64_t first = 0; tb_take_addresses(p, first, &at); first += at.count)
        host.fortran(fortran_operation(&p->a), fortran_operation(&p->b), &p->m, &p->n, &p->k, alpha,
                     (const REAL *const *)at.of[TB_A], &p->a.ld, (const REAL *const *)at.of[TB_B], &p->b.ld,
                     beta, (REAL *const *)at.of[TB_C], &p->c.ld, &one, &at.count, 1, 1);
}

/* An element of an array of the caller's integers. */
TB_INLINED int64_t integer_in(const tb_host_blas *host, const void *array, int64_t group)
{
    return tb_integer_at(host, (const char *)array + group * (host->integer_bits / 8));
}

#define OF_GROUP(array)       integer_in(host, array, group)
#define NUMBER_OF_GROUP(x)    NUMBER_OF_FORTRAN((x) + group * NUMBERS)
#define ADDRESSES_OF_GROUP(x) (void *)((x) + first)
#ifdef IS_COMPLEX
#define NUMBERS 2
#else
#define NUMBERS 1
#endif

#define GIVEN                                                                                                \
    {                                                                                                        \
        .routine = TB_ROUTINE_, .m = OF_GROUP(m), .n = OF_GROUP(n), .k = OF_GROUP(k),                        \
        .alpha = NUMBER_OF_GROUP(alpha), .a = ADDRESSES_OF_GROUP(a), .lda = OF_GROUP(lda),                   \
        .b = ADDRESSES_OF_GROUP(b), .ldb = OF_GROUP(ldb), .beta = NUMBER_OF_GROUP(beta),                     \
        .c = ADDRESSES_OF_GROUP(c), .ldc = OF_GROUP(ldc)                                                     \
    }
static const int64_t no_strides[TB_ROLES];

/* Makes a product of a group, whose matrices are the first-th on. Until it is spread, its operands lie where those are listed. */
TB_INLINED int group_of_c(tb_product *product, const tb_host_blas *host, int64_t group, int64_t first,
                          C_PARAMETERS)
{
    (void)group_count;
    const int64_t size = OF_GROUP(group_size);
    const tb_arguments given = GIVEN;
    const int number =
        tb_read_cblas(layout, (int[]){transpose_a[group], transpose_b[group]}, &given, product);
    return number != 0 ? number : size < 0 ? TB_ARGUMENT_GROUP_SIZE : 0;
}

TB_INLINED int group_of_fortran(tb_product *product, const tb_host_blas *host, int64_t group, int64_t first,
                                FORTRAN_PARAMETERS)
{
    (void)group_count;
    const int64_t size = OF_GROUP(group_size);
    const tb_arguments given = GIVEN;
    const int number = tb_read_fortran((char[]){transpose_a[group], transpose_b[group]}, &given, product);
    return number != 0 ? number : size < 0 ? TB_ARGUMENT_GROUP_SIZE - 1 : 0;
}

/* For every group, which is called product. */
#define FOR_EACH_GROUP(groups, group_of, arguments, use)                                                     \
    for (int64_t group = 0, first = 0; group < (groups); group++) {                                          \
        tb_product product;                                                                                  \
        const int64_t size = OF_GROUP(group_size);                                                           \
        const int number = group_of(&product, host, group, first, arguments);                                \
        use;                                                                                                 \
        first += size;                                                                                       \
    }

/* A layout that is none is irregular in a call without groups, too. */
static void look_at_c(tb_batch_call *call, const tb_host_blas *host, C_PARAMETERS)
{
    if (layout != TB_ROW_MAJOR && layout != TB_COLUMN_MAJOR)
        call->number = 1;
    else if (OF_CBLAS(group_count) < 0)
        call->number = TB_ARGUMENT_GROUP_COUNT;
    FOR_EACH_GROUP(call->number == 0 ? OF_CBLAS(group_count) : 0, group_of_c, C_ARGUMENTS, {
        call->number = number;
        if (number != 0)
            return;
        tb_add_group(call, &product, size, no_strides, true);
    })
}

static void look_at_fortran(tb_batch_call *call, const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    if (OF_FORTRAN(group_count) < 0)
        call->number = TB_ARGUMENT_GROUP_COUNT - 1;
    FOR_EACH_GROUP(OF_FORTRAN(group_count), group_of_fortran, FORTRAN_ARGUMENTS, {
        call->number = number;
        if (number != 0)
            return;
        tb_add_group(call, &product, size, no_strides, true);
    })
}

static void multiply_c(const tb_host_blas *host, C_PARAMETERS)
{
    FOR_EACH_GROUP(OF_CBLAS(group_count), group_of_c, C_ARGUMENTS, {
        if (number == 0 && size > 0 && tb_has_elements(&product)) {
            tb_spread_product(&product, size, no_strides, true);
            tb_perform(tb_task_of_product(&product), &host->base);
        }
    })
}

static void multiply_fortran(const tb_host_blas *host, FORTRAN_PARAMETERS)
{
    FOR_EACH_GROUP(OF_FORTRAN(group_count), group_of_fortran, FORTRAN_ARGUMENTS, {
        if (number == 0 && size > 0 && tb_has_elements(&product)) {
            tb_spread_product(&product, size, no_strides, true);
            tb_perform(tb_task_of_product(&product), &host->base);
        }
    })
}

/* A probe has one product; how wide integers are is not known yet. */
#define HAS_PROBES_FACTORS   tb_may_be_probe(NUMBER_OF_FORTRAN(alpha), NUMBER_OF_FORTRAN(beta))
#define MAY_BE_PROBE_C       ((int32_t)group_count == 1 && HAS_PROBES_FACTORS)
#define MAY_BE_PROBE_FORTRAN (*(const int32_t *)group_count == 1 && HAS_PROBES_FACTORS)
#define PROBED               c[0]

#include "compat/batch_stamp.h"
