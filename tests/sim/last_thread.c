/* A main thread that ends by pthread_exit. The process ends, as by exit(0), when the last of the program's other threads does, although
 * the library's threads and the device's are still there; and not before.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <sys/mman.h>

enum { M = 900, N = 700, K = 20, CALLS = 2 };

/* Many times what a trial takes. */
#define TRIAL_SECONDS 30.0

/* Longer than it takes to notice that the main thread is gone. */
#define LONG_MICROSECONDS 700000

typedef struct scenario {
    const char *name;
    bool main_calls, other_calls, forks;
    int waits; /* microseconds, before the other thread ends */
} scenario;

static const scenario scenarios[] = {
    {"another thread calls", false, true, false, 0},
    {"both call", true, true, false, 0},
    {"the main thread has called", true, false, false, 0},
    {"another thread works on", true, true, false, LONG_MICROSECONDS},
    {"a child", true, true, true, 0},
    {"nobody calls", false, false, false, 0},
};

static atomic_bool is_done;

static void check_end(void)
{
    CHECK(atomic_load(&is_done), "the process ends while a thread of the program's is at work");
    if (check_result() != EXIT_SUCCESS)
        _exit(EXIT_FAILURE);
}

static void multiply(void)
{
    for (int call = 0; call < CALLS; call++)
        CHECK(known_multiply_once(M, N, K, 0, 2, TB_MEMORY_HOST) == 0, "wrong");
    CHECK(sim_operations("launch") > 0, "the device was not used");
}

static void *work_on(void *argument)
{
    const scenario *scenario = argument;
    if (scenario->other_calls)
        multiply();
    usleep((useconds_t)scenario->waits);
    atomic_store(&is_done, true);
    return NULL;
}

static void leave_main(void *argument)
{
    const scenario *scenario = argument;
    pthread_t thread;
    CHECK(atexit(check_end) == 0, "no exit handler");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("COPY_THREADS", "4");
    if (scenario->main_calls)
        multiply();
    pthread_create(&thread, NULL, work_on, argument);
    pthread_exit(NULL);
}

/* Of a parent that has threads of the library's. */
static void leave_main_of_child(void *argument)
{
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "host");
    const pid_t child = fork();
    if (child == 0)
        leave_main(argument);
    CHECK(child_wait(child, TRIAL_SECONDS) == CHILD_RIGHT, "the child does not end");
}

int main(void)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const scenario *scenario = &scenarios[i];
        const child_end end = child_run(scenario->forks ? leave_main_of_child : leave_main,
                                        (void *)(uintptr_t)scenario, 1.5 * TRIAL_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: the process was %s", scenario->name, child_end_text(end));
    }
    return check_result();
}
