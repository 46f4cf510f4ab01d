/* A batch of two groups, called several times by either convention, beside a BLAS whose batches do nothing (refusing_blas.c): it
 * is computed by the program's own GEMM, each time.
 */
#include <stdio.h>
#include <string.h>

enum { GROUPS = 2, MOST = 3, SIDE = 4 };

void sgemm_batch_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                  const float *alpha, const float **a, const int *lda, const float **b, const int *ldb,
                  const float *beta, float **c, const int *ldc, const int *groups, const int *sizes);
void cblas_sgemm_batch(int layout, const int *transpose_a, const int *transpose_b, const int *m, const int *n,
                       const int *k, const float *alpha, const float **a, const int *lda, const float **b,
                       const int *ldb, const float *beta, float **c, const int *ldc, int groups,
                       const int *sizes);

static int is_right(int is_cblas)
{
    static float ones[SIDE * SIDE], results[MOST][SIDE * SIDE];
    const float *a[MOST], *b[MOST], alpha[GROUPS] = {1, 1}, beta[GROUPS] = {0, 0};
    float *c[MOST];
    const int m[GROUPS] = {2, 3}, n[GROUPS] = {4, 2}, k[GROUPS] = {3, 4}, ld[GROUPS] = {SIDE, SIDE},
              sizes[GROUPS] = {1, 2}, none[GROUPS] = {111, 111}, groups = GROUPS;
    for (int i = 0; i < SIDE * SIDE; i++)
        ones[i] = 1;
    memset(results, 0, sizeof results);
    for (int i = 0; i < MOST; i++)
        a[i] = b[i] = ones, c[i] = results[i];
    if (is_cblas)
        cblas_sgemm_batch(102, none, none, m, n, k, alpha, a, ld, b, ld, beta, c, ld, groups, sizes);
    else
        sgemm_batch_("NN", "NN", m, n, k, alpha, a, ld, b, ld, beta, c, ld, &groups, sizes);
    return results[0][0] == 3 && results[1][0] == 4 && results[2][0] == 4;
}

int main(void)
{
    for (int call = 0; call < 4; call++)
        for (int is_cblas = 0; is_cblas < 2; is_cblas++)
            if (!is_right(is_cblas))
                return fprintf(stderr, "call %d, %s: wrong\n", call, is_cblas ? "CBLAS" : "Fortran"), 1;
    return 0;
}
