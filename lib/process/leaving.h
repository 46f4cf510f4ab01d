/* A caller that leaves a call in the middle: by siglongjmp out of a signal handler, or by pthread_exit there.
 * The GNU C library runs what was registered here before it jumps, on the stack of the thread that leaves,
 * innermost first; other C libraries do not, and calls that were left keep what they had taken.
 *
 * Cancellation is put off until the call is over (tb_begin_call). Signals are not, but in a few steps
 * (tb_hold_signals): blocked in the calling thread, they would be handled by another of the program's
 * threads, whose handler would then jump to a stack that is not its own.
 */
#ifndef TB_LEAVING_H
#define TB_LEAVING_H

#include "lib/device/device.h"
#include "lib/process/callers_state.h"
#include "lib/process/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the frame of the function that registers it, which also takes it back. */
typedef struct tb_leaving {
    struct _pthread_cleanup_buffer buffer;
} tb_leaving;

void tb_when_left(tb_leaving *leaving, void (*routine)(void *), void *argument);
void tb_not_left(tb_leaving *leaving);

/* Host memory, zeroed, for use in calls: the C library's allocator is not left in the middle. */
void *tb_make(size_t bytes);
void tb_unmake(void *made);

/* Not in a call that a signal handler makes over another one, which may be in the allocator. */
bool tb_may_ask_for_memory(void);

/* Around a call; what is between them is not cancelled, and leaves the caller's state as it was. */
typedef struct tb_call {
    tb_leaving leaving;
    tb_callers_state state;
    int depth;        /* of the calls that the thread was in before */
    int cancel_state; /* as it was before; -1: as it is */
    bool counted;
} tb_call;

void tb_begin_call(tb_call *call);
void tb_end_call(tb_call *call);

/* Whether the calling thread is in a call already, or is the library's own. What it calls then comes from a signal handler that
 * interrupts the call, wherever that is, or from the host's BLAS: it may wait for nothing that the thread itself may have. */
static inline bool tb_is_in_call(void)
{
    return tb_call_depth > 0;
}

/* Calls that are between the two at this moment, of all threads. */
static inline uint32_t tb_calls_under_way(void)
{
    extern _Atomic(uint32_t) tb_calls_count;
    return atomic_load_explicit(&tb_calls_count, memory_order_relaxed);
}

/* For routines: whether the thread left in the middle of an operation of the device, or with a lock. Then no
 * operation can be begun, and the devices are lost. Gives up the locks. */
bool tb_left_in_the_middle(void);

/* For routines: until the device has done what the streams hold, of which some may be NULL, and so touches the program's memory no
 * more. After leaving in the middle another thread waits for that, as whatever the driver holds stays with the one that left, and
 * this one waits for that thread, a second at most. */
#define TB_STREAMS_OF_CALL 4
void tb_come_to_rest(tb_stream *const *streams, int count, bool in_the_middle);

#endif
