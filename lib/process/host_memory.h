/* Memory that is the host's for certain, told without asking a driver: the process's heap, the program's own variables and the
 * calling thread's stack.
 */
#ifndef TB_HOST_MEMORY_H
#define TB_HOST_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the break of the process began, and where its program begins and ends, which never changes.
 * Beginnings are all ones until they are known: see tb_learn_host_memory. */
extern _Atomic(uintptr_t) tb_heap_start, tb_program_start, tb_program_end;
void tb_learn_host_memory(void);

/* The calling thread's stack; a size of 0 means that it is not known yet, of 1 that it cannot be. */
typedef struct tb_stack_span {
    uintptr_t start, size;
} tb_stack_span;

extern _Thread_local tb_stack_span tb_stack __attribute__((tls_model("initial-exec")));
void tb_learn_stack(void);

/* Bytes that the stack has left below the present frame. 0 where nobody knows, as on stacks that the program has made for
 * threads of its own kind. The first time a thread asks, the kernel may have to be asked, with memory of the C library's. */
size_t tb_stack_left(void);

/* Above the present frame of a thread that runs on its own stack, and not on one that the program made for it. */
static inline bool tb_is_on_stack(uintptr_t address)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here - tb_stack.start < tb_stack.size && address - tb_stack.start < tb_stack.size &&
           address >= here;
}

/* Memory below the program's break, where malloc serves small requests of the main thread, the program's own
 * variables and its threads' stacks are the host's: no driver maps anything there. Telling so takes some comparisons,
 * and asking the driver or the dynamic linker takes ten times as long as a small call may cost. No other memory can
 * be told from the device's this way: what mmap gives, to malloc for large requests and other threads too, is taken
 * from where the driver's addresses come from, and may be the driver's the next time. heap_end: the break. */
static inline bool tb_is_the_hosts(const void *pointer, const void *heap_end)
{
    uintptr_t address = (uintptr_t)pointer;
    return (address >= atomic_load_explicit(&tb_heap_start, memory_order_relaxed) &&
            address < (uintptr_t)heap_end) ||
           (address >= atomic_load_explicit(&tb_program_start, memory_order_acquire) &&
            address < atomic_load_explicit(&tb_program_end, memory_order_relaxed)) ||
           tb_is_on_stack(address);
}

static inline uintptr_t tb_lesser(uintptr_t x, uintptr_t y)
{
    return x < y ? x : y;
}

/* The break, as the GNU C library keeps it and exports it; other C libraries have no such variable. */
extern void *__curbrk __attribute__((weak));

/* True only when all of them are the host's for certain. Calls no function, which would cost a small call
 * more than all else: whatever is not known yet makes it false. */
static inline bool tb_are_the_hosts(const void *a, const void *b, const void *c)
{
    const void *heap_end = &__curbrk ? __atomic_load_n(&__curbrk, __ATOMIC_RELAXED) : NULL;
    const uintptr_t heap_start = atomic_load_explicit(&tb_heap_start, memory_order_relaxed);
    const uintptr_t low = tb_lesser(tb_lesser((uintptr_t)a, (uintptr_t)b), (uintptr_t)c);
    const uintptr_t high = ~tb_lesser(tb_lesser(~(uintptr_t)a, ~(uintptr_t)b), ~(uintptr_t)c);
    if (low >= heap_start && high < (uintptr_t)heap_end)
        return true; /* nearly always */
    return tb_is_the_hosts(a, heap_end) && tb_is_the_hosts(b, heap_end) && tb_is_the_hosts(c, heap_end);
}

#endif
