/* bench/forwarding LIBRARY HOST: what a forwarded call costs more than a direct one.
 *
 * LIBRARY is libtileblas.so, HOST a library whose routines return at once (forwarding_host.c), so that nothing
 * but the way there is measured. Blocks of calls through LIBRARY and straight to HOST are timed in turn, of one
 * routine again and again and of four in rotation. Prints the medians and their difference in nanoseconds a
 * call.
 */
#include "bench/timing.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 200000, BLOCKS = 201, ROUTINES = 4 };

typedef double routine(const int *n, const double *x, const int *step_x, const double *y, const int *step_y);
static const char *const names[ROUTINES] = {"ddot_", "dasum_", "dnrm2_", "dsdot_"};

static void find_routines(const char *path, routine **routines)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < ROUTINES; i++)
        if (!library || !(*(void **)&routines[i] = dlsym(library, names[i]))) {
            fprintf(stderr, "forwarding: %s\n", dlerror());
            exit(1);
        }
}

/* Nanoseconds a call. */
static double time_block(routine *const volatile *routines, int count)
{
    const int n = 1;
    const double x = 2, y = 3;
    double start = tb_seconds();
    for (int call = 0; call < CALLS; call++)
        routines[call & (count - 1)](&n, &x, &n, &y, &n);
    return 1e9 * (tb_seconds() - start) / CALLS;
}

static void compare_ways(routine *const *direct, routine *const *forwarded, int count)
{
    double direct_times[BLOCKS], forwarded_times[BLOCKS], differences[BLOCKS];
    time_block(forwarded, count);
    for (int block = 0; block < BLOCKS; block++) {
        direct_times[block] = time_block(direct, count);
        forwarded_times[block] = time_block(forwarded, count);
        differences[block] = forwarded_times[block] - direct_times[block];
    }
    printf(
        "%d routine%s: direct %.2f ns, forwarded %.2f ns, difference %.2f ns a call, medians of %d blocks\n",
        count, count > 1 ? "s" : "", bench_median(direct_times, BLOCKS),
        bench_median(forwarded_times, BLOCKS), bench_median(differences, BLOCKS), BLOCKS);
}

int main(int argc, char **argv)
{
    routine *direct[ROUTINES], *forwarded[ROUTINES];
    if (argc != 3 || setenv("TILEBLAS_HOST_BLAS", argv[2], 1) != 0)
        return 2;
    find_routines(argv[1], forwarded);
    find_routines(argv[2], direct);
    compare_ways(direct, forwarded, 1);
    compare_ways(direct, forwarded, ROUTINES);
    return 0;
}
