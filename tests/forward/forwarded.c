/* A program that is linked with a forwarder (tests/abi/forwarder.c) and does not know of the TileBLAS behind it: its calls
 * of names that TileBLAS hands on reach a BLAS, in whatever order and by however many threads they are made.
 *
 *   forwarded isamax   calls isamax_ first
 *   forwarded dgemm    calls dgemm_ first
 */
#include "tests/check.h"

#include <pthread.h>
#include <string.h>

int isamax_(const int *n, const float *x, const int *increment);
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b);

enum { THREADS = 8 };
static bool isamax_first;

static void check_isamax(void)
{
    const int n = 3, increment = 1;
    const float x[] = {1, -5, 2};
    CHECK(isamax_(&n, x, &increment) == 2, "isamax_: not where the largest is");
}

static void check_dgemm(void)
{
    const int n = 2;
    const double one = 1, zero = 0, a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    double c[4] = {0};
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    CHECK(c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46, "dgemm_: {%g, %g, %g, %g}", c[0], c[1], c[2],
          c[3]);
}

static void *call_both(void *unused)
{
    if (isamax_first)
        check_isamax();
    for (int i = 0; i < 3; i++)
        check_dgemm();
    check_isamax();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    isamax_first = strcmp(argv[1], "isamax") == 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_both, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_result();
}
