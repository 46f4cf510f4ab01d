/* How the sides of a comparison take turns in one run: in each round every side has one. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <stdbool.h>
#include <time.h>

/* Which side has the turn at this place of a round. Each round begins with the side after the one that the round before began
 * with, and every other round goes backwards, so that neighbours change, too. */
static inline int bench_order_in_round(int round, int place, int sides)
{
    return (round + (round % 2 == 0 ? place : sides - place)) % sides;
}

/* Whether each side has been first equally often. */
static inline bool bench_is_even(int rounds, int sides)
{
    return rounds % sides == 0;
}

static inline double bench_processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Waits until the process's threads sleep, a fifth of a second at most. OpenBLAS's go on spinning after a call for 2^28 ticks,
 * 0.13 s at 2 GHz, also where our library called it. */
static inline void bench_rest(void)
{
    const double piece = 0.005;
    for (int i = 0; i < 40; i++) {
        const double before = bench_processor_seconds();
        nanosleep(&(struct timespec){.tv_nsec = (long)(piece * 1e9)}, NULL);
        if (bench_processor_seconds() - before < piece / 2) /* not even one thread spins */
            return;
    }
}

#endif
