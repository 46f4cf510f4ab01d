#include "lib/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef struct start {
    void *(*work)(void *);
    void *argument;
} start;

static void *begin(void *started)
{
    const start what = *(start *)started;
    free(started);
    fesetenv(FE_DFL_ENV);
    return what.work(what.argument);
}

static void fill_with_programs_signals(sigset_t *signals)
{
    static const int raised_by_instructions[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(signals);
    for (size_t i = 0; i < sizeof raised_by_instructions / sizeof *raised_by_instructions; i++)
        sigdelset(signals, raised_by_instructions[i]);
}

bool tb_start_thread(void *(*work)(void *), void *argument)
{
    sigset_t programs, before;
    pthread_t thread;
    start *started = malloc(sizeof *started);
    if (!started)
        return false;
    *started = (start){work, argument};
    fill_with_programs_signals(&programs);
    pthread_sigmask(SIG_SETMASK, &programs, &before);
    const bool has_thread = pthread_create(&thread, NULL, begin, started) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_thread)
        pthread_detach(thread);
    else
        free(started);
    return has_thread;
}
