/* How many threads copy; and the cores of helping ones: allowed, two at least but where there are fewer than four, and none
 * used by many more helpers than another. And those of the machine, which are the calling thread's.
 */
#include "lib/machine/cores.h"
#include "lib/machine/machine.h"
#include "tests/check.h"

#include <unistd.h>

/* Longer than a thread's set of cores is believed. */
#define BELIEVED_MICROSECONDS 300000

static void check_sets(int count, size_t first, size_t stride, size_t callers, int helpers)
{
    cpu_set_t allowed, cores;
    int users[CPU_SETSIZE] = {0}, fewest = helpers, most = 0;
    CPU_ZERO(&allowed);
    for (size_t i = 0; i < (size_t)count; i++)
        CPU_SET(first + i * stride, &allowed);
    for (int number = 0; number < helpers; number++) {
        tb_cores_of_helper(&allowed, (int)callers, number, helpers, &cores);
        CHECK(CPU_COUNT(&cores) >= (count < 4 ? 1 : 2), "%d cores, %d helpers: number %d has %d", count,
              helpers, number, CPU_COUNT(&cores));
        for (size_t core = 0; core < CPU_SETSIZE; core++)
            if (CPU_ISSET(core, &cores)) {
                CHECK(CPU_ISSET(core, &allowed), "core %zu is not allowed", core);
                users[core]++;
            }
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        const int of_this = users[first + i * stride];
        fewest = of_this < fewest ? of_this : fewest;
        most = of_this > most ? of_this : most;
    }
    CHECK(users[callers] == fewest, "the caller's core has %d helpers, others %d", users[callers], fewest);
    CHECK(most - fewest <= 1, "%d cores, %d helpers: %d to %d on a core", count, helpers, fewest, most);
}

static void check_threads(int cores, int links, size_t mib, int expected)
{
    const int threads = tb_threads_for_links(cores, links, mib << 20);
    CHECK(threads == expected, "%d cores, %d links, %zu MiB: %d threads, not %d", cores, links, mib, threads,
          expected);
}

static void check_host_cores(const cpu_set_t *allowed)
{
    sched_setaffinity(0, sizeof *allowed, allowed);
    usleep(BELIEVED_MICROSECONDS);
    const int cores = tb_machine_facts().host_cores;
    CHECK(cores == CPU_COUNT(allowed), "%d cores, not %d", cores, CPU_COUNT(allowed));
}

static void the_machines_cores_are_the_threads(void)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    check_host_cores(&all);
    check_host_cores(&one);
    check_host_cores(&all);
}

int main(void)
{
    check_threads(1, 1, 1, 1);
    check_threads(8, 1, 1, 8);
    check_threads(9, 1, 1, 8);
    check_threads(16, 0, 1, 12);
    check_threads(16, 1, 1, 12);
    check_threads(16, 2, 1, 12);
    check_threads(32, 1, 1, 12);
    check_threads(32, 2, 1, 18);
    check_threads(128, 3, 1, 24);
    check_threads(32, 1, 512, 12);
    check_threads(32, 2, 384, 18);
    check_threads(32, 2, 512, 24);
    check_threads(16, 2, 512, 12);
    for (int count = 1; count <= 128; count++)
        for (int helpers = 1; helpers <= 31; helpers++) {
            check_sets(count, 0, 1, 0, helpers);
            check_sets(count, 0, 1, (size_t)count - 1, helpers);
            check_sets(count, 3, 7, 3 + 7 * ((size_t)count / 2), helpers);
        }
    the_machines_cores_are_the_threads();
    return check_result();
}
