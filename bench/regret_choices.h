/* The choices of bench/regret: the library left alone, and the routes and kernels that it can be forced to. All are timed in
 * turns, in this process; medians.
 */
#ifndef BENCH_REGRET_CHOICES_H
#define BENCH_REGRET_CHOICES_H

#include "bench/regret_products.h"

/* What came of the turns that were left alone. */
typedef struct regret_outcome {
    double regret;    /* its time over that of the fastest choice */
    double over_host; /* its time over the host's; 0 unless most turns left the host */
    double settled; /* the same after as many turns again, or more while it is slower: see SETTLING_ROUNDS */
} regret_outcome;

typedef struct regret_choice {
    const char *route, *kernel;
    double seconds;
} regret_choice;

/* One product's times. */
typedef struct regret_times {
    regret_choice alone, best;
    regret_choice host, streamed; /* not with operands in device memory */
    regret_outcome outcome;
    char plan[256];             /* of the last turn that was left alone */
    int turns, turns_left_host; /* that were left alone; of these, not computed by the host */
    int settling_rounds;
} regret_times;

/* Called before everything else: finds the library's routine, and opens the first device. */
void regret_open_library(const bench_routine *routine);

regret_times regret_time(regret_memory memory, const tb_product *p);

#endif
