/* A main thread that ends by pthread_exit. The process ends, as by exit(0), when the last of the program's other threads
 * does, although the library's threads and the device's are still there; and not before.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

enum { M = 900, N = 700, K = 20, CALLS = 2 };

/* Many times what a trial takes. */
#define TRIAL_SECONDS 30.0

/* Longer than it takes to notice that the main thread is gone. */
#define LONG_MICROSECONDS 700000

/* Long enough for the main thread to end. */
#define SHORT_MICROSECONDS 100000

typedef struct scenario {
    const char *name;
    bool main_calls, other_calls, forks;
    int waits;            /* microseconds, before the other thread ends */
    bool forks_in_thread; /* which is not the main one */
    bool kills;           /* the process, when no thread takes a signal */
} scenario;

static const scenario scenarios[] = {
    {"another thread calls", false, true, false, .waits = 0},
    {"both call", true, true, false, .waits = 0},
    {"the main thread has called", true, false, false, .waits = 0},
    {"another thread works on", true, true, false, .waits = LONG_MICROSECONDS},
    {"a child", true, true, true, .waits = 0},
    {"a child of another thread", false, true, true, .waits = 0, .forks_in_thread = true},
    {"a signal that nobody takes", true, true, false, .waits = SHORT_MICROSECONDS, .kills = true},
    {"nobody calls", false, false, false, .waits = 0},
};

static atomic_bool is_done, is_killed, has_taken;

static void take(int signal)
{
    (void)signal;
    atomic_store(&has_taken, true);
}

/* Sends the signal to the process, while the thread takes none: as if it came when only the library's threads are left. */
static void kill_process(void)
{
    const struct sigaction action = {.sa_handler = take};
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaction(SIGTERM, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    kill(getpid(), SIGTERM);
    atomic_store(&is_killed, true);
}

static void check_end(void)
{
    CHECK(atomic_load(&has_taken) == atomic_load(&is_killed), "a signal is lost");
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
    if (scenario->kills)
        kill_process();
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

static void *fork_and_leave(void *argument)
{
    const pid_t child = fork();
    if (child == 0)
        leave_main(argument);
    CHECK(child_wait(child, TRIAL_SECONDS) == CHILD_RIGHT, "the child does not end");
    return NULL;
}

/* The child's parent has threads of the library's. */
static void leave_main_of_child(void *argument)
{
    const scenario *scenario = argument;
    pthread_t thread;
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "host");
    if (!scenario->forks_in_thread) {
        fork_and_leave(argument);
        return;
    }
    pthread_create(&thread, NULL, fork_and_leave, argument);
    pthread_join(thread, NULL);
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
