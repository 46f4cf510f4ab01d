#include "lib/process/leaving.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The older interface of pthread_cleanup_push, which a jump heeds too; glibc exports it and declares it no more. */
extern void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
                                  void *argument) __attribute__((weak));
extern void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute) __attribute__((weak));

/* The calling thread's. A thread that leaves may have been interrupted between any two instructions. */
static _Thread_local tb_leaving *volatile innermost __attribute__((tls_model("initial-exec")));

void tb_when_left(tb_leaving *leaving, void (*routine)(void *), void *argument)
{
    *leaving = (tb_leaving){innermost, routine, argument};
    atomic_signal_fence(memory_order_seq_cst);
    innermost = leaving;
}

void tb_not_left(tb_leaving *leaving)
{
    innermost = leaving->outer;
    atomic_signal_fence(memory_order_seq_cst);
}

static void undo(void *left)
{
    const tb_undo_list *list = left;
    while (innermost != list->outer) {
        const tb_leaving *leaving = innermost;
        innermost = leaving->outer;
        leaving->routine(leaving->argument);
    }
}

void tb_begin_undo_list(tb_undo_list *list)
{
    list->outer = innermost;
    if (_pthread_cleanup_push)
        _pthread_cleanup_push(&list->buffer, undo, list);
}

void tb_end_undo_list(tb_undo_list *list)
{
    if (_pthread_cleanup_push)
        _pthread_cleanup_pop(&list->buffer, 0);
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
    if (!made) /* two system calls for nothing */
        return;
    tb_hold_signals(&signals);
    free(made);
    tb_let_signals(&signals);
}
