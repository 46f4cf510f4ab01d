/* A BLAS with batches, for 32-bit integers, in place of the caller's own: GEMM and both kinds of batches of each element, in both
 * conventions, by a loop. It counts the calls and the products of batches. With BATCH_HOST_IS_OPENBLAS it says that it is
 * OpenBLAS, and takes strides of complex batches, as that does, for numbers of reals.
 */
#include <complex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

atomic_long batch_host_calls, batch_host_products;

#ifdef BATCH_HOST_IS_OPENBLAS
const char *openblas_get_config(void)
{
    return "OpenBLAS 0.3.34, as batch_host.c has it";
}
enum { REALS_A_STRIDE = 1 };
#else
enum { REALS_A_STRIDE = 2 };
#endif

/* The library finds by this that integers are of 32 bits. */
int isamax_(const int *n, const float *x, const int *step)
{
    int largest = 1;
    for (int i = 1; i < *n; i++)
        if (__builtin_fabsf(x[i * *step]) > __builtin_fabsf(x[(largest - 1) * *step]))
            largest = i + 1;
    return largest;
}

int cblas_isamax(int n, const float *x, int step)
{
    return isamax_(&n, x, &step) - 1;
}

static int number_of(char letter)
{
    return letter == 'N' || letter == 'n' ? 111 : letter == 'T' || letter == 't' ? 112 : 113;
}

