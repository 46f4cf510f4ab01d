#include "lib/machine/cores.h"

enum { FEW_CORES = 4 };

/* Where there are more, a quarter is left to others: who waits for a copy waits for its last piece, and on a host of
 * sixteen cores, where something else wanted a core, all sixteen were up to sixty times slower than twelve. */
enum { ALL_CORES = 8 };
/* More get into each other's way, however many cores there are, unless there is another link to fill: on two
 * hosts of 32 cores one was filled best by twelve, two of H100s by sixteen to eighteen where each moves 128
 * MiB, and by 24 from 512 MiB on (8192 x 8192 x 8192 in 11.3 ms instead of 13.4). By sixteen to eighteen where each moves 384
 * MiB because devices bring half for each other: 10.4 ms, by twenty 13.4, by 24 50, where others used the host, too
 * (docs/lab/streaming.md). */
enum { LINK_THREADS = 12, MORE_LINK_THREADS = 6, MORE_LINK_THREADS_FOR_LONG = 12 };
#define LONG_BYTES ((size_t)448 << 20)

int tb_allowed_cores(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

int tb_threads_for_links(int cores, int links, size_t bytes)
{
    const int sparing = cores - cores / 4 > ALL_CORES ? cores - cores / 4 : smaller(cores, ALL_CORES);
    const int of_other_links = bytes >= LONG_BYTES ? MORE_LINK_THREADS_FOR_LONG : MORE_LINK_THREADS;
    return smaller(sparing, LINK_THREADS + of_other_links * (links > 1 ? links - 1 : 0));
}

void tb_cores_of_helper(const cpu_set_t *allowed, int callers_core, int number, int helpers, cpu_set_t *cores)
{
    const int count = CPU_COUNT(allowed);
    const int sets_most = count < FEW_CORES ? count : count / 2;
    const int sets = sets_most > 1 ? smaller(helpers + 1, sets_most) : 1;
    CPU_ZERO(cores);
    /* From the caller's core on, and round again: the first is of set 0, and helper 0's set is 1. */
    int index = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        const size_t core = (size_t)(callers_core + i) % CPU_SETSIZE;
        if (!CPU_ISSET(core, allowed))
            continue;
        /* One further every round, as cores half their number apart may be one with two threads. */
        if ((index + index / sets) % sets == (number + 1) % sets)
            CPU_SET(core, cores);
        index++;
    }
}

void tb_stay_on_own_cores(int callers_core, int number, int helpers)
{
    cpu_set_t allowed, cores;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    tb_cores_of_helper(&allowed, callers_core, number, helpers, &cores);
    (void)!sched_setaffinity(0, sizeof cores, &cores);
}
