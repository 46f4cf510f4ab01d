/* A BLAS and LAPACK of three functions, which stands for the machine's OpenBLAS or a program's: what late.c calls. Built with
 * LATE_BLAS_ALONE without LAPACK.
 */
#include <stddef.h>

void sgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc)
{
    (void)transpose_a, (void)transpose_b; /* N and N */
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++) {
            float sum = 0;
            for (int l = 0; l < *k; l++)
                sum += a[i + (ptrdiff_t)l * *lda] * b[l + (ptrdiff_t)j * *ldb];
            float *const element = &c[i + (ptrdiff_t)j * *ldc];
            *element = *alpha * sum + (*beta == 0 ? 0 : *beta * *element);
        }
    static int calls;
    calls += *alpha != 0;
    if (*alpha == 2)
        c[0] = (float)calls; /* tells that it was this one */
}

void daxpy_(const int *n, const double *alpha, const double *x, const int *step_x, double *y,
            const int *step_y)
{
    for (int i = 0; i < *n; i++)
        y[i * *step_y] += *alpha * x[i * *step_x];
}

#ifndef LATE_BLAS_ALONE
void dgesv_(const int *n, const int *sides, double *a, const int *lda, int *pivots, double *b, const int *ldb,
            int *info)
{
    (void)n, (void)sides, (void)a, (void)lda, (void)pivots, (void)ldb;
    b[0] = 42;
    *info = 0;
}
#endif
