/* A program of somebody else's, that finds TileBLAS installed. */
#include <tileblas.h>

#include <stdio.h>
#include <string.h>

void cblas_sgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
double ddot_(const int *n, const double *x, const int *step_x, const double *y, const int *step_y);

int main(int argc, char **argv)
{
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float c[4] = {0};
    cblas_sgemm(101, 111, 111, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    int wrong = c[0] != 19 || c[1] != 22 || c[2] != 43 || c[3] != 50;

    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TILEBLAS_VERSION_MAJOR, TILEBLAS_VERSION_MINOR,
             TILEBLAS_VERSION_PATCH);
    wrong |= strcmp(version, tileblas_version()) != 0;

    /* There need be no BLAS here for this one, so it is only called where there is. */
    if (argc > 1 && strcmp(argv[1], "dot") == 0) {
        const int n = 2, step = 1;
        const double x[2] = {1, 2};
        wrong |= ddot_(&n, x, &step, x, &step) != 5;
    } else {
        wrong |= (void *)ddot_ == NULL;
    }
    printf("TileBLAS %s: %s\n", tileblas_version(), wrong ? "wrong" : "right");
    return wrong;
}
