/* A library with functions of its own that have bare names of BLAS routines and other arguments, and calls them as any library
 * does, by its table: dgemm, of four arguments; DSYMM, of numbers in registers of either kind and more than registers hold; and
 * sgemm_batch, which returns a number.
 */
#include "tests/abi/own_names.h"

void dgemm(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

double DSYMM(int i1, double x1, int i2, double x2, int i3, double x3, int i4, double x4, int i5, double x5,
             int i6, double x6, int i7, double x7, int i8, double x8, int i9, double x9, int i10, double x10)
{
    return i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4 + i5 * x5 + i6 * x6 + i7 * x7 + i8 * x8 + i9 * x9 +
           i10 * x10;
}

long sgemm_batch(long x)
{
    return x + 1;
}

bool own_names_work(void)
{
    const double a[4] = {1, 2, 3, 4};
    double c[4] = {-1, -1, -1, -1};
    dgemm(2, a, a, c);
    const double sum = DSYMM(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10);
    return c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22 && sum == 385 && sgemm_batch(41) == 42;
}
