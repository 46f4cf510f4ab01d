/* What programs may rely on: each statement in a process of its own.
 *
 *   manners [STATEMENT]   all of them, or one, by the name of its function
 */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { M = 700, N = 800, K = 40, SMALL = 300 };

#define PATIENCE_SECONDS 60.0
#define CHILD_SECONDS    120.0
#define SOON_SECONDS     20.0

static void use_device(const char *copy_threads)
{
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("COPY_THREADS", copy_threads);
}

static void check_product(const char *when)
{
    const int errors = known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST);
    CHECK(errors == 0, "%s: %d elements are wrong", when, errors);
}

static char *map(void *where, size_t bytes)
{
    char *memory = mmap(where, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
    if (memory == MAP_FAILED)
        abort();
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- Exit ------------------------------------------------------------------------------------------------- */

/* Registered before the library's own, and so run after it. */
static void multiply_at_exit(void)
{
    const long operations = sim_operations("any");
    check_product("at exit");
    CHECK(sim_operations("any") == operations, "the device was used at exit");
    _exit(check_result());
}

static void nothing_is_begun_at_exit(void *unused)
{
    (void)unused;
    atexit(multiply_at_exit);
    use_device("0");
    check_product("before exit");
    CHECK(sim_operations("launch") > 0, "the device was not used");
    exit(EXIT_FAILURE);
}

static void nothing_is_begun_at_quick_exit(void *unused)
{
    (void)unused;
    at_quick_exit(multiply_at_exit);
    use_device("0");
    check_product("before exit");
    quick_exit(EXIT_FAILURE);
}

/* ---- Write barriers --------------------------------------------------------------------------------------- */

static pthread_t main_thread;
static atomic_int beside; /* pages that other threads than the caller's came to first */

/* A handler like a garbage collector's: a page that is touched is opened. */
static void open_page(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    char *page = (char *)((uintptr_t)info->si_addr / page_bytes() * page_bytes());
    mprotect(page, page_bytes(), PROT_READ | PROT_WRITE);
    atomic_fetch_add(&beside, !pthread_equal(pthread_self(), main_thread));
}

static float *close_pages(float *matrix, size_t bytes)
{
    float *closed = (float *)(void *)map(NULL, bytes);
    memcpy(closed, matrix, bytes);
    mprotect(closed, (bytes + page_bytes() - 1) / page_bytes() * page_bytes(), PROT_NONE);
    free(matrix);
    return closed;
}

static void barriers_are_seen_by_all_threads(void *unused)
{
    (void)unused;
    main_thread = pthread_self();
    use_device("8");
    check_product("before");
    const struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    const double end = tb_seconds() + PATIENCE_SECONDS;
    while (atomic_load(&beside) == 0 && tb_seconds() < end && atomic_load(&check_failures) == 0) {
        known_product p = known_make(3 * M, 2 * N, K, 0, 2, TB_MEMORY_HOST);
        p.a = close_pages(p.a, (size_t)(p.m * p.k) * sizeof(float));
        p.b = close_pages(p.b, (size_t)(p.k * p.n) * sizeof(float));
        p.c = close_pages(p.c, (size_t)(p.m * p.n) * sizeof(float));
        known_multiply(&p);
        CHECK(known_errors(&p) == 0, "wrong behind a barrier");
    }
    CHECK(atomic_load(&beside) > 0, "only the caller's thread came to any page");
}

/* ---- Devices ---------------------------------------------------------------------------------------------- */

/* Opening the driver is the first such operation, describing both devices the next two. */
static void another_device_is_taken(void *unused)
{
    (void)unused;
    sim_set("DEVICES", "2");
    sim_set("FAIL", "open:4=unsupported");
    tileblas_set_option("DEVICES", "1");
    use_device("0");
    check_product("where the first device cannot be had");
    CHECK(sim_failures("open") == 1, "the first device was had");
    CHECK(sim_operations("launch") > 0, "the second device was not used");
}

static void the_device_starts_when_it_pays(void *unused)
{
    (void)unused;
    tileblas_set_option("START", "background");
    const double end = tb_seconds() + PATIENCE_SECONDS;
    known_product p = known_make(SMALL, SMALL, SMALL, 0, 2, TB_MEMORY_HOST);
    known_multiply(&p);
    CHECK(sim_operations("open") == 0, "it was started for one product");
    while (sim_operations("open") == 0 && tb_seconds() < end)
        known_multiply(&p);
    CHECK(sim_operations("open") > 0, "it was not started for many");
}

/* ---- Statistics ------------------------------------------------------------------------------------------- */

/* Most calls of a product that stays on the host are not decided anew. They are counted like all others. The
 * device is so slow that nothing makes it the faster way. */
static void every_call_is_counted(void *unused)
{
    enum { SIDE = 96, CALLS = 120 };
    (void)unused;
    sim_set("DELAY", "3000");
    tileblas_set_option("START", "wait");
    tileblas_set_option("CALIBRATE", "0");
    for (int call = 0; call < CALLS; call++)
        CHECK(known_multiply_once(SIDE, SIDE, SIDE, 0, 2, TB_MEMORY_HOST) == 0, "call %d is wrong", call);
    tileblas_statistics s;
    tileblas_read_statistics(&s, sizeof s);
    CHECK(s.host.calls + s.streamed.calls == CALLS, "%llu calls of %d were counted",
          s.host.calls + s.streamed.calls, CALLS);
}

/* ---- Pages ------------------------------------------------------------------------------------------------ */

static size_t present(char *memory, size_t bytes)
{
    static unsigned char vector[4096];
    const size_t pages = (bytes + page_bytes() - 1) / page_bytes();
    size_t count = 0;
    if (pages > sizeof vector || mincore(memory, bytes, vector) != 0)
        abort();
    for (size_t i = 0; i < pages; i++)
        count += vector[i] & 1;
    return count;
}

/* Nobody helped the first call, so that all was left to be touched; what lies there afterwards is another's. */
static void memory_is_left_alone_after_a_call(void *unused)
{
    (void)unused;
    const size_t bytes = (size_t)M * N * sizeof(float);
    use_device("1");
    known_product p = known_make(M, N, K, 0, 2, TB_MEMORY_HOST);
    free(p.c);
    p.c = (float *)(void *)map(NULL, bytes);
    known_multiply(&p);
    CHECK(known_errors(&p) == 0, "wrong");
    char *again = map(p.c, bytes);
    tileblas_set_option("COPY_THREADS", "8");
    for (int call = 0; call < 6; call++)
        CHECK(known_multiply_once(3 * M, N, K, 1, 2, TB_MEMORY_HOST) == 0, "wrong later");
    CHECK(present(again, bytes) == 0, "%zu pages were touched after the call", present(again, bytes));
}

/* ---- Failures --------------------------------------------------------------------------------------------- */

/* A copy to the device fails when the next slot is being filled, which takes the calling thread alone. The call
 * goes on with fewer rows and the same slots: one that were still being filled would be begun a second time. */
static void a_call_goes_on_after_a_failed_copy(void *unused)
{
    enum { COLUMNS = 8, STEPS = 600, COPIES = 6 };
    (void)unused;
    use_device("1");
    tileblas_set_option("PINNED_MEMORY", "8");
    check_product("before");
    for (int copy = 1; copy <= COPIES; copy++) {
        char script[32];
        snprintf(script, sizeof script, "copy:%d=memory", copy);
        sim_set("FAIL", script);
        const int errors = known_multiply_once(3 * M, COLUMNS, STEPS, 1, 2, TB_MEMORY_HOST);
        CHECK(errors == 0 && sim_failures("copy") == 1, "%s: %d elements are wrong, %ld failures", script,
              errors, sim_failures("copy"));
        sim_set("FAIL", "");
        check_product("after a failed copy");
    }
}

/* The host fetches what lies on the device of a product with a complex beta. Twice A is on its way when B cannot
 * be fetched, and the product is left undone. What A was to be fetched into is gone then. */
static void a_fetch_that_fails_is_over(void *unused)
{
    enum { MAPPED_BYTES = 64 << 10 };
    static const float one[] = {1, 0}, beta[] = {1, 0.5F};
    (void)unused;
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES); /* what is freed is nobody's memory, and stays so */
    use_device("1");
    check_product("before");
    known_product p = {.is_complex = true, .m = SMALL, .n = SMALL, .k = SMALL, .memory = TB_MEMORY_DEVICE};
    known_place(&p);
    float *c = known_host_block(known_bytes(&p, SMALL * SMALL));
    c[0] = 1;
    sim_set("DELAY", "20000");
    sim_set("FAIL", "copy:2=memory,copy:4=memory");
    cblas_cgemm(102, 111, 111, SMALL, SMALL, SMALL, one, p.a, SMALL, p.b, SMALL, beta, c, SMALL);
    CHECK(sim_failures("copy") == 2 && c[0] == 1 && c[1] == 0, "%ld failures, C(0, 0) is (%g, %g)",
          sim_failures("copy"), (double)c[0], (double)c[1]);
    sim_set("FAIL", "");
    usleep(100000); /* several times what a copy is late at most */
    check_product("after a fetch that failed");
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

/* NULL: all of them. */
static const char *wanted;

static void in_a_process_of_its_own(const char *what, void (*statement)(void *), double seconds)
{
    if (wanted && strcmp(wanted, what) != 0)
        return;
    const child_end end = child_run(statement, NULL, seconds);
    CHECK(end == CHILD_RIGHT, "%s: the process was %s", what, child_end_text(end));
}

#define IN_A_PROCESS_OF_ITS_OWN(statement) in_a_process_of_its_own(#statement, statement, CHILD_SECONDS)
/* One that waits for nothing. */
#define SOON_IN_A_PROCESS_OF_ITS_OWN(statement) in_a_process_of_its_own(#statement, statement, SOON_SECONDS)

int main(int count, char **arguments)
{
    wanted = count > 1 ? arguments[1] : NULL;
    IN_A_PROCESS_OF_ITS_OWN(nothing_is_begun_at_exit);
    IN_A_PROCESS_OF_ITS_OWN(nothing_is_begun_at_quick_exit);
    IN_A_PROCESS_OF_ITS_OWN(barriers_are_seen_by_all_threads);
    IN_A_PROCESS_OF_ITS_OWN(another_device_is_taken);
    IN_A_PROCESS_OF_ITS_OWN(the_device_starts_when_it_pays);
    IN_A_PROCESS_OF_ITS_OWN(every_call_is_counted);
    IN_A_PROCESS_OF_ITS_OWN(memory_is_left_alone_after_a_call);
    SOON_IN_A_PROCESS_OF_ITS_OWN(a_call_goes_on_after_a_failed_copy);
    SOON_IN_A_PROCESS_OF_ITS_OWN(a_fetch_that_fails_is_over);
    return check_result();
}
