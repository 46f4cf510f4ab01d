/* The wall clock that statistics, learning and benchmarks use. Dispatch has none. */
#ifndef TB_CLOCK_H
#define TB_CLOCK_H

#include <time.h>

/* Monotonic, in seconds. */
static inline double tb_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
