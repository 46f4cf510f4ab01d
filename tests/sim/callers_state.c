/* What calls leave on their thread as it was, and what they make of how it does arithmetic: errno, flags, traps, rounding. Each
 * statement in a process of its own.
 *
 *   callers_state [STATEMENT]   all of them, or one, by the name of its function
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <errno.h>
#include <fenv.h>
#include <string.h>

enum { M = 300, N = 200, K = 40 };

#define CHILD_SECONDS 60.0
/* Nobody's. */
#define ERROR EXDEV

static const char *const routes[] = {"host", "streamed", "auto"};
enum { ROUTES = sizeof routes / sizeof *routes };

static void choose(const char *route)
{
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", route);
}

static void check_plan(const char *when, const char *expected)
{
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strstr(plan, expected) == plan, "%s: the plan is \"%s\", not \"%s\"", when, plan, expected);
}

static const char by_host[] =
    "host: the thread has little stack, is in another call, or rounds or traps as no device does";

/* ---- What is left as it was ------------------------------------------------------------------------------- */

/* All numbers are integers, of which nothing is lost. The first call looks for the host, and starts the device. */
static void exact_calls_leave_no_trace(void *route)
{
    choose(route);
    const known_product p = known_make(M, N, K, 1, 2, TB_MEMORY_HOST);
    for (int call = 0; call < 3; call++) {
        feclearexcept(FE_ALL_EXCEPT);
        errno = ERROR;
        known_multiply(&p);
        const int raised = fetestexcept(FE_ALL_EXCEPT), error = errno;
        CHECK(raised == 0, "%s, call %d: exceptions %#x are raised", (const char *)route, call,
              (unsigned)raised);
        CHECK(error == ERROR, "%s, call %d: errno is %d", (const char *)route, call, error);
    }
}

/* The sums of statistics, too, are no arithmetic of the program's; nor is the clock of a child. */
static void questions_leave_no_trace(void *unused)
{
    (void)unused;
    char plan[256];
    tileblas_statistics counts;
    choose("streamed");
    known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST);
    feclearexcept(FE_ALL_EXCEPT);
    tileblas_last_plan(plan, sizeof plan);
    tileblas_read_statistics(&counts, sizeof counts);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0, "the plan and statistics raise %#x",
          (unsigned)fetestexcept(FE_ALL_EXCEPT));
    const pid_t child = fork();
    if (child == 0)
        _exit(fetestexcept(FE_ALL_EXCEPT));
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child begins with exceptions %#x",
          (unsigned)status);
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0, "a fork raises %#x", (unsigned)fetestexcept(FE_ALL_EXCEPT));
}

/* What has been raised before stays so, and so do modes that no product depends on. */
static void the_environment_is_kept(void *route)
{
    choose(route);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_DIVBYZERO); /* which the C library does by the arithmetic of doubles, unlike others */
    known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST);
    CHECK(fetestexcept(FE_DIVBYZERO), "%s: an exception is taken back", (const char *)route);
#if defined(__x86_64__)
    enum { FLUSHES_TO_ZERO = 0x8040 };
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSHES_TO_ZERO);
    known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST);
    CHECK((__builtin_ia32_stmxcsr() & FLUSHES_TO_ZERO) == FLUSHES_TO_ZERO, "%s: flush-to-zero ends",
          (const char *)route);
    if (strcmp(route, "streamed") == 0)
        check_plan("flush-to-zero", "streamed");
#endif
}

/* ---- What the host computes ------------------------------------------------------------------------------- */

static void traps_are_the_hosts(void *route)
{
    choose(route);
    const known_product p = known_make(M, N, K, 1, 2, TB_MEMORY_HOST),
                        tiny = known_make(20, 20, 20, 1, 2, TB_MEMORY_HOST);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
    known_multiply(&tiny);
    known_multiply(&p);
    fedisableexcept(FE_ALL_EXCEPT);
    CHECK(known_errors(&p) == 0 && known_errors(&tiny) == 0, "%s: wrong", (const char *)route);
    check_plan(route, by_host);
}

