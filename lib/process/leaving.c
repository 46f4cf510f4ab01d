#include "lib/process/leaving.h"

#include "lib/process/threads.h"

#include <stdlib.h>

/* The older interface of pthread_cleanup_push, which a jump heeds too; glibc exports it and declares it no more. */
extern void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
                                  void *argument) __attribute__((weak));
extern void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute) __attribute__((weak));

void tb_when_left(tb_leaving *leaving, void (*routine)(void *), void *argument)
{
    if (_pthread_cleanup_push)
        _pthread_cleanup_push(&leaving->buffer, routine, argument);
}

void tb_not_left(tb_leaving *leaving)
{
    if (_pthread_cleanup_push)
        _pthread_cleanup_pop(&leaving->buffer, 0);
}

bool tb_may_ask_for_memory(void)
{
    return tb_call_depth <= 1;
}

void *tb_make(size_t bytes)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    void *made = calloc(1, bytes);
    tb_let_signals(&signals);
    return made;
}

void tb_unmake(void *made)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    free(made);
    tb_let_signals(&signals);
}
