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
#include <math.h>
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
    feraiseexcept(FE_UNDERFLOW);
    known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST);
    CHECK(fetestexcept(FE_UNDERFLOW), "%s: an exception is taken back", (const char *)route);
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

/* As interval arithmetic wants it: rounded down and up, a product encloses the exact one. */
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

/* ---- What a device's products raise ----------------------------------------------------------------------- */

void cblas_dsyrk(int, int, int, int, int, double, const double *, int, double, double *, int);
void cblas_dtrmm(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void cblas_dtrsm(int, int, int, int, int, int, int, double, const double *, int, double *, int);
void cblas_ssyrk(int, int, int, int, int, float, const float *, int, float, float *, int);
void cblas_strmm(int, int, int, int, int, int, int, float, const float *, int, float *, int);
void cblas_strsm(int, int, int, int, int, int, int, float, const float *, int, float *, int);

enum {
    SIDE = 150,
    ROW = 3,
    STEP = 4,
    LAST = SIDE - 1
}; /* a row of C, and a step of k, of which A has a number there */
#define AT(row, column) ((row) + (column)*SIDE + 1)
#define WATCHED         (FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO)

typedef enum trial_routine { GEMM, SYRK, TRMM, TRSM } trial_routine;

/* All of A, or the end of a diagonal of ones for TRSM, holds the factor, B and C ones, but for what is put in one place of each (AT; 0: none). */
typedef struct trial {
    const char *what;
    trial_routine routine;
    int raised;
    double factor, beta;
    int a_at, b_at, c_at;
    double a, b, c;
} trial;

static const trial trials[] = {
    {"ordinary numbers", GEMM, 0, .factor = 2, .beta = 1},
    {"an overflow", GEMM, FE_OVERFLOW, .factor = 1e30, .beta = 0},
    {"an overflow beside a NaN", GEMM, FE_OVERFLOW, 1e30, 0, .a_at = AT(ROW, STEP), .a = NAN},
    {"an infinity in A", GEMM, 0, 2, 0, .a_at = AT(ROW, STEP), .a = INFINITY},
    {"an infinity in B", GEMM, 0, 2, 1, .b_at = AT(STEP, 9), .b = -INFINITY},
    {"an infinity times zero", GEMM, FE_INVALID, 2, 0, AT(ROW, STEP), AT(STEP, 9), .a = INFINITY, .b = 0},
    {"an infinity less an infinity", GEMM, FE_INVALID, 2, 1, AT(ROW, STEP), .c_at = AT(ROW, 9), .a = INFINITY,
     .c = -INFINITY},
    {"a NaN in A", GEMM, 0, 2, 1, .a_at = AT(ROW, STEP), .a = NAN},
    {"a NaN in B", GEMM, 0, 2, 0, .b_at = AT(STEP, 9), .b = NAN},
    {"a NaN in C", GEMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = NAN},
    {"an infinity in C", GEMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"a C that is not read", GEMM, 0, 2, 0, .c_at = AT(ROW, 9), .c = NAN},
    {"an overflow beside an infinity in C", GEMM, FE_OVERFLOW, 1e30, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"an overflow in a triangle", SYRK, FE_OVERFLOW, .factor = 1e30, .beta = 0},
    {"an infinity in the other triangle of C", SYRK, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"an infinity in the triangle of C", SYRK, 0, 2, 1, .c_at = AT(9, ROW), .c = INFINITY},
    {"a NaN in the other triangle of A", TRMM, FE_OVERFLOW, 1e30, 1, .a_at = AT(ROW, 9), .a = NAN},
    {"a NaN in the triangle of A", TRMM, 0, 2, 1, .a_at = AT(9, ROW), .a = NAN},
    {"an infinity that was in C", TRMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = INFINITY},
    {"a NaN that was in C", TRMM, 0, 2, 1, .c_at = AT(ROW, 9), .c = NAN},
    {"a solution", TRSM, 0, .factor = 2, .beta = 1},
    {"a solution that overflows", TRSM, FE_OVERFLOW, .factor = 1e-30, .beta = 1},
    {"a zero at the end of the diagonal", TRSM, FE_DIVBYZERO, 2, 1, .a_at = AT(LAST, LAST), .a = 0},
    {"a zero on the diagonal", TRSM, FE_DIVBYZERO | FE_INVALID, 2, 1, .a_at = AT(ROW, ROW), .a = 0},
};
enum { TRIALS = sizeof trials / sizeof *trials };

static void set_number(void *block, bool of_doubles, int index, double number)
{
    if (of_doubles)
        ((double *)block)[index] = number;
    else
        ((float *)block)[index] = (float)number;
}

static void fill(void *block, bool of_doubles, double number, int at, double there)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        set_number(block, of_doubles, i, number);
    if (at > 0)
        set_number(block, of_doubles, at - 1, there);
}

static void call_doubles(const trial *t, const double *a, const double *b, double *c)
{
    enum { N = SIDE };
    if (t->routine == GEMM)
        cblas_dgemm(102, 111, 111, N, N, N, 1, a, N, b, N, t->beta, c, N);
    else if (t->routine == SYRK)
        cblas_dsyrk(102, 122, 111, N, N, 1, a, N, t->beta, c, N);
    else
        (t->routine == TRMM ? cblas_dtrmm : cblas_dtrsm)(102, 141, 122, 111, 131, N, N, 1, a, N, c, N);
}

