/* bench/streamed FILE: operands in ordinary host memory, the streamed route beside OpenBLAS on all cores.
 *
 * OpenBLAS is what the program is linked with; the library is opened at run time and called through its own
 * cblas_sgemm, its route forced. Both sides take turns; medians; random data; the first calls are not
 * counted.
 */
#include "bench/json.h"

#include <cblas.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS_MAXIMUM = 15 };

typedef __typeof__(cblas_sgemm) sgemm;
typedef int set_option(const char *name, const char *value);

typedef struct square {
    int n;
    float *a, *b, *c;
} square;

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "streamed: %s\n", what);
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static float *make_matrix(int n)
{
    size_t elements = (size_t)n * (size_t)n;
    float *matrix = malloc(elements * sizeof *matrix);
    require(matrix != NULL, "out of memory");
    for (size_t i = 0; i < elements; i++)
        matrix[i] = 2 * (float)rand() / (float)RAND_MAX - 1;
    return matrix;
}

static double time_product(sgemm *multiply, const square *s)
{
    double start = now();
    multiply(CblasColMajor, CblasNoTrans, CblasNoTrans, s->n, s->n, s->n, 1, s->a, s->n, s->b, s->n, 0, s->c,
             s->n);
    return now() - start;
}

/* The median of each contender, timed in turns. */
static void measure(sgemm *const contenders[], double medians[], int count, const square *s)
{
    double times[3][TURNS_MAXIMUM];
    int turns = s->n >= 8192 ? 5 : TURNS_MAXIMUM;
    for (int turn = -2; turn < turns; turn++)
        for (int i = 0; i < count; i++) {
            double seconds = time_product(contenders[i], s);
            if (turn >= 0)
                times[i][turn] = seconds;
        }
    for (int i = 0; i < count; i++) {
        qsort(times[i], (size_t)turns, sizeof times[i][0], compare);
        medians[i] = times[i][turns / 2];
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {512, 1000, 1024, 2048, 4095, 4096, 8192};
    require(argc == 2, "usage: streamed FILE.json");
    void *library = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, dlerror());
    sgemm *ours = (sgemm *)dlsym(library, "cblas_sgemm");
    set_option *set = (set_option *)dlsym(library, "tileblas_set_option");
    require(ours && set, "the library lacks a symbol");
    require(set("START", "wait") == 0 && set("ROUTE", "streamed") == 0, "an option was refused");

    FILE *file = fopen(argv[1], "w");
    require(file != NULL, argv[1]);
    bench_json json = bench_json_to(file);
    bench_json_begin(&json, NULL, '{');
    bench_json_begin(&json, "products", '[');
    printf("%6s %14s %14s %8s\n", "n", "OpenBLAS ms", "streamed ms", "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        square s = {sizes[i], make_matrix(sizes[i]), make_matrix(sizes[i]), make_matrix(sizes[i])};
        sgemm *contenders[] = {cblas_sgemm, ours};
        double medians[2];
        measure(contenders, medians, 2, &s);
        printf("%6d %14.3f %14.3f %8.2f\n", s.n, 1e3 * medians[0], 1e3 * medians[1], medians[0] / medians[1]);
        fflush(stdout);
        bench_json_begin(&json, NULL, '{');
        bench_json_integer(&json, "n", s.n);
        bench_json_number(&json, "openblas_seconds", medians[0]);
        bench_json_number(&json, "streamed_seconds", medians[1]);
        bench_json_end(&json, '}');
        free(s.a);
        free(s.b);
        free(s.c);
    }
    bench_json_end(&json, ']');
    bench_json_end(&json, '}');
    require(fclose(file) == 0, argv[1]);
    return 0;
}
