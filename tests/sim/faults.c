/* Programs that live by faults: write barriers, whose handler of SIGSEGV lets the page be written, and traps of floating-point
 * exceptions.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, CALLS = 5, SHAPES = 60 };
#define TRAPS (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW)

/* ---- A barrier on every page ------------------------------------------------------------------------------ */

typedef struct barrier {
    char *start;
    size_t bytes;
} barrier;

/* Those of A, B and C. */
static barrier barriers[3];
static atomic_long faults, faults_of_others;
static pid_t program;

static void let_pass(int number, siginfo_t *info, void *unused)
{
    char *address = info->si_addr;
    (void)unused;
    for (int i = 0; i < 3; i++)
        if (address >= barriers[i].start && address < barriers[i].start + barriers[i].bytes) {
            mprotect(address - (uintptr_t)address % PAGE, PAGE, PROT_READ | PROT_WRITE);
            atomic_fetch_add(&faults, 1);
            atomic_fetch_add(&faults_of_others, gettid() != program);
            return;
        }
    signal(number, SIG_DFL); /* a fault like any other */
}

static float *make_block(barrier *barrier, int floats)
{
    barrier->bytes = ((size_t)floats * sizeof(float) + PAGE - 1) / PAGE * PAGE;
    barrier->start = mmap(NULL, barrier->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (float *)(void *)barrier->start;
}

static void multiply_behind_barriers(int m, int n, int k, float beta)
{
    known_product p = {.m = m, .n = n, .k = k, .factor = 2, .beta = beta};
    p.a = make_block(&barriers[0], m * k);
    p.b = make_block(&barriers[1], k * n);
    p.c = make_block(&barriers[2], m * n);
    for (int call = 0; call < CALLS; call++) {
        known_fill_a(&p);
        known_fill_b(&p);
        known_fill_c(&p, KNOWN_BEFORE);
        atomic_store(&faults, 0);
        /* One for readers, too, as a debugger or a lazy loader would have it. */
        mprotect(barriers[0].start, barriers[0].bytes, PROT_NONE);
        mprotect(barriers[1].start, barriers[1].bytes, PROT_NONE);
        mprotect(barriers[2].start, barriers[2].bytes, PROT_READ);
        known_multiply(&p);
        CHECK(atomic_load(&faults) > 0, "no fault");
        const int errors = known_errors(&p);
        CHECK(errors == 0, "%d x %d x %d, beta %g: %d elements are wrong", m, n, k, (double)beta, errors);
    }
    for (int i = 0; i < 3; i++)
        munmap(barriers[i].start, barriers[i].bytes);
}

static void use_barriers(void *unused)
{
    (void)unused;
    program = gettid();
    const struct sigaction action = {.sa_sigaction = let_pass, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    tileblas_set_option("ROUTE", "streamed");
    for (int beta = 0; beta < 2; beta++) {
        multiply_behind_barriers(2000, 800, 6, (float)beta);  /* C is large */
        multiply_behind_barriers(2000, 12, 400, (float)beta); /* A is */
    }
    printf("%ld faults in threads of the library's\n", atomic_load(&faults_of_others));
}

/* ---- Traps ------------------------------------------------------------------------------------------------ */

/* Products that raise nothing themselves, of all kinds and sizes, while the device comes up and afterwards. */
static void use_traps(void *seed)
{
    check_random random = {.state = *(uint64_t *)seed};
    static const char *const routes[] = {"auto", "streamed", "auto", "resident"};
    sim_set("DEVICES", "2");
    feenableexcept(TRAPS);
    for (int i = 0; i < SHAPES; i++) {
        tileblas_set_option("ROUTE", CHECK_PICK(&random, routes));
        tileblas_set_option("START", check_between(&random, 0, 1) ? "wait" : "background");
        tileblas_set_option("DEVICES", check_between(&random, 0, 1) ? "2" : "0");
        const int most = check_between(&random, 0, 3) ? 200 : 6;
        const int m = (int)check_between(&random, 1, most), n = (int)check_between(&random, 1, most),
                  k = (int)check_between(&random, 1, most);
        const tb_memory memory = check_between(&random, 0, 3) ? TB_MEMORY_HOST : TB_MEMORY_PINNED;
        const int errors = known_multiply_once(m, n, k, (float)check_between(&random, 0, 1), 2, memory);
        CHECK(errors == 0, "%d x %d x %d: %d elements are wrong", m, n, k, errors);
    }
    CHECK(fegetexcept() == TRAPS, "the caller's traps are gone");
}

enum { SIDE = 400, NUMBERS = SIDE * SIDE }; /* A and B take more than what threads copy alone */
static float large_a[NUMBERS], large_b[NUMBERS];
static sigjmp_buf before_trap;

static void leave_by_trap(int number)
{
    CHECK(gettid() == program, "a thread of the library's traps");
    if (gettid() == program)
        siglongjmp(before_trap, number);
    signal(number, SIG_DFL);
}

/* Whether the call traps. On a machine without traps no call does. */
static bool overflow_traps(float *c)
{
    if (sigsetjmp(before_trap, 1) != 0)
        return true;
    cblas_sgemm(102, 111, 111, SIDE, SIDE, SIDE, 1, large_a, SIDE, large_b, SIDE, 0, c, SIDE);
    return false;
}

/* The device computes what overflows, and nobody traps. */
static void overflow_on_device(float *c, const char *when)
{
    static float result[NUMBERS];
    const long launches = sim_operations("launch");
    CHECK(!overflow_traps(c), "%s: the caller traps", when);
    fedisableexcept(FE_ALL_EXCEPT);
    CHECK(sim_operations("launch") > launches, "%s: no device computes", when);
    sim_copy(result, c, sizeof result);
    CHECK(isinf(result[0]) && isinf(result[NUMBERS - 1]), "%s: %g", when, (double)result[0]);
}

/* Where the host reaches all operands, it computes for who traps, and the caller's overflow is the caller's trap. Where a
 * device has to, neither the caller nor a thread of the library's traps; nor afterwards for who has no traps enabled. */
static void overflow_beside_traps(void *unused)
{
    static float c[NUMBERS];
    const struct sigaction action = {.sa_handler = leave_by_trap};
    (void)unused;
    program = gettid();
    sigaction(SIGFPE, &action, NULL);
    sim_set("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("DEVICES", "2");
    for (int i = 0; i < NUMBERS; i++)
        large_a[i] = large_b[i] = 3e38f;
    float *c_on_device = sim_allocate(TB_MEMORY_DEVICE, 0, sizeof c);
    for (int call = 0; call < CALLS; call++) {
        const bool has_traps = feenableexcept(TRAPS) >= 0 && fegetexcept() == TRAPS;
        overflow_on_device(c_on_device, "a C that only the device reaches");
        feenableexcept(TRAPS);
        CHECK(overflow_traps(c) == has_traps, "a C on the host: the caller does not trap");
        fesetenv(FE_DFL_ENV);
        overflow_on_device(c, "without traps");
        memset(c, 0, sizeof c);
    }
    sim_release(c_on_device);
}

int main(void)
{
    uint64_t seed = check_seed();
    const double seconds = 60;
    const child_end barriers_end = child_run(use_barriers, NULL, seconds),
                    traps_end = child_run(use_traps, &seed, seconds),
                    overflow_end = child_run(overflow_beside_traps, NULL, seconds);
    CHECK(barriers_end == CHILD_RIGHT, "with write barriers: %s", child_end_text(barriers_end));
    CHECK(traps_end == CHILD_RIGHT, "with traps: %s", child_end_text(traps_end));
    CHECK(overflow_end == CHILD_RIGHT, "overflow beside traps: %s", child_end_text(overflow_end));
    return check_result();
}
