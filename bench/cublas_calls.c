#include "bench/cublas_calls.h"

static cublasOperation_t cublas_operation(const tb_operand *operand)
{
    return operand->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* The calls for one element: type is that of its numbers, letter cuBLAS's for it. */
#define STAMP_CALLS(type, letter)                                                                            \
    static cublasStatus_t call_cublas_##type(cublasHandle_t handle, tb_routine_class class,                  \
                                             const tb_product *p)                                            \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const cublasOperation_t of_a = cublas_operation(&p->a), of_b = cublas_operation(&p->b);              \
        const type *a = p->a.data, *b = p->b.data;                                                           \
        type *c = p->c.data;                                                                                 \
        switch (class) {                                                                                     \
        case TB_CLASS_RANK_K:                                                                                \
            return cublas##letter##syrk_64(handle, CUBLAS_FILL_MODE_LOWER, of_a, p->n, p->k, &alpha, a,      \
                                           p->a.ld, &beta, c, p->c.ld);                                      \
        case TB_CLASS_TRIANGLE:                                                                              \
            return cublas##letter##syrkx_64(handle, CUBLAS_FILL_MODE_LOWER, of_a, p->n, p->k, &alpha, a,     \
                                            p->a.ld, b, p->b.ld, &beta, c, p->c.ld);                         \
        default:                                                                                             \
            return cublas##letter##gemm_64(handle, of_a, of_b, p->m, p->n, p->k, &alpha, a, p->a.ld, b,      \
                                           p->b.ld, &beta, c, p->c.ld);                                      \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static cublasStatus_t call_cublas_xt_##type(cublasXtHandle_t handle, tb_routine_class class,             \
                                                const tb_product *p)                                         \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const cublasOperation_t of_a = cublas_operation(&p->a), of_b = cublas_operation(&p->b);              \
        const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;                                   \
        const size_t lda = (size_t)p->a.ld, ldb = (size_t)p->b.ld, ldc = (size_t)p->c.ld;                    \
        const type *a = p->a.data, *b = p->b.data;                                                           \
        type *c = p->c.data;                                                                                 \
        switch (class) {                                                                                     \
        case TB_CLASS_RANK_K:                                                                                \
            return cublasXt##letter##syrk(handle, CUBLAS_FILL_MODE_LOWER, of_a, n, k, &alpha, a, lda, &beta, \
                                          c, ldc);                                                           \
        case TB_CLASS_TRIANGLE:                                                                              \
            return cublasXt##letter##syrkx(handle, CUBLAS_FILL_MODE_LOWER, of_a, n, k, &alpha, a, lda, b,    \
                                           ldb, &beta, c, ldc);                                              \
        default:                                                                                             \
            return cublasXt##letter##gemm(handle, of_a, of_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c,     \
                                          ldc);                                                              \
        }                                                                                                    \
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
