/* Which addresses are the host's for certain, so that small calls need ask nobody: its heap, the program's own
 * variables and the stack of the calling thread, and nothing else, whatever the stack a thread runs on.
 */
#include "lib/call/residency.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { BYTES = 4096, STACK_BYTES = 1 << 18 };

static float variable[BYTES];
static float *heap, *mapped, *device;

/* A frame of its own, as the library has: what lies above it is the caller's. */
static __attribute__((noinline)) bool may_be(const float *operand)
{
    const bool may = tb_may_be_on_device(operand, operand, operand);
    CHECK(tb_are_the_hosts(operand, operand, operand) != may, "a glance says otherwise of %p",
          (const void *)operand);
    return may;
}

static void look_from(const char *where, bool on_own_stack)
{
    volatile float local[64];
    local[0] = 0;
    CHECK(!may_be(heap), "%s: the heap", where);
    CHECK(!may_be(variable), "%s: a variable", where);
    CHECK(may_be((const float *)&local[0]) != on_own_stack, "%s: the stack", where);
    /* Where the stack has not grown to, anything may lie. */
    CHECK(may_be((const float *)((const char *)__builtin_frame_address(0) - (1 << 16))),
          "%s: below the stack", where);
    CHECK(may_be(mapped), "%s: mapped memory", where);
    CHECK(may_be(device), "%s: device memory", where);
    CHECK(tb_may_be_on_device(heap, device, variable) && tb_may_be_on_device(device, heap, variable) &&
              tb_may_be_on_device(heap, variable, device),
          "%s: one of three", where);
    CHECK(tb_are_the_hosts(heap, variable, heap) && !tb_are_the_hosts(heap, device, variable) &&
              !tb_are_the_hosts(device, heap, heap) && !tb_are_the_hosts(heap, heap, device),
          "%s: one of three, at a glance", where);
}

static void *in_thread(void *unused)
{
    look_from("a thread", true);
    return unused;
}

/* A stack of the program's own making, between the thread's frame and its other frames, or anywhere. */
static ucontext_t back;

static void in_fiber(void)
{
    look_from("a fiber", false);
}

static void run_fiber(void *stack)
{
    ucontext_t fiber;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = STACK_BYTES;
    fiber.uc_link = &back;
    makecontext(&fiber, in_fiber, 0);
    swapcontext(&back, &fiber);
}

int main(void)
{
    heap = sbrk(BYTES); /* as malloc does, unless a sanitizer has its own */
    mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    device = sim_allocate(TB_MEMORY_DEVICE, 0, BYTES);
    CHECK(tb_platform.in_process(), "the simulated device has handed out nothing");
    CHECK(may_be(heap), "the heap is known before it was learned");
    tb_learn_host_memory();

    look_from("the program", true);
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_fiber(stack);

    /* The break moves: what has been given back to the system is the host's no more. */
    float *end = sbrk(0);
    CHECK(may_be(end), "behind the heap");
    CHECK(may_be(NULL), "NULL");
    return check_result();
}
