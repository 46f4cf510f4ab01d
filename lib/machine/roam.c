#include "lib/machine/roam.h"

#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <time.h>
#include <unistd.h>

enum { CORES_LEAST = 4 };

/* None of 0.3 to 4 ms was better on a host of 16 cores (docs/lab/starting.md). */
#define NANOSECONDS_A_PLACE 1000000

enum { STOPPED, MOVES, STOPS };

void tb_half_of_cores(const cpu_set_t *cores, int first, cpu_set_t *half)
{
    int index = 0;
    CPU_ZERO(half);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, cores) && index++ % 2 == first)
            CPU_SET(core, half);
}

/* The companion. A core that the thread is not to use is left at once, for one of the others. */
static void *move(void *moved)
{
    const struct timespec place = {.tv_nsec = NANOSECONDS_A_PLACE};
    tb_roaming *roaming = moved;
    cpu_set_t halves[2];
    for (int first = 0; first < 2; first++)
        tb_half_of_cores(&roaming->cores, first, &halves[first]);
    for (int turn = 0; atomic_load(&roaming->state) == MOVES; turn ^= 1) {
        sched_setaffinity(roaming->thread, sizeof halves[turn], &halves[turn]);
        nanosleep(&place, NULL);
    }
    atomic_store(&roaming->state, STOPPED);
    tb_wake_all(&roaming->state);
    return NULL;
}

void tb_begin_roaming(tb_roaming *roaming)
{
    roaming->thread = gettid();
    atomic_init(&roaming->state, STOPPED);
    if (sched_getaffinity(0, sizeof roaming->cores, &roaming->cores) != 0 ||
        CPU_COUNT(&roaming->cores) < CORES_LEAST)
        return;
    atomic_store(&roaming->state, MOVES);
    if (!tb_start_thread(move, roaming))
        atomic_store(&roaming->state, STOPPED);
}

void tb_end_roaming(tb_roaming *roaming)
{
    uint32_t moves = MOVES;
    if (!atomic_compare_exchange_strong(&roaming->state, &moves, STOPS))
        return;
    while (atomic_load(&roaming->state) == STOPS)
        tb_wait_while(&roaming->state, STOPS, -1);
    sched_setaffinity(0, sizeof roaming->cores, &roaming->cores);
}