/* Products are rounded as interval arithmetic wants it: rounded down and up, one encloses the exact one. */
static void rounding_is_the_hosts(void *route)
{
    enum { SIDE = 96 };
    static double a[SIDE * SIDE], b[SIDE * SIDE], c[2][SIDE * SIDE];
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD};
    choose(route);
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = 1.0 / (i % 97 + 3);
        b[i] = 1.0 / (i % 89 + 7);
    }
    for (int i = 0; i < 2; i++) {
        fesetround(modes[i]);
        cblas_dgemm(102, 111, 111, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c[i], SIDE);
        CHECK(fegetround() == modes[i], "the mode changes to %d", fegetround());
        fesetround(FE_TONEAREST);
        check_plan(route, by_host);
    }
    int alike = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        alike += !(c[0][i] < c[1][i]);
    CHECK(alike == 0, "%s: %d elements are rounded alike up and down", (const char *)route, alike);
    fesetround(FE_TOWARDZERO);
    cblas_dgemm(102, 111, 111, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c[1], SIDE);
    fesetround(FE_TONEAREST);
    CHECK(memcmp(c[0], c[1], sizeof c[0]) == 0, "%s: towards zero is not down", (const char *)route);
}

/* The host cannot reach them: the device rounds to nearest. */
static void what_lies_on_a_device_is_the_devices(void *unused)
{
    (void)unused;
    choose("host");
    fesetround(FE_UPWARD);
    const int errors = known_multiply_once(M, N, K, 1, 2, TB_MEMORY_DEVICE);
    fesetround(FE_TONEAREST);
    CHECK(errors == 0, "%d elements are wrong", errors);
    check_plan("upward, on the device", "resident");
}

/* Inexact results and what is too large are raised by the host's own arithmetic, as without TileBLAS. */
static void the_hosts_exceptions_are_the_callers(void *unused)
{
    (void)unused;
    choose("host");
    known_product p = known_make(M, N, K, 0, 1.0 / 3, TB_MEMORY_HOST);
    feclearexcept(FE_ALL_EXCEPT);
    known_multiply(&p);
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    CHECK(raised == FE_INEXACT, "thirds raise %#x", (unsigned)raised);
    p.factor = 1e38;
    known_fill_a(&p);
    feclearexcept(FE_ALL_EXCEPT);
    known_multiply(&p);
    CHECK(fetestexcept(FE_OVERFLOW), "an overflow is lost");
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

/* NULL: all of them. */
static const char *wanted;

static void in_a_process_of_its_own(const char *what, void (*statement)(void *), const char *argument)
{
    if (wanted && strcmp(wanted, what) != 0)
        return;
    const child_end end = child_run(statement, (void *)argument, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "%s, %s: the process was %s", what, argument, child_end_text(end));
}

#define IN_A_PROCESS_OF_ITS_OWN(statement, argument) in_a_process_of_its_own(#statement, statement, argument)

int main(int count, char **arguments)
{
    const int raised = fetestexcept(FE_ALL_EXCEPT), error = errno;
    wanted = count > 1 ? arguments[1] : NULL;
    CHECK(raised == 0 && error == 0, "loading raises %#x, and leaves errno %d", (unsigned)raised, error);
    for (int i = 0; i < ROUTES; i++) {
        IN_A_PROCESS_OF_ITS_OWN(exact_calls_leave_no_trace, routes[i]);
        IN_A_PROCESS_OF_ITS_OWN(the_environment_is_kept, routes[i]);
        IN_A_PROCESS_OF_ITS_OWN(traps_are_the_hosts, routes[i]);
        IN_A_PROCESS_OF_ITS_OWN(rounding_is_the_hosts, routes[i]);
    }
    IN_A_PROCESS_OF_ITS_OWN(questions_leave_no_trace, "streamed");
    IN_A_PROCESS_OF_ITS_OWN(what_lies_on_a_device_is_the_devices, "host");
    IN_A_PROCESS_OF_ITS_OWN(the_hosts_exceptions_are_the_callers, "host");
    return check_result();
}
