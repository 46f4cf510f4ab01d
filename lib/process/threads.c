#include "lib/process/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

_Thread_local int tb_call_depth;

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
    return what.work(what.argument);
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
    return has_thread;
}
