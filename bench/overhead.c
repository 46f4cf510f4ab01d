/* bench/overhead LIBRARY: what preloading LIBRARY costs a call that goes to the host.
 *
 * Runs itself twice at a time, plain and with LD_PRELOAD, either first in turn; each run times blocks of 64 x 64 x 64
 * products of the BLAS it is linked with, one thread. Prints the medians and their difference in nanoseconds
 * a call.
 */
#include "bench/timing.h"

#include <cblas.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, CALLS = 2000, BLOCKS = 101, ROUNDS = 16 };

/* On a page of its own, so that both processes multiply matrices of the same alignment. */
static float *make_matrix(void)
{
    return aligned_alloc(4096, N * N * sizeof(float));
}

/* The timed process: prints nanoseconds a call. Matrices come from the heap, as nearly every program's do. */
static int time_calls(void)
{
    float *a = make_matrix(), *b = make_matrix(), *c = make_matrix();
    double blocks[BLOCKS];
    if (!a || !b || !c)
        return 1;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)rand() / (float)RAND_MAX;
        b[i] = (float)rand() / (float)RAND_MAX;
    }
    for (int block = 0; block < BLOCKS; block++) {
        double start = tb_seconds();
        for (int call = 0; call < CALLS; call++)
            cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, c, N);
        blocks[block] = 1e9 * (tb_seconds() - start) / CALLS;
    }
    printf("%.2f\n", bench_median(blocks, BLOCKS));
    free(a);
    free(b);
    free(c);
    return 0;
}

static double run(const char *program, const char *library)
{
    char command[4096], line[64] = "";
    snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=1 %s%s '%s'", library ? "LD_PRELOAD=" : "",
             library ? library : "", program);
    FILE *output = popen(command, "r");
    if (!output || !fgets(line, sizeof line, output)) {
        fprintf(stderr, "overhead: %s failed\n", command);
        exit(1);
    }
    pclose(output);
    return atof(line);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return time_calls();
    double plain[ROUNDS], preloaded[ROUNDS], difference[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        /* In turn first: what comes second may find the processor warmer. */
        const bool plain_first = round % 2 == 0;
        if (plain_first)
            plain[round] = run(argv[0], NULL);
        preloaded[round] = run(argv[0], argv[1]);
        if (!plain_first)
            plain[round] = run(argv[0], NULL);
        difference[round] = preloaded[round] - plain[round];
    }
    printf("64 x 64 x 64, one thread, median of %d pairs: plain %.1f ns, preloaded %.1f ns, difference %.1f "
           "ns\n",
           ROUNDS, bench_median(plain, ROUNDS), bench_median(preloaded, ROUNDS),
           bench_median(difference, ROUNDS));
    return 0;
}
