/* Threads of the library's own: signals that the program is sent are not for them, those that their own instructions raise are
 * the program's as in any thread, and of the floating-point environment of who started them they have nothing. A product that
 * devices share is done where there can be none.
 */
#include "include/tileblas.h"
#include "lib/process/threads.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

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

/* The library's threads block all signals that a thread can block; the C library keeps two for itself. */
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

/* ---- Where there can be none ------------------------------------------------------------------------------ */

enum { N = 600, PATIENCE_SECONDS = 60 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

/* The linker puts it in front of the real one. Threads of the library's own start others, too. */
static atomic_bool refuses;
static atomic_int refusals;

bool __real_tb_start_thread(void *(*work)(void *), void *argument);
bool __wrap_tb_start_thread(void *(*work)(void *), void *argument);

bool __wrap_tb_start_thread(void *(*work)(void *), void *argument)
{
    if (atomic_load(&refuses)) {
        atomic_fetch_add(&refusals, 1);
        return false;
    }
    return __real_tb_start_thread(work, argument);
}

static void devices_share_a_product_in_one_thread(void)
{
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++)
        a[i] = b[i] = 1;
    sim_set("DEVICES", "3");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("DEVICES", "3");
    tileblas_set_option("COPY_THREADS", "1");
    alarm(PATIENCE_SECONDS);
    for (int i = 0; i < 2; i++) {
        atomic_store(&refuses, i > 0);
        cblas_sgemm(102, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
        int wrong = 0;
        for (int j = 0; j < N * N; j++)
            wrong += c[j] != N;
        CHECK(wrong == 0, "%d elements are wrong", wrong);
        c[0] = 0;
    }
    atomic_store(&refuses, false);
    alarm(0);
    const int count = atomic_load(&refusals);
    CHECK(count >= 2, "%d threads were refused",
          count); /* those of two devices, and of whoever wanted one besides */
}

int main(void)
{
    sem_init(&done, 0, 0);
    look_in_a_thread();
    signals_are_for_the_program();
    the_environment_is_the_default();
    the_caller_stays_as_it_was();
    devices_share_a_product_in_one_thread();
    return check_result();
}
