/* Matrices of the programs that benchmarks start as processes: program.c, callers.c, fresh.c. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include <cblas.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Random numbers between -1 and 1. */
static inline void bench_fill(float *matrix, size_t floats, uint32_t seed)
{
    uint32_t state = 2463534242u + seed;
    for (size_t i = 0; i < floats; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        matrix[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

/* From the heap, filled, so that all its pages are there. Ends the program when memory runs out. */
static inline float *bench_make_matrix(size_t floats, uint32_t seed)
{
    float *matrix = malloc(floats * sizeof *matrix);
    if (!matrix) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    bench_fill(matrix, floats, seed);
    return matrix;
}

/* C = A B, as programs in C and Python call it: row-major, tight. */
static inline void bench_multiply(int m, int n, int k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
}

/* One product of n x n matrices of its own. With TILEBLAS_START=wait the device is up when it returns. */
static inline void bench_wake(int n)
{
    const size_t floats = (size_t)n * (size_t)n;
    float *a = bench_make_matrix(floats, 1), *b = bench_make_matrix(floats, 2),
          *c = bench_make_matrix(floats, 3);
    bench_multiply(n, n, n, a, b, c);
    free(a);
    free(b);
    free(c);
}

#endif
