/* A BLAS like BLIS 0.9: its batches of several groups are refused, silently, and C stays as it was. Compiled
 * together with a fixture_blas.c, which is its GEMM.
 */
const char *bli_info_get_version_str(void);
const char *bli_info_get_version_str(void)
{
    return "fixture";
}

/* One group is how a probe comes: C is multiplied by beta. */
void sgemm_batch_(const char *, const char *, const int *, const int *, const int *, const float *,
                  const float **, const int *, const float **, const int *, const float *beta, float **c,
                  const int *, const int *groups, const int *);
void sgemm_batch_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                  const float *alpha, const float **a, const int *lda, const float **b, const int *ldb,
                  const float *beta, float **c, const int *ldc, const int *groups, const int *sizes)
{
    (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b,
        (void)ldb, (void)ldc, (void)sizes;
    if (*groups == 1)
        c[0][0] *= beta[0];
}

void cblas_sgemm_batch(int, const int *, const int *, const int *, const int *, const int *, const float *,
                       const float **, const int *, const float **, const int *, const float *beta, float **c,
                       const int *, int groups, const int *);
void cblas_sgemm_batch(int layout, const int *transpose_a, const int *transpose_b, const int *m, const int *n,
                       const int *k, const float *alpha, const float **a, const int *lda, const float **b,
                       const int *ldb, const float *beta, float **c, const int *ldc, int groups,
                       const int *sizes)
{
    (void)layout, (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)k, (void)alpha, (void)a,
        (void)lda, (void)b, (void)ldb, (void)ldc, (void)sizes;
    if (groups == 1)
        c[0][0] *= beta[0];
}
