/* Matrices of the programs that benchmarks start as processes: program.c, callers.c, fresh.c. All of a
 * process are of one element.
 */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include <cblas.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool bench_of_doubles; /* not of floats */

/* ELEMENT of a command line, float or double; argument NULL is float. Ends the program for another word. */
static inline void bench_choose_element(const char *argument)
{
    bench_of_doubles = argument && strcmp(argument, "double") == 0;
    if (argument && !bench_of_doubles && strcmp(argument, "float") != 0) {
        fprintf(stderr, "ELEMENT is float or double, not %s\n", argument);
        exit(2);
    }
}

static inline size_t bench_bytes(size_t elements)
{
    return elements * (bench_of_doubles ? sizeof(double) : sizeof(float));
}

/* Random numbers between -1 and 1, with all bits of the element. */
static inline void bench_fill(void *matrix, size_t elements, uint32_t seed)
{
    uint64_t state = 88172645463325252u + seed;
    for (size_t i = 0; i < elements; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const double number = (double)((int64_t)state >> 11) * 0x1p-52;
        if (bench_of_doubles)
            ((double *)matrix)[i] = number;
        else
            ((float *)matrix)[i] = (float)number;
    }
}

/* A matrix from the heap, filled, so that all its pages are there. Ends the program when memory runs out. */
static inline void *bench_make_matrix(size_t elements, uint32_t seed)
{
    void *matrix = malloc(bench_bytes(elements));
    if (!matrix) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    bench_fill(matrix, elements, seed);
    return matrix;
}

/* C = A B, as programs in C and Python call it: row-major, tight. */
static inline void bench_multiply(int m, int n, int k, const void *a, const void *b, void *c)
{
    if (bench_of_doubles)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
}

/* One product of n x n matrices of its own. With TILEBLAS_START=wait the device is up when it returns. */
static inline void bench_wake(int n)
{
    const size_t elements = (size_t)n * (size_t)n;
    void *a = bench_make_matrix(elements, 1), *b = bench_make_matrix(elements, 2),
         *c = bench_make_matrix(elements, 3);
    bench_multiply(n, n, n, a, b, c);
    free(a);
    free(b);
    free(c);
}

#endif
