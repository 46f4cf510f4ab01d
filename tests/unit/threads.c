/* The library's own threads: they take none of the program's signals but those that their own instructions raise, and begin with
 * the default floating-point environment, whatever the thread that starts them has.
 */
#include "lib/threads.h"
#include "tests/check.h"

#include <fenv.h>
#include <semaphore.h>
#include <signal.h>

static sem_t done;

static bool is_raised_by_instructions(int signal)
{
    static const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == signal)
            return true;
    return false;
}

/* Not those that the C library keeps for itself, between the two ranges, nor those that nobody can block. */
static bool is_programs(int signal)
{
    return signal != SIGKILL && signal != SIGSTOP && (signal < 32 || signal >= SIGRTMIN);
}

static void *look_around(void *argument)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        CHECK(!is_programs(signal) ||
                  (sigismember(&blocked, signal) == 1) == !is_raised_by_instructions(signal),
              "signal %d", signal);
    CHECK(fegetround() == FE_TONEAREST, "rounds as the program does");
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0, "has the program's exceptions");
    CHECK(argument == &done, "has another argument");
    sem_post(&done);
    return NULL;
}

static void start_one(void)
{
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    CHECK(tb_start_thread(look_around, &done), "no thread");
    sem_wait(&done);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        CHECK(sigismember(&before, signal) == sigismember(&after, signal), "the starting thread's signal %d",
              signal);
}

int main(void)
{
    sigset_t signals;
    sem_init(&done, 0, 0);
    start_one();
    sigemptyset(&signals);
    sigaddset(&signals, SIGSEGV);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    fesetround(FE_TOWARDZERO);
    feraiseexcept(FE_DIVBYZERO);
    start_one();
    return check_result();
}
