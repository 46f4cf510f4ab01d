/* tiles [SCALE]: a job that is a C program on the machine's OpenBLAS. The Cholesky factorization of a matrix of
 * 10240 by 20 tiles of 512 a side: dpotrf_, and trsm, syrk and gemm of CBLAS. The factor is checked with one vector.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

enum { TILES = 20 };

/* Diagonally dominant, so positive definite; the same on both sides of the diagonal. */
static double element(int i, int j, int n)
{
    const int low = i < j ? i : j, high = i < j ? j : i;
    return i == j ? 2.0 * n : cos(0.7 * low + 1.3 * high);
}

/* n is a multiple of the tile. */
static void factor(double *a, int n, int tile)
{
    for (int k = 0; k < n; k += tile) {
        int info = 0;
        double *diagonal = a + k + (size_t)k * (size_t)n;
        dpotrf_("L", &tile, diagonal, &n, &info);
        if (info != 0)
            exit(1);
        for (int i = k + tile; i < n; i += tile) {
            double *panel = a + i + (size_t)k * (size_t)n;
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, tile, tile, 1,
                        diagonal, n, panel, n);
            for (int j = k + tile; j < i; j += tile)
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, tile, tile, tile, -1, panel, n,
                            a + j + (size_t)k * (size_t)n, n, 1, a + i + (size_t)j * (size_t)n, n);
            cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, tile, tile, -1, panel, n, 1,
                        a + i + (size_t)i * (size_t)n, n);
        }
    }
}

int main(int argc, char **argv)
{
    const double scale = argc > 1 ? atof(argv[1]) : 1;
    const int tile = (int)(512 * scale) > 4 ? (int)(512 * scale) : 4, n = TILES * tile;
    const size_t extent = (size_t)n;
    double *a = malloc(sizeof(double) * extent * extent), *x = malloc(sizeof(double) * extent),
           *expected = calloc(extent, sizeof(double));
    if (!a || !x || !expected)
        return 1;
    for (int i = 0; i < n; i++)
        x[i] = sin(i);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[(size_t)i + (size_t)j * extent] = element(i, j, n);
    cblas_dsymv(CblasColMajor, CblasLower, n, 1, a, n, x, 1, 0, expected, 1);
    factor(a, n, tile);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, a, n, x, 1);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, a, n, x, 1);
    const double size = cblas_dnrm2(n, expected, 1);
    cblas_daxpy(n, -1, x, 1, expected, 1);
    if (!(cblas_dnrm2(n, expected, 1) <= 1e-11 * size)) {
        fprintf(stderr, "wrong result: the factor\n");
        return 1;
    }
    free(a);
    free(x);
    free(expected);
    return 0;
}
