/* A thread that roams: always one of two halves of its cores while it does, all of them before and after, and never with fewer
 * than four.
 */
#include "lib/machine/roam.h"
#include "lib/process/clock.h"
#include "tests/check.h"

#include <string.h>
#include <unistd.h>

enum { HALVES = 2 };

static cpu_set_t allowed_now(void)
{
    cpu_set_t allowed;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "no set of cores");
    return allowed;
}

static void check_halves(int count, size_t stride)
{
    cpu_set_t cores, halves[HALVES], both;
    CPU_ZERO(&cores);
    for (size_t i = 0; i < (size_t)count; i++)
        CPU_SET(3 + i * stride, &cores);
    for (int first = 0; first < HALVES; first++)
        tb_half_of_cores(&cores, first, &halves[first]);
    CPU_OR(&both, &halves[0], &halves[1]);
    CHECK(CPU_EQUAL(&both, &cores), "%d cores: the halves are not all of them", count);
    CHECK(CPU_COUNT(&halves[0]) == (count + 1) / 2 && CPU_COUNT(&halves[1]) == count / 2,
          "%d cores: %d and %d", count, CPU_COUNT(&halves[0]), CPU_COUNT(&halves[1]));
}

/* Until both halves have been seen, ten seconds at most. */
static void check_roaming(void)
{
    const cpu_set_t all = allowed_now();
    cpu_set_t halves[HALVES];
    bool seen[HALVES] = {false};
    tb_roaming roaming;
    for (int first = 0; first < HALVES; first++)
        tb_half_of_cores(&all, first, &halves[first]);
    tb_begin_roaming(&roaming);
    const double end = tb_seconds() + (CPU_COUNT(&all) >= 4 ? 10 : 0.02);
    while (!(seen[0] && seen[1]) && tb_seconds() < end) {
        const cpu_set_t now = allowed_now();
        for (int first = 0; first < HALVES; first++)
            seen[first] = seen[first] || CPU_EQUAL(&now, &halves[first]);
        usleep(100);
    }
    tb_end_roaming(&roaming);
    const cpu_set_t after = allowed_now();
    CHECK(CPU_EQUAL(&after, &all), "%d of %d cores are left", CPU_COUNT(&after), CPU_COUNT(&all));
    if (CPU_COUNT(&all) >= 4)
        CHECK(seen[0] && seen[1], "the thread has not moved");
}

/* As on a machine of three cores, or of fewer. */
static void check_few(void)
{
    cpu_set_t few = allowed_now();
    for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&few) > 3; core++)
        CPU_CLR(core, &few);
    CHECK(sched_setaffinity(0, sizeof few, &few) == 0, "no fewer cores");
    tb_roaming roaming;
    tb_begin_roaming(&roaming);
    usleep(20000);
    const cpu_set_t now = allowed_now();
    tb_end_roaming(&roaming);
    CHECK(CPU_EQUAL(&now, &few), "a thread of %d cores has %d", CPU_COUNT(&few), CPU_COUNT(&now));
}

int main(void)
{
    for (int count = 1; count <= 9; count++)
        for (size_t stride = 1; stride <= 2; stride++)
            check_halves(count, stride);
    check_roaming();
    check_few();
    return 0;
}
