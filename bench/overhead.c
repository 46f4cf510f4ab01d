/* bench/overhead LIBRARY [sgemm|dgemm]: what preloading LIBRARY costs a call that goes to the host.
 *
 * Runs itself twice at a time, plain and with LD_PRELOAD, either first in turn; each run times blocks of products
 * of the BLAS it is linked with, one thread: 64 x 64 x 64, and 8 x 8 x 8, where what is added is not lost in the
 * variations of what the product itself takes. Prints the medians and their difference in nanoseconds a call.
 */
#include "bench/timing.h"

#include <cblas.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 2000, BLOCKS = 101, ROUNDS = 16 };

/* The timed process for one element: prints nanoseconds a call. Matrices come from the heap, as nearly every
 * program's do, each on a page of its own, so that both processes multiply matrices of the same alignment. */
#define STAMP_TIME_CALLS(routine, type)                                                                      \
    static int time_##routine(int n)                                                                         \
    {                                                                                                        \
        const size_t bytes = ((size_t)(n * n) * sizeof(type) + 4095) / 4096 * 4096;                          \
        type *a = aligned_alloc(4096, bytes), *b = aligned_alloc(4096, bytes),                               \
             *c = aligned_alloc(4096, bytes);                                                                \
        double blocks[BLOCKS];                                                                               \
        if (!a || !b || !c)                                                                                  \
            return 1;                                                                                        \
        for (int i = 0; i < n * n; i++) {                                                                    \
            a[i] = (type)rand() / (type)RAND_MAX;                                                            \
            b[i] = (type)rand() / (type)RAND_MAX;                                                            \
        }                                                                                                    \
        for (int block = 0; block < BLOCKS; block++) {                                                       \
            const double start = tb_seconds();                                                               \
            for (int call = 0; call < CALLS; call++)                                                         \
                cblas_##routine(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n); \
            blocks[block] = 1e9 * (tb_seconds() - start) / CALLS;                                            \
        }                                                                                                    \
        printf("%.2f\n", bench_median(blocks, BLOCKS));                                                      \
        free(a);                                                                                             \
        free(b);                                                                                             \
        free(c);                                                                                             \
        return 0;                                                                                            \
    }
STAMP_TIME_CALLS(sgemm, float)
STAMP_TIME_CALLS(dgemm, double)

static double run(const char *program, const char *library, const char *routine, int n)
{
    char command[4096], line[64] = "";
    snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=1 %s%s '%s' --size %d %s",
             library ? "LD_PRELOAD=" : "", library ? library : "", program, n, routine);
    FILE *output = popen(command, "r");
    if (!output || !fgets(line, sizeof line, output)) {
        fprintf(stderr, "overhead: %s failed\n", command);
        exit(1);
    }
    pclose(output);
    return atof(line);
}

static void compare(const char *program, const char *library, const char *routine, int n)
{
    double plain[ROUNDS], preloaded[ROUNDS], difference[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        /* Each is first in turn: what comes second may find the processor warmer. */
        const bool plain_first = round % 2 == 0;
        if (plain_first)
            plain[round] = run(program, NULL, routine, n);
        preloaded[round] = run(program, library, routine, n);
        if (!plain_first)
            plain[round] = run(program, NULL, routine, n);
        difference[round] = preloaded[round] - plain[round];
    }
    printf(
        "%s, %d x %d x %d, one thread, median of %d pairs: plain %.1f ns, preloaded %.1f ns, difference %.1f "
        "ns\n",
        routine, n, n, n, ROUNDS, bench_median(plain, ROUNDS), bench_median(preloaded, ROUNDS),
        bench_median(difference, ROUNDS));
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--size") == 0)
        return (strcmp(argv[3], "dgemm") == 0 ? time_dgemm : time_sgemm)(atoi(argv[2]));
    const char *routine = argc == 3 ? argv[2] : "sgemm";
    if ((argc != 2 && argc != 3) || (strcmp(routine, "sgemm") != 0 && strcmp(routine, "dgemm") != 0)) {
        fprintf(stderr, "usage: overhead LIBRARY [sgemm|dgemm]\n");
        return 2;
    }
    compare(argv[0], argv[1], routine, 8);
    compare(argv[0], argv[1], routine, 64);
    return 0;
}
