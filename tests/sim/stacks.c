/* Threads with little stack. A call that has less than 64 KiB of it left, or nobody knows how much, is answered by the
 * host, and takes little itself; what others take is measured on stacks that are filled with a pattern before.
 *
 * Each of the calls comes from one place, which the main thread has called from before: the search for a host is over.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { M = 300, N = 200, K = 60 };

/* Below which a call stays; what calls on the host may take, those that have not, and those on the simulated device,
 * whose own part of it a real device's driver has in its place. The reference BLAS takes 4 KiB itself for a product
 * that is decided: so much of what deciding takes is no more than that takes later. */
#define LITTLE       ((size_t)16 << 10)
#define ENOUGH       ((size_t)256 << 10)
#define HOST_MOST    ((size_t)4 << 10)
#define DECIDED_MOST ((size_t)8 << 10)
#define DEVICE_MOST  ((size_t)16 << 10)
#define PATTERN      0x5a
#define GUARD_BYTES  ((size_t)1 << 16)

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static known_product product;

static __attribute__((noinline)) void call(void)
{
    known_multiply(&product);
}

/* Whether the call, which run makes, has gone to the device. */
static bool goes_to_device(void (*run)(void), const char *what)
{
    const long launches = sim_operations("launch");
    known_fill_c(&product, KNOWN_BEFORE);
    run();
    CHECK(known_errors(&product) == 0, "%s: wrong", what);
    return sim_operations("launch") > launches;
}

static void set_up(const char *route)
{
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    product = known_make(M, N, K, 0, 2, TB_MEMORY_HOST);
    CHECK(goes_to_device(call, "the main thread"), "the main thread stays");
    tileblas_set_option("ROUTE", route);
}

/* ---- Threads ---------------------------------------------------------------------------------------------- */

static size_t stack_bytes, bytes_used;
static bool calls;

static void *work(void *unused)
{
    if (calls)
        call();
    return unused;
}

/* Below the stack is what nobody may touch. */
static void run_on_small_stack(void)
{
    char *memory = mmap(NULL, GUARD_BYTES + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *stack = memory + GUARD_BYTES;
    pthread_attr_t attributes;
    pthread_t thread;
    if (mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE) != 0)
        abort();
    memset(stack, PATTERN, stack_bytes);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, stack_bytes) ||
        pthread_create(&thread, &attributes, work, NULL))
        abort();
    pthread_join(thread, NULL);
    size_t unused = 0;
    while (unused < stack_bytes && stack[unused] == PATTERN)
        unused++;
    bytes_used = stack_bytes - unused;
}

static size_t bytes_of_thread(void)
{
    calls = false;
    run_on_small_stack();
    calls = true;
    return bytes_used;
}

typedef struct scenario {
    const char *name, *route;
    size_t stack, most;
    bool to_device;
} scenario;

static const scenario scenarios[] = {
    {"little stack", "streamed", LITTLE, HOST_MOST, false},
    {"little stack, nothing forced", "auto", LITTLE, HOST_MOST, false},
    {"enough stack, on the host", "host", ENOUGH, DECIDED_MOST, false},
    {"enough stack, nothing forced", "auto", ENOUGH, DEVICE_MOST, false},
    {"enough stack, on the device", "streamed", ENOUGH, DEVICE_MOST, true},
};

static void call_in_thread(void *argument)
{
    const scenario *scenario = argument;
    set_up(scenario->route);
    stack_bytes = scenario->stack;
    const size_t threads_own = bytes_of_thread();
    for (int round = 0; round < 2; round++) {
        const bool went = goes_to_device(run_on_small_stack, scenario->name);
        CHECK(went == scenario->to_device || strcmp(scenario->route, "auto") == 0, "%s: %s", scenario->name,
              went ? "it leaves the host" : "it stays");
        CHECK(bytes_used - threads_own <= scenario->most, "%s: %zu bytes of stack, not %zu", scenario->name,
              bytes_used - threads_own, scenario->most);
        printf("%s: %zu bytes\n", scenario->name, bytes_used - threads_own);
    }
}

/* ---- Stacks of the program's own -------------------------------------------------------------------------- */

static ucontext_t before_fiber, fiber;

static void run_in_fiber(void)
{
    char *stack = known_host_block(ENOUGH);
    getcontext(&fiber);
    fiber.uc_stack = (stack_t){.ss_sp = stack, .ss_size = ENOUGH};
    fiber.uc_link = &before_fiber;
    makecontext(&fiber, call, 0);
    swapcontext(&before_fiber, &fiber);
    free(stack);
}

static void call_in_fiber(void *unused)
{
    (void)unused;
    set_up("streamed");
    CHECK(!goes_to_device(run_in_fiber, "a stack that nobody knows"), "a stack that nobody knows: it leaves");
    CHECK(goes_to_device(call, "the main thread"), "the main thread stays, after another stack");
}

static void handle(int signal)
{
    (void)signal;
    call();
}

static void run_in_handler(void)
{
    char *memory = known_host_block(stack_bytes);
    const stack_t stack = {.ss_sp = memory, .ss_size = stack_bytes}, none = {.ss_flags = SS_DISABLE};
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaltstack(&none, NULL);
    free(memory);
}

static void call_in_handler(void *unused)
{
    (void)unused;
    set_up("streamed");
    stack_bytes = 2 * LITTLE;
    CHECK(!goes_to_device(run_in_handler, "a handler with little stack"),
          "a handler with little stack: it leaves");
    stack_bytes = ENOUGH;
    CHECK(goes_to_device(run_in_handler, "a handler with enough stack"),
          "a handler with enough stack: it stays");
}

int main(void)
{
    const double seconds = 30;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const child_end end = child_run(call_in_thread, (void *)(uintptr_t)&scenarios[i], seconds);
        CHECK(end == CHILD_RIGHT, "%s: the process was %s", scenarios[i].name, child_end_text(end));
    }
    child_end end = child_run(call_in_fiber, NULL, seconds);
    CHECK(end == CHILD_RIGHT, "a stack that nobody knows: the process was %s", child_end_text(end));
    end = child_run(call_in_handler, NULL, seconds);
    CHECK(end == CHILD_RIGHT, "handlers: the process was %s", child_end_text(end));
    return check_result();
}
