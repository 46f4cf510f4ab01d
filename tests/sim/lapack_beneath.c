/* A LAPACK as Netlib's is one: it stands on whoever is the program's BLAS. Its matrices are small, and what it multiplies is not. */
#include <math.h>

enum { SIDE = 200 };

extern void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void dpotrf_(const char *letter, const int *n, double *a, const int *lda, int *info)
{
    static double of_zeros[SIDE * SIDE], product[SIDE * SIDE];
    const int side = SIDE;
    const double one = 1, zero = 0;
    (void)letter;
    *info = 0;
    for (int j = 0; j < *n; j++)
        a[j + j * *lda] = sqrt(a[j + j * *lda]);
    if (*n > 1)
        dgemm_("N", "N", &side, &side, &side, &one, of_zeros, &side, of_zeros, &side, &zero, product, &side);
}

/* No solution, but what nobody else answers. */
EXPORTED void dpotrs_(const char *letter, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                      const int *ldb, int *info)
{
    (void)letter, (void)nrhs, (void)ldb;
    *info = 0;
    for (int i = 0; i < *n; i++)
        b[i] = 100 * a[i + i * *lda];
}

/* It ends in a jump, as those parts have as many arguments. */
EXPORTED void dposv_(const char *letter, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                     const int *ldb, int *info)
{
    dpotrf_(letter, n, a, lda, info);
    dpotrs_(letter, n, nrhs, a, lda, b, ldb, info);
}

/* As LAPACKE's do, through whoever has that name. */
EXPORTED int LAPACKE_dpotrf(int layout, char letter, int n, double *a, int lda)
{
    int info;
    (void)layout;
    dpotrf_(&letter, &n, a, &lda, &info);
    return info;
}
