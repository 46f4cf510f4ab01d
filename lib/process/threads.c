#include "lib/process/threads.h"

#include <fenv.h>
#include <stdlib.h>
#include <unistd.h>

_Thread_local int tb_call_depth;
void (*_Atomic tb_when_started)(void);

/* The kernel's numbers of those that run. */
enum { OWN_KNOWN = 256 };
static _Atomic(uint32_t) own[OWN_KNOWN];

static void replace_own(uint32_t before, uint32_t after)
{
    for (int i = 0; i < OWN_KNOWN; i++) {
        uint32_t expected = before;
        if (atomic_compare_exchange_strong(&own[i], &expected, after))
            return;
    }
}

bool tb_is_own_thread(uint32_t number)
{
    for (int i = 0; i < OWN_KNOWN; i++)
        if (atomic_load(&own[i]) == number)
            return true;
    return false;
}

bool tb_has_own_threads(void)
{
    for (int i = 0; i < OWN_KNOWN; i++)
        if (atomic_load(&own[i]) != 0)
            return true;
    return false;
}

/* Which has none of its parent's. */
static void forget_own_in_child(void)
{
    for (int i = 0; i < OWN_KNOWN; i++)
        atomic_store(&own[i], 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_own_in_child);
}

typedef struct start {
    void *(*work)(void *);
    void *argument;
} start;

static void *begin(void *started)
{
    const start what = *(start *)started;
    free(started);
    fesetenv(FE_DFL_ENV);
    tb_call_depth = 1;
    const uint32_t number = (uint32_t)gettid();
    replace_own(0, number);
    void *result = what.work(what.argument);
    replace_own(number, 0);
    return result;
}

void tb_hold_signals(sigset_t *before)
{
    static const int raised_by_instructions[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t programs;
    sigfillset(&programs);
    for (size_t i = 0; i < sizeof raised_by_instructions / sizeof *raised_by_instructions; i++)
        sigdelset(&programs, raised_by_instructions[i]);
    pthread_sigmask(SIG_SETMASK, &programs, before);
}

void tb_let_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void tb_do_held_back(tb_once *once, void (*routine)(void))
{
    sigset_t signals;
    tb_hold_signals(&signals);
    pthread_once(&once->once, routine);
    atomic_store_explicit(&once->is_done, true, memory_order_release);
    tb_let_signals(&signals);
}

/* The program may have made the default smaller than what bringing a driver up takes. */
#define STACK_LEAST ((size_t)2 << 20)

static void choose_stack(pthread_attr_t *attributes)
{
    size_t bytes = 0;
    pthread_attr_init(attributes);
    if (pthread_attr_getstacksize(attributes, &bytes) == 0 && bytes < STACK_LEAST)
        pthread_attr_setstacksize(attributes, STACK_LEAST);
}

/* The new thread takes over what this one holds back. */
bool tb_start_thread(void *(*work)(void *), void *argument)
{
    sigset_t before;
    pthread_t thread;
    pthread_attr_t attributes;
    choose_stack(&attributes);
    tb_hold_signals(&before);
    start *started = malloc(sizeof *started);
    if (started)
        *started = (start){work, argument};
    const bool has_thread = started && pthread_create(&thread, &attributes, begin, started) == 0;
    if (has_thread)
        pthread_detach(thread);
    else
        free(started);
    tb_let_signals(&before);
    pthread_attr_destroy(&attributes);
    void (*tell)(void) = atomic_load(&tb_when_started);
    if (has_thread && tell)
        tell();
    return has_thread;
}