#define STAMP(letter, type, parts, scalar, VALUE, CONJUGATE)                                                 \
    static type letter##_element(const type *x, int ld, bool row_major, int operation, int i, int j)         \
    {                                                                                                        \
        const int row = operation == 111 ? i : j, column = operation == 111 ? j : i;                         \
        const type at = x[row_major ? column + (ptrdiff_t)row * ld : row + (ptrdiff_t)column * ld];          \
        return operation == 113 ? CONJUGATE(at) : at;                                                        \
    }                                                                                                        \
    static void letter##_multiply(int layout, int a_as, int b_as, int m, int n, int k, type alpha,           \
                                  const type *a, int lda, const type *b, int ldb, type beta, type *c,        \
                                  int ldc)                                                                   \
    {                                                                                                        \
        const bool row_major = layout == 101;                                                                \
        for (int i = 0; i < m; i++)                                                                          \
            for (int j = 0; j < n; j++) {                                                                    \
                type sum = 0, *at = &c[row_major ? j + (ptrdiff_t)i * ldc : i + (ptrdiff_t)j * ldc];         \
                for (int l = 0; l < k; l++)                                                                  \
                    sum += letter##_element(a, lda, row_major, a_as, i, l) *                                 \
                           letter##_element(b, ldb, row_major, b_as, l, j);                                  \
                *at = beta == 0 ? alpha * sum : alpha * sum + beta * *at;                                    \
            }                                                                                                \
    }                                                                                                        \
    void cblas_##letter##gemm(int layout, int a_as, int b_as, int m, int n, int k, scalar alpha,             \
                              const type *a, int lda, const type *b, int ldb, scalar beta, type *c, int ldc) \
    {                                                                                                        \
        letter##_multiply(layout, a_as, b_as, m, n, k, VALUE(type, alpha), a, lda, b, ldb,                   \
                          VALUE(type, beta), c, ldc);                                                        \
    }                                                                                                        \
    void letter##gemm_(const char *a_as, const char *b_as, const int *m, const int *n, const int *k,         \
                       const type *alpha, const type *a, const int *lda, const type *b, const int *ldb,      \
                       const type *beta, type *c, const int *ldc)                                            \
    {                                                                                                        \
        letter##_multiply(102, number_of(*a_as), number_of(*b_as), *m, *n, *k, *alpha, a, *lda, b, *ldb,     \
                          *beta, c, *ldc);                                                                   \
    }                                                                                                        \
    void cblas_##letter##gemm_batch(int layout, const int *a_as, const int *b_as, const int *m,              \
                                    const int *n, const int *k, const type *alpha, const type **a,           \
                                    const int *lda, const type **b, const int *ldb, const type *beta,        \
                                    type **c, const int *ldc, int groups, const int *sizes)                  \
    {                                                                                                        \
        batch_host_calls++;                                                                                  \
        for (int g = 0; g < groups; g++)                                                                     \
            for (int i = 0; i < sizes[g]; i++, batch_host_products++)                                        \
                letter##_multiply(layout, a_as[g], b_as[g], m[g], n[g], k[g], alpha[g], *a++, lda[g], *b++,  \
                                  ldb[g], beta[g], *c++, ldc[g]);                                            \
    }                                                                                                        \
    void letter##gemm_batch_(const char *a_as, const char *b_as, const int *m, const int *n, const int *k,   \
                             const type *alpha, const type **a, const int *lda, const type **b,              \
                             const int *ldb, const type *beta, type **c, const int *ldc, const int *groups,  \
                             const int *sizes)                                                               \
    {                                                                                                        \
        batch_host_calls++;                                                                                  \
        for (int g = 0; g < *groups; g++)                                                                    \
            for (int i = 0; i < sizes[g]; i++, batch_host_products++)                                        \
                letter##_multiply(102, number_of(a_as[g]), number_of(b_as[g]), m[g], n[g], k[g], alpha[g],   \
                                  *a++, lda[g], *b++, ldb[g], beta[g], *c++, ldc[g]);                        \
    }                                                                                                        \
    static void letter##_strided(int layout, int a_as, int b_as, int m, int n, int k, type alpha,            \
                                 const type *a, int lda, int stride_a, const type *b, int ldb, int stride_b, \
                                 type beta, type *c, int ldc, int stride_c, int size)                        \
    {                                                                                                        \
        const ptrdiff_t step = sizeof(type) / (parts == 2 ? 3 - REALS_A_STRIDE : 1);                         \
        batch_host_calls++;                                                                                  \
        for (int i = 0; i < size; i++, batch_host_products++)                                                \
            letter##_multiply(layout, a_as, b_as, m, n, k, alpha,                                            \
                              (const type *)(const void *)((const char *)a + step * i * stride_a), lda,      \
                              (const type *)(const void *)((const char *)b + step * i * stride_b), ldb,      \
                              beta, (type *)(void *)((char *)c + step * i * stride_c), ldc);                 \
    }                                                                                                        \
    void cblas_##letter##gemm_batch_strided(int layout, int a_as, int b_as, int m, int n, int k,             \
                                            scalar alpha, const type *a, int lda, int stride_a,              \
                                            const type *b, int ldb, int stride_b, scalar beta, type *c,      \
                                            int ldc, int stride_c, int size)                                 \
    {                                                                                                        \
        letter##_strided(layout, a_as, b_as, m, n, k, VALUE(type, alpha), a, lda, stride_a, b, ldb,          \
                         stride_b, VALUE(type, beta), c, ldc, stride_c, size);                               \
    }                                                                                                        \
    void letter##gemm_batch_strided_(const char *a_as, const char *b_as, const int *m, const int *n,         \
                                     const int *k, const type *alpha, const type *a, const int *lda,         \
                                     const int *stride_a, const type *b, const int *ldb,                     \
                                     const int *stride_b, const type *beta, type *c, const int *ldc,         \
                                     const int *stride_c, const int *size)                                   \
    {                                                                                                        \
        letter##_strided(102, number_of(*a_as), number_of(*b_as), *m, *n, *k, *alpha, a, *lda, *stride_a, b, \
                         *ldb, *stride_b, *beta, c, *ldc, *stride_c, *size);                                 \
    }
#define BY_VALUE(type, x)   (x)
#define BY_ADDRESS(type, x) (*(const type *)(x))
#define ITSELF(x)           (x)
STAMP(s, float, 1, float, BY_VALUE, ITSELF)
STAMP(d, double, 1, double, BY_VALUE, ITSELF)
STAMP(c, complex float, 2, const void *, BY_ADDRESS, conjf)
STAMP(z, complex double, 2, const void *, BY_ADDRESS, conj)
