/* A program that is linked with a forwarder (tests/abi/forwarder.c) and does not know of the TileBLAS behind it: its calls
 * of names that TileBLAS hands on reach a BLAS, in whatever order and by however many threads they are made.
 *
 *   forwarded isamax   calls isamax_ first
 *   forwarded dgemv    calls dgemv_ first
 */
#include "tests/check.h"

#include <pthread.h>
#include <string.h>

int isamax_(const int *n, const float *x, const int *increment);
void dgemv_(const char *transpose, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *step_x, const double *beta, double *y,
            const int *step_y, size_t length);

enum { THREADS = 8 };
static bool isamax_first;

static void check_isamax(void)
{
    const int n = 3, increment = 1;
    const float x[] = {1, -5, 2};
    CHECK(isamax_(&n, x, &increment) == 2, "isamax_: not where the largest is");
}

static void check_dgemv(void)
{
    const int n = 2, step = 1;
    const double one = 1, zero = 0, a[] = {1, 2, 3, 4}, x[] = {5, 6};
    double y[2] = {0};
    dgemv_("N", &n, &n, &one, a, &n, x, &step, &zero, y, &step, 1);
    CHECK(y[0] == 23 && y[1] == 34, "dgemv_: {%g, %g}", y[0], y[1]);
}

static void *call_both(void *unused)
{
    if (isamax_first)
        check_isamax();
    for (int i = 0; i < 3; i++)
        check_dgemv();
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
