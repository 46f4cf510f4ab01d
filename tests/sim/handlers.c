/* Signal handlers that multiply while a call of the same thread's is under way. Both products are right, and
 * nobody waits for ever.
 *
 *   handlers        each statement in processes of its own
 *   handlers host   there is a host, which handlers' calls find without asking the C library for memory: that
 *                   may be what they interrupt
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { M = 700, N = 300, K = 40, SMALL = 12, CALLS = 10, COLD_TRIALS = 6, PAGES_CLOSED = 3 };

/* Many times what a trial takes. */
#define TRIAL_SECONDS 30.0

/* ---- The handler's product -------------------------------------------------------------------------------- */

static float small_a[SMALL * SMALL];
static _Thread_local float small_c[SMALL * SMALL];
static atomic_int inner_calls, inner_errors;

/* A is all ones. */
static void multiply_small(void)
{
    cblas_sgemm(102, 111, 111, SMALL, SMALL, SMALL, 1, small_a, SMALL, small_a, SMALL, 0, small_c, SMALL);
    for (int i = 0; i < SMALL * SMALL; i++)
        atomic_fetch_add(&inner_errors, small_c[i] != (float)SMALL);
    atomic_fetch_add(&inner_calls, 1);
}

/* ---- Memory that handlers ask for ------------------------------------------------------------------------- */

static _Thread_local bool is_in_handler;
static atomic_int requests;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
/* Their own allocators stay. */
#else
/* glibc's own. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

/* The library is to see them. */
#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
    atomic_fetch_add(&requests, is_in_handler);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    atomic_fetch_add(&requests, is_in_handler);
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    atomic_fetch_add(&requests, is_in_handler);
    return __libc_realloc(memory, bytes);
}
#pragma GCC visibility pop
#endif

/* ---- What both have in common ----------------------------------------------------------------------------- */

static void set_up(const char *copy_threads)
{
    for (int i = 0; i < SMALL * SMALL; i++)
        small_a[i] = 1;
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("COPY_THREADS", copy_threads);
}

static void check_inner_calls(void)
{
    CHECK(atomic_load(&inner_calls) > 0, "no handler called");
    CHECK(atomic_load(&inner_errors) == 0, "%d elements are wrong in handlers", atomic_load(&inner_errors));
}

/* ---- Signals that come at any moment ---------------------------------------------------------------------- */

static pthread_t caller;
static atomic_bool is_over, is_calling;
static atomic_int signals_handled;

static void multiply_in_handler(int signal)
{
    (void)signal;
    if (atomic_load(&is_calling))
        multiply_small();
    atomic_fetch_add(&signals_handled, 1);
}

static void *disturb(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int sent = 0; !atomic_load(&is_over); usleep(100))
        if (atomic_load(&signals_handled) == sent) {
            pthread_kill(caller, SIGUSR1);
            sent++;
        }
    return unused;
}

static void disturbed_calls(void *unused)
{
    pthread_t thread;
    (void)unused;
    const struct sigaction action = {.sa_handler = multiply_in_handler};
    sigaction(SIGUSR1, &action, NULL);
    caller = pthread_self();
    set_up("2");
    known_product p = known_make(M, N, K, 1, 2, TB_MEMORY_HOST);
    pthread_create(&thread, NULL, disturb, NULL);
    for (int call = 0; call < CALLS; call++) {
        known_fill_c(&p, KNOWN_BEFORE);
        atomic_store(&is_calling, true);
        known_multiply(&p);
        atomic_store(&is_calling, false);
        CHECK(known_errors(&p) == 0, "call %d is wrong", call);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    check_inner_calls();
    CHECK(sim_operations("launch") > 0, "the device was not used");
}

/* ---- Faults of the copying threads ------------------------------------------------------------------------ */

static char *closed;
static size_t closed_bytes;

static void open_and_multiply(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t offset = (size_t)((char *)info->si_addr - closed);
    if (offset >= closed_bytes)
        abort();
    is_in_handler = true;
    multiply_small();
    is_in_handler = false;
    mprotect(closed + offset / page * page, page, PROT_READ | PROT_WRITE);
}

/* The call has its turn at the device when its threads come to the closed pages. */
static void calls_of_fault_handlers(void *has_host)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct sigaction action = {.sa_sigaction = open_and_multiply, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    set_up("4");
    known_product p = known_make(8 * M, N, K, 0, 2, TB_MEMORY_HOST);
    closed_bytes = (size_t)(p.m * p.k) * sizeof(float) / page * page;
    closed = mmap(NULL, closed_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(closed, p.a, (size_t)(p.m * p.k) * sizeof(float));
    p.a = closed;
    for (int call = 0; call < CALLS; call++) {
        known_fill_c(&p, KNOWN_FILLED);
        for (int i = 1; i <= PAGES_CLOSED; i++)
            mprotect(closed + closed_bytes / page * (size_t)i / (PAGES_CLOSED + 1) * page, page, PROT_NONE);
        known_multiply(&p);
        CHECK(known_errors(&p) == 0, "call %d is wrong", call);
    }
    check_inner_calls();
    CHECK(!has_host || atomic_load(&requests) == 0, "handlers ask for memory %d times",
          atomic_load(&requests));
}

int main(int count, char **arguments)
{
    static char host[] = "host";
    const bool has_host = count > 1 && strcmp(arguments[1], host) == 0;
    for (int i = 0; !has_host && i < COLD_TRIALS && atomic_load(&check_failures) == 0; i++) {
        const child_end end = child_run(disturbed_calls, NULL, TRIAL_SECONDS);
        CHECK(end == CHILD_RIGHT, "disturbed calls, trial %d: %s", i, child_end_text(end));
    }
    const child_end end = child_run(calls_of_fault_handlers, has_host ? host : NULL, TRIAL_SECONDS);
    CHECK(end == CHILD_RIGHT, "calls of fault handlers: %s", child_end_text(end));
    return check_result();
}
