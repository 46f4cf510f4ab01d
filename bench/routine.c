#include "bench/routine.h"

#include <string.h>

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112, LOWER = 122 };

static const bench_routine routines[] = {
    {"sgemm", BENCH_GEMM, TB_FP32}, {"dgemm", BENCH_GEMM, TB_FP64},   {"ssyrk", BENCH_SYRK, TB_FP32},
    {"dsyrk", BENCH_SYRK, TB_FP64}, {"sgemmt", BENCH_GEMMT, TB_FP32}, {"dgemmt", BENCH_GEMMT, TB_FP64},
};
enum { ROUTINES = sizeof routines / sizeof *routines };

const bench_routine *bench_find_routine(const char *name)
{
    for (int i = 0; i < ROUTINES; i++)
        if (strcmp(routines[i].name, name) == 0)
            return &routines[i];
    return NULL;
}

const char *bench_routine_names(void)
{
    return "sgemm, dgemm, ssyrk, dsyrk, sgemmt, dgemmt";
}

bool bench_has_product(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m, int64_t n)
{
    return routine->class == BENCH_GEMM || (m == n && transpose_a != transpose_b);
}

/* The library's routine of that name; while it has none, the GEMM of the element. */
static tb_routine library_routine(const bench_routine *routine)
{
    for (tb_routine row = 0; row < TB_ROUTINES; row++)
        if (strcmp(tb_routine_rows[row].name, routine->name) == 0)
            return row;
    return routine->element == TB_FP64 ? TB_DGEMM : TB_SGEMM;
}

tb_product bench_product_of(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                            int64_t n, int64_t k, void *a, void *b, void *c)
{
    const bool b_is_a = routine->class == BENCH_SYRK;
    tb_product product =
        tb_gemm(routine->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, transpose_a, transpose_b, m, n, k, 1, a,
                transpose_a ? k : m, b_is_a ? a : b, transpose_b ? n : k, 0, c, m);
    product.routine = library_routine(routine);
    if (routine->class != BENCH_GEMM)
        product.mask = TB_LOWER;
    return product;
}

void bench_fill_random(tb_element element, void *matrix, size_t count)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const double number = (double)((int64_t)state >> 11) * 0x1p-52;
        if (element == TB_FP64)
            ((double *)matrix)[i] = number;
        else
            ((float *)matrix)[i] = (float)number;
    }
}

double bench_flop(const tb_product *product)
{
    return product->mask == TB_FULL ? 2 * tb_volume(product)
                                    : tb_volume(product) + (double)product->n * (double)product->k;
}

bool bench_has_operand(const bench_routine *routine, tb_role role)
{
    return role != TB_B || routine->class != BENCH_SYRK;
}

size_t bench_bytes_in(const bench_routine *routine, const tb_product *product)
{
    return tb_operand_bytes(&product->a) +
           (bench_has_operand(routine, TB_B) ? tb_operand_bytes(&product->b) : 0);
}

size_t bench_bytes_out(const tb_product *product)
{
    const size_t all = tb_operand_bytes(&product->c);
    return product->mask == TB_FULL ? all : (all + tb_column_bytes(&product->c)) / 2;
}

/* ---- other libraries' calls ------------------------------------------------------------------------------- */