static void call_floats(const trial *t, const float *a, const float *b, float *c)
{
    enum { N = SIDE };
    if (t->routine == GEMM)
        cblas_sgemm(102, 111, 111, N, N, N, 1, a, N, b, N, (float)t->beta, c, N);
    else if (t->routine == SYRK)
        cblas_ssyrk(102, 122, 111, N, N, 1, a, N, (float)t->beta, c, N);
    else
        (t->routine == TRMM ? cblas_strmm : cblas_strsm)(102, 141, 122, 111, 131, N, N, 1, a, N, c, N);
}

static int raised_by(const trial *t, bool of_doubles, tb_memory memory)
{
    const known_product numbers = {.of_doubles = of_doubles, .memory = memory};
    void *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = known_allocate(&numbers, SIDE * SIDE);
    /* Doubles' own range is as far beyond. */
    const double factor = of_doubles && fabs(log10(t->factor)) > 20 ? pow(t->factor, 10) : t->factor;
    const bool grows = t->raised & FE_OVERFLOW;
    fill(blocks[0], of_doubles, t->routine == TRSM ? 0 : factor, t->a_at, t->a);
    for (int i = 0; t->routine == TRSM && i < SIDE; i++)
        if (AT(i, i) != t->a_at)
            set_number(blocks[0], of_doubles, AT(i, i) - 1, i == LAST ? factor : 1);
    const double other = !grows ? 1 : t->routine == TRSM ? 1 / factor : factor;
    fill(blocks[1], of_doubles, other, t->b_at, t->b);
    fill(blocks[2], of_doubles, t->routine == TRSM || t->routine == TRMM ? other : 1, t->c_at, t->c);
    feclearexcept(FE_ALL_EXCEPT);
    if (of_doubles)
        call_doubles(t, blocks[0], blocks[1], blocks[2]);
    else
        call_floats(t, blocks[0], blocks[1], blocks[2]);
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 3; i++)
        known_release(memory, blocks[i]);
    return raised;
}

/* What lies in pinned memory and is changed in its place is not told. */
static bool is_told(const trial *t, tb_memory memory)
{
    return memory == TB_MEMORY_HOST || t->routine == GEMM || t->routine == SYRK;
}

/* The portable loops, whose arithmetic raises by itself, say so as well. */
static void overflow_and_invalid_are_raised(void *route)
{
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED};
    choose(route);
    for (int i = 0; i < 2 * 2 * TRIALS; i++) {
        const trial *t = &trials[i / 4];
        const tb_memory memory = memories[i / 2 % 2];
        const int raised = raised_by(t, i % 2, memory);
        const bool is_host = strcmp(route, "host") == 0;
        CHECK((raised & WATCHED) == (is_host || is_told(t, memory) ? t->raised : 0),
              "%s, %s, %s, %s: exceptions %#x are raised, not %#x", (const char *)route, t->what,
              i % 2 ? "doubles" : "floats", memory == TB_MEMORY_HOST ? "ordinary" : "pinned",
              (unsigned)raised, (unsigned)t->raised);
        if (!is_host && raised & FE_OVERFLOW)
            CHECK(raised & FE_INEXACT, "%s: an overflow that is exact", t->what);
        if (!is_host && t->raised == 0)
            CHECK(raised == 0, "%s: exceptions %#x", t->what, (unsigned)raised);
    }
}

/* Whichever copy fails, the host computes what is left, and raises what is in that. */
static void a_failure_loses_no_exception(void *unused)
{
    (void)unused;
    static const trial overflow = {"an overflow", GEMM, FE_OVERFLOW, .factor = 1e30, .beta = 0},
                       ordinary = {"ordinary numbers", GEMM, 0, .factor = 2, .beta = 1};
    choose("streamed");
    raised_by(&ordinary, true, TB_MEMORY_HOST);
    for (int copy = 1; copy <= 4; copy++) {
        char script[32];
        snprintf(script, sizeof script, "copy:%d=memory", copy);
        for (int i = 0; i < 2; i++) {
            const trial *t = i ? &overflow : &ordinary;
            sim_set("FAIL", script);
            const int raised = raised_by(t, true, TB_MEMORY_HOST);
            CHECK((raised & WATCHED) == t->raised, "%s, %s: exceptions %#x", script, t->what,
                  (unsigned)raised);
        }
    }
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
        if (strcmp(routes[i], "auto") != 0)
            IN_A_PROCESS_OF_ITS_OWN(overflow_and_invalid_are_raised, routes[i]);
    }
    IN_A_PROCESS_OF_ITS_OWN(questions_leave_no_trace, "streamed");
    IN_A_PROCESS_OF_ITS_OWN(what_lies_on_a_device_is_the_devices, "host");
    IN_A_PROCESS_OF_ITS_OWN(the_hosts_exceptions_are_the_callers, "host");
    IN_A_PROCESS_OF_ITS_OWN(a_failure_loses_no_exception, "streamed");
    return check_result();
}
