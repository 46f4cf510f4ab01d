/* Random numbers that the benchmarks multiply: of the standard normal distribution, unless others are asked for. */
#ifndef BENCH_NORMAL_H
#define BENCH_NORMAL_H

#include <stdint.h>

/* The next of a sequence, with all bits of a double; *state is any number but 0 at its beginning. */
double bench_normal(uint64_t *state);

typedef double bench_numbers(uint64_t *state);

/* normal; of few bits: bytes (0 to 255), integers (-128 to 127), floats (FP32 numbers from 1 to 2); spread (u - 1/2) exp(4 N), u
 * uniform and N normal. NULL: there is no such name. */
bench_numbers *bench_find_numbers(const char *name);

#endif
