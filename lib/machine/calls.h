/* Calls, from their beginning to their end, and what is done where one is left in the middle (lib/process/leaving.h): the devices
 * are lost then, and what they are still doing is waited for. Cancellation is put off until a call is over.
 */
#ifndef TB_CALLS_H
#define TB_CALLS_H

#include "lib/device/device.h"
#include "lib/process/callers_state.h"
#include "lib/process/leaving.h"

#include <stdatomic.h>
#include <stdint.h>

/* Around a call; what is between them is not cancelled, and leaves the caller's state as it was. */
typedef struct tb_call {
    tb_undo_list undo;
    tb_leaving leaving;
    tb_callers_state state;
    int depth;        /* of the calls that the thread was in before */
    int cancel_state; /* as it was before; -1: as it is */
    bool counted;
} tb_call;

void tb_begin_call(tb_call *call);
void tb_end_call(tb_call *call);

/* Around an algorithm of another library's, of which each call that comes back is the program's own, as it would be without this
 * library: a factorization by the host's LAPACK. The thread holds nothing then that such a call may wait for. Over another call, where
 * that is not known, nothing changes. */
int tb_step_out_of_call(void);
void tb_step_back_into_call(int depth);

/* Calls that are between the two at this moment, of all threads. */
static inline uint32_t tb_calls_under_way(void)
{
    extern _Atomic(uint32_t) tb_calls_count;
    return atomic_load_explicit(&tb_calls_count, memory_order_relaxed);
}

/* For routines that tb_when_left registers: whether the thread left in the middle of an operation of the device, or with a lock.
 * Then no operation can be begun, and the devices are lost; another process's until there is a new connection. Gives up the locks. */
bool tb_left_in_the_middle(void);

/* For the same: until the device has done what the streams hold, of which some may be NULL, and so touches the program's memory
 * no more. After leaving in the middle another thread waits for that, as whatever the driver holds stays with the one that left,
 * and this one waits for that thread, a second at most. */
#define TB_STREAMS_OF_CALL 4
void tb_come_to_rest(tb_stream *const *streams, int count, bool in_the_middle);

#endif
