/* Threads of the library's own: signals that the program is sent are not for them, those that their own instructions raise are
 * the program's as in any thread, and of the floating-point environment of who started them they have nothing.
 */
#include "lib/process/threads.h"
#include "tests/check.h"

#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t done;
static sigset_t blocked;
static int trapping, rounding;

static void *look(void *unused)
{
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    trapping = fegetexcept();
    rounding = fegetround();
    sem_post(&done);
    return unused;
}

static void look_in_a_thread(void)
{
    CHECK(tb_start_thread(look, NULL), "no thread");
    while (sem_wait(&done) != 0)
        continue;
}

static bool is_raised_by_instructions(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGSYS;
}

/* Of those that a thread can block; the C library keeps two for itself. */
static void signals_are_for_the_program(void)
{
    for (int number = 1; number < SIGRTMAX; number++) {
        if (number == SIGKILL || number == SIGSTOP || (number >= __SIGRTMIN && number < SIGRTMIN))
            continue;
        CHECK(sigismember(&blocked, number) == !is_raised_by_instructions(number), "signal %d is%s blocked",
              number, sigismember(&blocked, number) ? "" : " not");
    }
}

static void the_environment_is_the_default(void)
{
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    fesetround(FE_UPWARD);
    look_in_a_thread();
    fesetenv(FE_DFL_ENV);
    CHECK(trapping == 0 && rounding == FE_TONEAREST, "traps %d, rounding %d", trapping, rounding);
}

static void the_caller_stays_as_it_was(void)
{
    sigset_t some, after;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &some, NULL);
    look_in_a_thread();
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < SIGRTMIN; number++)
        CHECK(sigismember(&after, number) == sigismember(&some, number), "signal %d", number);
    signals_are_for_the_program();
}

int main(void)
{
    sem_init(&done, 0, 0);
    look_in_a_thread();
    signals_are_for_the_program();
    the_environment_is_the_default();
    the_caller_stays_as_it_was();
    return check_result();
}
