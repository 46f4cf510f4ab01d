/* bench/callers M N K THREADS CALLS LIMIT [WAKE [ELEMENT]]: many threads that multiply at once, as
 * scikit-learn's KMeans does.
 *
 * Each of THREADS threads makes CALLS products, M x K by K x N, of matrices of its own. LIMIT is "call" where
 * the program limits OpenBLAS to one thread by openblas_set_num_threads, else "none". Prints the seconds from
 * the first thread's first product to the end of the last thread's last. WAKE is the size of a product that
 * comes before, unless it is 0; ELEMENT is float, as without it, or double. bench/callers.py starts this many
 * times.
 */
#include "bench/operands.h"
#include "bench/timing.h"

#include <pthread.h>
#include <string.h>

enum { THREADS_MAXIMUM = 1024 };

static int m, n, k, calls;
static pthread_barrier_t ready;

typedef struct caller {
    pthread_t thread;
    uint32_t seed;
    double start, end;
} caller;

static void *call_many_times(void *self)
{
    caller *caller = self;
    void *a = bench_make_matrix((size_t)m * (size_t)k, caller->seed),
         *b = bench_make_matrix((size_t)k * (size_t)n, caller->seed + 1),
         *c = bench_make_matrix((size_t)m * (size_t)n, caller->seed + 2);
    pthread_barrier_wait(&ready);
    caller->start = tb_seconds();
    for (int call = 0; call < calls; call++)
        bench_multiply(m, n, k, a, b, c);
    caller->end = tb_seconds();
    free(a);
    free(b);
    free(c);
    return NULL;
}

/* Seconds from the first thread's start to the last one's end. */
static double time_threads(int count)
{
    static caller callers[THREADS_MAXIMUM];
    pthread_barrier_init(&ready, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        callers[i].seed = 3 * (uint32_t)i;
        if (pthread_create(&callers[i].thread, NULL, call_many_times, &callers[i]) != 0) {
            fprintf(stderr, "callers: no thread\n");
            exit(1);
        }
    }
    double start = 0, end = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        if (i == 0 || callers[i].start < start)
            start = callers[i].start;
        if (i == 0 || callers[i].end > end)
            end = callers[i].end;
    }
    return end - start;
}

int main(int argc, char **argv)
{
    const int threads = argc > 6 ? atoi(argv[4]) : 0;
    if (threads < 1 || threads > THREADS_MAXIMUM) {
        fprintf(stderr, "usage: callers M N K THREADS CALLS call|none [WAKE [ELEMENT]]\n");
        return 2;
    }
    m = atoi(argv[1]);
    n = atoi(argv[2]);
    k = atoi(argv[3]);
    calls = atoi(argv[5]);
    if (strcmp(argv[6], "call") == 0)
        openblas_set_num_threads(1);
    bench_choose_element(argc > 8 ? argv[8] : NULL);
    if (argc > 7 && atoi(argv[7]) > 0)
        bench_wake(atoi(argv[7]));
    printf("%.9f\n", time_threads(threads));
    return 0;
}
