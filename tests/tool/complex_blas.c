/* A BLAS that knows complex numbers only, and computes nothing. */
void cblas_zgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, const void *alpha,
                 const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);

void cblas_zgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, const void *alpha,
                 const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)
{
    (void)layout, (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)k, (void)alpha, (void)a;
    (void)lda, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
}
