/* What bench/kernels was asked for: kernels.c explains its options. */
#ifndef BENCH_KERNELS_OPTIONS_H
#define BENCH_KERNELS_OPTIONS_H

#include "bench/routine.h"
#include "bench/shapes.h"
#include "kernels/kernel.h"

typedef struct kernels_options {
    const bench_routine *routine;
    const char *json, *group, *kernel;
    tb_accuracy accuracy;
    bool regret, once, brief, warm;
    bench_shape size; /* m is 0: none */
} kernels_options;

/* Ends the program for what it does not understand. --numbers holds from here on (bench_draw). */
kernels_options kernels_read_options(int argc, char **argv);

#endif
