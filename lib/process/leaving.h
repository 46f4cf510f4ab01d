/* A caller that leaves a call in the middle: by siglongjmp out of a signal handler, or by pthread_exit there.
 * The GNU C library has what was registered here undone before it jumps, on the stack of the thread that leaves,
 * innermost first; other C libraries do not, and calls that were left keep what they had taken.
 *
 * Cancellation is put off until the call is over (lib/machine/calls.h). Signals are not, but in a few steps
 * (tb_hold_signals): blocked in the calling thread, they would be handled by another of the program's
 * threads, whose handler would then jump to a stack that is not its own.
 */
#ifndef TB_LEAVING_H
#define TB_LEAVING_H

#include "lib/process/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* What is to be undone: in the frame of the function that registers it, which also takes it back. */
typedef struct tb_leaving {
    struct tb_leaving *outer;
    void (*routine)(void *);
    void *argument;
} tb_leaving;

void tb_when_left(tb_leaving *leaving, void (*routine)(void *), void *argument);
void tb_not_left(tb_leaving *leaving);

/* A call's list of these, which is all that the C library knows of: in the frame of the call, around all that it registers. */
typedef struct tb_undo_list {
    struct _pthread_cleanup_buffer buffer;
    tb_leaving *outer; /* the calling thread's before the call */
} tb_undo_list;

void tb_begin_undo_list(tb_undo_list *list);
void tb_end_undo_list(tb_undo_list *list);

/* Host memory, zeroed, for use in calls: the C library's allocator is not left in the middle. */
void *tb_make(size_t bytes);
void tb_unmake(void *made);

/* Not in a call that a signal handler makes over another one, which may be in the allocator. */
bool tb_may_ask_for_memory(void);

/* Whether the calling thread is in a call already, or is the library's own. What it calls then comes from a signal handler that
 * interrupts the call, wherever that is, or from the host's BLAS: it may wait for nothing that the thread itself may have. */
static inline bool tb_is_in_call(void)
{
    return tb_call_depth > 0;
}

#endif
