/* Random numbers of the standard normal distribution, as the benchmarks multiply them. */
#ifndef BENCH_NORMAL_H
#define BENCH_NORMAL_H

#include <stdint.h>

/* The next of a sequence, with all bits of a double; *state is any number but 0 at its beginning. */
double bench_normal(uint64_t *state);

#endif
