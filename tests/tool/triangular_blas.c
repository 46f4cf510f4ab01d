/* A BLAS that has a routine which is not taken over, and no other. */
void cblas_dtrsm(int layout, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha,
                 const double *a, int lda, double *b, int ldb);

void cblas_dtrsm(int layout, int side, int triangle, int transpose, int diagonal, int m, int n, double alpha,
                 const double *a, int lda, double *b, int ldb)
{
    (void)layout, (void)side, (void)triangle, (void)transpose, (void)diagonal, (void)m, (void)n, (void)alpha;
    (void)a, (void)lda, (void)b, (void)ldb;
}