static cublasOperation_t cublas_operation(const tb_operand *operand)
{
    return operand->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static int cblas_operation(const tb_operand *operand)
{
    return operand->transposed ? TRANSPOSE : NO_TRANSPOSE;
}

static const char *fortran_operation(const tb_operand *operand)
{
    return operand->transposed ? "T" : "N";
}

/* The calls for one element: type is that of its numbers, letter cuBLAS's for it. */
#define STAMP_CALLS(type, letter)                                                                            \
    static cublasStatus_t call_cublas_##type(cublasHandle_t handle, bench_class class, const tb_product *p)  \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const cublasOperation_t of_a = cublas_operation(&p->a), of_b = cublas_operation(&p->b);              \
        const type *a = p->a.data, *b = p->b.data;                                                           \
        type *c = p->c.data;                                                                                 \
        switch (class) {                                                                                     \
        case BENCH_SYRK:                                                                                     \
            return cublas##letter##syrk_64(handle, CUBLAS_FILL_MODE_LOWER, of_a, p->n, p->k, &alpha, a,      \
                                           p->a.ld, &beta, c, p->c.ld);                                      \
        case BENCH_GEMMT:                                                                                    \
            return cublas##letter##syrkx_64(handle, CUBLAS_FILL_MODE_LOWER, of_a, p->n, p->k, &alpha, a,     \
                                            p->a.ld, b, p->b.ld, &beta, c, p->c.ld);                         \
        default:                                                                                             \
            return cublas##letter##gemm_64(handle, of_a, of_b, p->m, p->n, p->k, &alpha, a, p->a.ld, b,      \
                                           p->b.ld, &beta, c, p->c.ld);                                      \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static cublasStatus_t call_cublas_xt_##type(cublasXtHandle_t handle, bench_class class,                  \
                                                const tb_product *p)                                         \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const cublasOperation_t of_a = cublas_operation(&p->a), of_b = cublas_operation(&p->b);              \
        const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;                                   \
        const size_t lda = (size_t)p->a.ld, ldb = (size_t)p->b.ld, ldc = (size_t)p->c.ld;                    \
        const type *a = p->a.data, *b = p->b.data;                                                           \
        type *c = p->c.data;                                                                                 \
        switch (class) {                                                                                     \
        case BENCH_SYRK:                                                                                     \
            return cublasXt##letter##syrk(handle, CUBLAS_FILL_MODE_LOWER, of_a, n, k, &alpha, a, lda, &beta, \
                                          c, ldc);                                                           \
        case BENCH_GEMMT:                                                                                    \
            return cublasXt##letter##syrkx(handle, CUBLAS_FILL_MODE_LOWER, of_a, n, k, &alpha, a, lda, b,    \
                                           ldb, &beta, c, ldc);                                              \
        default:                                                                                             \
            return cublasXt##letter##gemm(handle, of_a, of_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c,     \
                                          ldc);                                                              \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    /* GEMMT has GEMM's arguments, but for a triangle in front and one size less. */                         \
    typedef void cblas_gemm_##type(int, int, int, int, int, int, type, const type *, int, const type *, int, \
                                   type, type *, int);                                                       \
    typedef void cblas_syrk_##type(int, int, int, int, int, type, const type *, int, type, type *, int);     \
                                                                                                             \
    static void call_cblas_##type(bench_function *function, bench_class class, const tb_product *p)          \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const int of_a = cblas_operation(&p->a), of_b = cblas_operation(&p->b);                              \
        const int m = (int)p->m, n = (int)p->n, k = (int)p->k;                                               \
        const int lda = (int)p->a.ld, ldb = (int)p->b.ld, ldc = (int)p->c.ld;                                \
        if (class == BENCH_SYRK)                                                                             \
            ((cblas_syrk_##type *)function)(COLUMN_MAJOR, LOWER, of_a, n, k, alpha, p->a.data, lda, beta,    \
                                            p->c.data, ldc);                                                 \
        else if (class == BENCH_GEMMT)                                                                       \
            ((cblas_gemm_##type *)function)(COLUMN_MAJOR, LOWER, of_a, of_b, n, k, alpha, p->a.data, lda,    \
                                            p->b.data, ldb, beta, p->c.data, ldc);                           \
        else                                                                                                 \
            ((cblas_gemm_##type *)function)(COLUMN_MAJOR, of_a, of_b, m, n, k, alpha, p->a.data, lda,        \
                                            p->b.data, ldb, beta, p->c.data, ldc);                           \
    }                                                                                                        \
                                                                                                             \
    typedef void fortran_gemm_##type(const char *, const char *, const int *, const int *, const int *,      \
                                     const type *, const type *, const int *, const type *, const int *,     \
                                     const type *, type *, const int *);                                     \
    typedef void fortran_syrk_##type(const char *, const char *, const int *, const int *, const type *,     \
                                     const type *, const int *, const type *, type *, const int *);          \
                                                                                                             \
    static void call_fortran_##type(bench_function *function, bench_class class, const tb_product *p)        \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const int m = (int)p->m, n = (int)p->n, k = (int)p->k;                                               \
        const int lda = (int)p->a.ld, ldb = (int)p->b.ld, ldc = (int)p->c.ld;                                \
        if (class == BENCH_SYRK)                                                                             \
            ((fortran_syrk_##type *)function)("L", fortran_operation(&p->a), &n, &k, &alpha, p->a.data,      \
                                              &lda, &beta, p->c.data, &ldc);                                 \
        else                                                                                                 \
            ((fortran_gemm_##type *)function)(fortran_operation(&p->a), fortran_operation(&p->b), &m, &n,    \
                                              &k, &alpha, p->a.data, &lda, p->b.data, &ldb, &beta,           \
                                              p->c.data, &ldc);                                              \
    }

STAMP_CALLS(float, S)
STAMP_CALLS(double, D)

cublasStatus_t bench_call_cublas(cublasHandle_t handle, const bench_routine *routine,
                                 const tb_product *product)
{
    return (routine->element == TB_FP64 ? call_cublas_double : call_cublas_float)(handle, routine->class,
                                                                                  product);
}

cublasStatus_t bench_call_cublas_xt(cublasXtHandle_t handle, const bench_routine *routine,
                                    const tb_product *product)
{
    return (routine->element == TB_FP64 ? call_cublas_xt_double
                                        : call_cublas_xt_float)(handle, routine->class, product);
}

void bench_call_cblas(bench_function *function, const bench_routine *routine, const tb_product *product)
{
    (routine->element == TB_FP64 ? call_cblas_double : call_cblas_float)(function, routine->class, product);
}

void bench_call_fortran(bench_function *function, const bench_routine *routine, const tb_product *product)
{
    (routine->element == TB_FP64 ? call_fortran_double : call_fortran_float)(function, routine->class,
                                                                             product);
}
