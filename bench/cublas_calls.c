#include "bench/cublas_calls.h"

/* What the calls are made of. Where a matrix is symmetric, Hermitian or triangular, that is a, on either side. */
typedef struct arguments {
    _Alignas(16) bench_number alpha; /* as cuDoubleComplex is */
    _Alignas(16) bench_number beta;
    cublasSideMode_t side;
    cublasFillMode_t triangle; /* of a, or of C */
    cublasOperation_t of_a, of_b;
    cublasDiagType_t diagonal;
    int64_t m, n, k, lda, ldb, ldc;
    const void *a, *b;
    void *c;
} arguments;

static cublasOperation_t operation_of(const tb_operand *operand)
{
    return !operand->transposed ? CUBLAS_OP_N : operand->conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static arguments arguments_of(const bench_routine *routine, const tb_product *product)
{
    const bool right = bench_is_on_right(product);
    const tb_operand *a = right ? &product->b : &product->a, *b = right ? &product->a : &product->b;
    const tb_triangle triangle = product->mask == TB_FULL ? a->stored : product->mask;
    return (arguments){.alpha = bench_number_of(routine->element, product->alpha),
                       .beta = bench_number_of(routine->element, product->beta),
                       .side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                       .triangle = triangle == TB_UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                       .of_a = operation_of(a),
                       .of_b = operation_of(b),
                       .diagonal = a->unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT,
                       .m = product->m,
                       .n = product->n,
                       .k = product->k,
                       .lda = a->ld,
                       .ldb = b->ld,
                       .ldc = product->c.ld,
                       .a = a->data,
                       .b = b->data,
                       .c = product->c.data};
}

/* Both libraries have the same arguments, but for the sizes' type. Names are library, letter, routine and end. */
#define STAMP_ARGUMENTS(size)                                                                                \
    const size m = (size)x->m, n = (size)x->n, k = (size)x->k;                                               \
    const size lda = (size)x->lda, ldb = (size)x->ldb, ldc = (size)x->ldc;                                   \
    const void *alpha = &x->alpha, *beta = &x->beta

#define STAMP_CALLS(library, letter, end, size)                                                              \
    static cublasStatus_t library##_##letter(library##Handle_t handle, tb_routine_class class,               \
                                             const arguments *x)                                             \
    {                                                                                                        \
        STAMP_ARGUMENTS(size);                                                                               \
        switch (class) {                                                                                     \
        case TB_CLASS_GEMM:                                                                                  \
            return library##letter##gemm##end(handle, x->of_a, x->of_b, m, n, k, alpha, x->a, lda, x->b,     \
                                              ldb, beta, x->c, ldc);                                         \
        case TB_CLASS_SYMM:                                                                                  \
            return library##letter##symm##end(handle, x->side, x->triangle, m, n, alpha, x->a, lda, x->b,    \
                                              ldb, beta, x->c, ldc);                                         \
        case TB_CLASS_RANK_K:                                                                                \
            return library##letter##syrk##end(handle, x->triangle, x->of_a, n, k, alpha, x->a, lda, beta,    \
                                              x->c, ldc);                                                    \
        case TB_CLASS_RANK_2K:                                                                               \
            return library##letter##syr2k##end(handle, x->triangle, x->of_a, n, k, alpha, x->a, lda, x->b,   \
                                               ldb, beta, x->c, ldc);                                        \
        case TB_CLASS_TRIANGLE:                                                                              \
            return library##letter##syrkx##end(handle, x->triangle, x->of_a, n, k, alpha, x->a, lda, x->b,   \
                                               ldb, beta, x->c, ldc);                                        \
        case TB_CLASS_TRMM:                                                                                  \
            return library##letter##trmm##end(handle, x->side, x->triangle, x->of_a, x->diagonal, m, n,      \
                                              alpha, x->a, lda, x->b, ldb, x->c, ldc);                       \
        case TB_CLASS_TRSM:                                                                                  \
            return library##letter##trsm##end(handle, x->side, x->triangle, x->of_a, x->diagonal, m, n,      \
                                              alpha, x->a, lda, x->c, ldc);                                  \
        default:                                                                                             \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                              \
        }                                                                                                    \
    }

/* What only complex numbers have, and, failing that, the others. Of real scalars the first part is read. */
#define STAMP_HERMITIAN_CALLS(library, letter, end, size)                                                    \
    static cublasStatus_t library##_hermitian_##letter(library##Handle_t handle, tb_routine_class class,     \
                                                       const arguments *x)                                   \
    {                                                                                                        \
        STAMP_ARGUMENTS(size);                                                                               \
        switch (class) {                                                                                     \
        case TB_CLASS_HEMM:                                                                                  \
            return library##letter##hemm##end(handle, x->side, x->triangle, m, n, alpha, x->a, lda, x->b,    \
                                              ldb, beta, x->c, ldc);                                         \
        case TB_CLASS_HERK:                                                                                  \
            return library##letter##herk##end(handle, x->triangle, x->of_a, n, k, alpha, x->a, lda, beta,    \
                                              x->c, ldc);                                                    \
        case TB_CLASS_HER2K:                                                                                 \
            return library##letter##her2k##end(handle, x->triangle, x->of_a, n, k, alpha, x->a, lda, x->b,   \
                                               ldb, beta, x->c, ldc);                                        \
        default:                                                                                             \
            return library##_##letter(handle, class, x);                                                     \
        }                                                                                                    \
    }

#define STAMP_LIBRARY(library, end, size)                                                                    \
    STAMP_CALLS(library, S, end, size)                                                                       \
    STAMP_CALLS(library, D, end, size)                                                                       \
    STAMP_CALLS(library, C, end, size)                                                                       \
    STAMP_CALLS(library, Z, end, size)                                                                       \
    STAMP_HERMITIAN_CALLS(library, C, end, size)                                                             \
    STAMP_HERMITIAN_CALLS(library, Z, end, size)                                                             \
                                                                                                             \
    static cublasStatus_t call_##library(library##Handle_t handle, const bench_routine *routine,             \
                                         const tb_product *product)                                          \
    {                                                                                                        \
        static cublasStatus_t (*const calls[TB_ELEMENTS])(library##Handle_t, tb_routine_class,               \
                                                          const arguments *) = {                             \
            [TB_FP32] = library##_S,                                                                         \
            [TB_FP64] = library##_D,                                                                         \
            [TB_COMPLEX_FP32] = library##_hermitian_C,                                                       \
            [TB_COMPLEX_FP64] = library##_hermitian_Z,                                                       \
        };                                                                                                   \
        const arguments all = arguments_of(routine, product);                                                \
        return calls[routine->element](handle, routine->class, &all);                                        \
    }

STAMP_LIBRARY(cublas, _64, int64_t)
STAMP_LIBRARY(cublasXt, , size_t)

cublasStatus_t bench_call_cublas(cublasHandle_t handle, const bench_routine *routine,
                                 const tb_product *product)
{
    return call_cublas(handle, routine, product);
}

cublasStatus_t bench_call_cublas_xt(cublasXtHandle_t handle, const bench_routine *routine,
                                    const tb_product *product)
{
    return call_cublasXt(handle, routine, product);
}

cublasStatus_t bench_create_cublas_xt(cublasXtHandle_t *handle, int block)
{
    int devices[] = {0};
    cublasStatus_t status = cublasXtCreate(handle);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasXtDeviceSelect(*handle, 1, devices);
    return status == CUBLAS_STATUS_SUCCESS ? cublasXtSetBlockDim(*handle, block) : status;
}
