/* Programs that live by faults: write barriers, whose handler of SIGSEGV lets the page be written, and traps of floating-point
 * exceptions.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <fenv.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, CALLS = 5, SHAPES = 60 };

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
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
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
    CHECK(fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), "the caller's traps are gone");
}

/* The device's threads and the library's overflow, which is nobody's trap but who asked for it. */
static void overflow_beside_traps(void *unused)
{
    enum { N = 300 };
    static float a[N * N], b[N * N], c[N * N];
    (void)unused;
    sim_set("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("DEVICES", "2");
    for (int i = 0; i < N * N; i++)
        a[i] = b[i] = 3e38f;
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    for (int call = 0; call < CALLS; call++)
        cblas_sgemm(102, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
    fesetenv(FE_DFL_ENV);
    CHECK(c[0] > 3.4e38f && c[N * N - 1] > 3.4e38f, "%g", (double)c[0]);
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
