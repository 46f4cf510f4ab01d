/* A thread that roams: always one of two halves of its cores while it does, all of them before and after, and never with fewer
 * than four. On this machine's cores, and on some that are made up, as it may have no four.
 */
#include "lib/machine/roam.h"
#include "lib/process/clock.h"
#include "tests/check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { HALVES = 2, MADE_UP = 7, MOVE_MICROSECONDS = 500 };

/* ---- Cores that are made up --------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_made_up, is_roaming;
static atomic_bool is_moving; /* a move has begun */
static cpu_set_t allowed;     /* the main thread */

int __real_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *cores);
int __real_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores);
int __wrap_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *cores);
int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores);

int __wrap_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *cores)
{
    if (!is_made_up)
        return __real_sched_getaffinity(thread, size, cores);
    pthread_mutex_lock(&lock);
    *cores = allowed;
    pthread_mutex_unlock(&lock);
    return 0;
}

int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores)
{
    if (!is_made_up)
        return __real_sched_setaffinity(thread, size, cores);
    if (gettid() != getpid()) {
        atomic_store(&is_moving, true);
        usleep(MOVE_MICROSECONDS);
    }
    pthread_mutex_lock(&lock);
    CHECK((thread ? thread : gettid()) == getpid(), "another thread is moved");
    CHECK(is_roaming || gettid() == getpid(), "a thread is moved that does not roam");
    allowed = *cores;
    atomic_store(&is_moving, false);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Whether the companion may move the main thread from now on. */
static void set_roaming(bool roaming)
{
    pthread_mutex_lock(&lock);
    is_roaming = roaming;
    pthread_mutex_unlock(&lock);
}

/* ---- Roaming -------------------------------------------------------------------------------------------------------- */

static cpu_set_t allowed_now(void)
{
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0, "no set of cores");
    return now;
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

/* Lets the thread roam until both halves have been seen, ten seconds at most. */
static void check_roaming(void)
{
    const cpu_set_t all = allowed_now();
    cpu_set_t halves[HALVES];
    bool seen[HALVES] = {false};
    tb_roaming roaming;
    for (int first = 0; first < HALVES; first++)
        tb_half_of_cores(&all, first, &halves[first]);
    set_roaming(true);
    tb_begin_roaming(&roaming);
    const double end = tb_seconds() + (CPU_COUNT(&all) >= 4 ? 10 : 0.02);
    while (!(seen[0] && seen[1]) && tb_seconds() < end) {
        const cpu_set_t now = allowed_now();
        for (int first = 0; first < HALVES; first++)
            seen[first] = seen[first] || CPU_EQUAL(&now, &halves[first]);
        usleep(100);
    }
    while (is_made_up && !atomic_load(&is_moving) && tb_seconds() < end)
        sched_yield(); /* until it is in the middle of a move */
    tb_end_roaming(&roaming);
    set_roaming(false);
    usleep(4 * MOVE_MICROSECONDS);
    const cpu_set_t after = allowed_now();
    CHECK(CPU_EQUAL(&after, &all), "%d of %d cores are left", CPU_COUNT(&after), CPU_COUNT(&all));
    if (CPU_COUNT(&all) >= 4)
        CHECK(seen[0] && seen[1], "the thread has not moved");
}

/* The process is allowed three cores, as on a machine that has no more, or fewer. */
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
    is_made_up = true;
    for (size_t core = 0; core < MADE_UP; core++)
        CPU_SET(5 * core, &allowed);
    for (int again = 0; again < 3; again++)
        check_roaming();
    check_few();
    is_made_up = false;
    check_few();
    return check_result();
}
