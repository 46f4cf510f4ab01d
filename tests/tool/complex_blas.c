/* A BLAS that knows complex SYRK only, which is not taken over, and computes nothing. */
void cblas_zsyrk(int layout, int triangle, int transpose, int n, int k, const void *alpha, const void *a,
                 int lda, const void *beta, void *c, int ldc);

void cblas_zsyrk(int layout, int triangle, int transpose, int n, int k, const void *alpha, const void *a,
                 int lda, const void *beta, void *c, int ldc)
{
    (void)layout, (void)triangle, (void)transpose, (void)n, (void)k, (void)alpha, (void)a;
    (void)lda, (void)beta, (void)c, (void)ldc;
}
