/* What bench/accumulator.c passes to its kernel. Shared by C and CUDA. */
#ifndef BENCH_ACCUMULATOR_H
#define BENCH_ACCUMULATOR_H

#include <stdint.h>

/* The instruction: m64n8k16. */
#define BENCH_PROBE_M 64
#define BENCH_PROBE_N 8
#define BENCH_PROBE_K 16

typedef struct bench_probe_arguments {
    const uint16_t *a, *b; /* BF16: [block][m][k], [block][n][k] */
    const float *c;        /* [block][m][n] */
    float *d;
} bench_probe_arguments;

#endif
