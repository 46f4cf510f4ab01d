#include "lib/machine/calls.h"

#include "lib/device/device_entry.h"
#include "lib/device/platform.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/process/clock.h"
#include "lib/process/linker.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

bool tb_left_in_the_middle(void)
{
    if (tb_device_depth == 0 && !tb_has_locks())
        return false;
    tb_give_up_locks();
    if (tb_device_depth > 0 || !tb_machine_drop_server())
        tb_machine_lose("multiplying: the caller left in the middle of an operation");
    return true;
}

/* ---- What the device still does --------------------------------------------------------------------------- */

/* How long a caller that leaves in the middle waits for the device to stop writing C. */
#define LEAVING_SECONDS 1.0

/* What threads have left in the middle; there are no more than those that were inside when the first one lost
 * the devices. */
#define LEFT_MOST 256
typedef struct left_work {
    tb_stream *streams[TB_STREAMS_OF_CALL];
    int count;
    _Atomic(uint32_t) at_work;
} left_work;
static left_work left_works[LEFT_MOST];
static atomic_int left_count;

static void synchronize(tb_stream *const *streams, int count)
{
    for (int i = 0; i < count; i++)
        if (streams[i])
            tb_synchronize(streams[i]);
}

static void *wait_for_left(void *argument)
{
    left_work *work = argument;
    synchronize(work->streams, work->count);
    atomic_store(&work->at_work, 0);
    tb_wake_all(&work->at_work);
    return NULL;
}

/* Another process's devices reach nothing of the program's. */
static bool are_served(tb_stream *const *streams)
{
    return tb_served_devices && streams[0] && streams[0]->operations == tb_served_devices;
}

static void let_another_wait(tb_stream *const *streams, int count)
{
    if (are_served(streams))
        return;
    const int index = atomic_fetch_add(&left_count, 1);
    if (index >= LEFT_MOST)
        return;
    left_work *work = &left_works[index];
    for (int i = 0; i < count; i++)
        work->streams[i] = streams[i];
    work->count = count;
    atomic_store(&work->at_work, 1);
    if (!tb_start_thread(wait_for_left, work))
        return;
    /* A signal that the program handles meanwhile ends one wait, and not the waiting. */
    const double end = tb_seconds() + LEAVING_SECONDS;
    for (double left; atomic_load(&work->at_work) && (left = end - tb_seconds()) > 0;)
        tb_wait_while(&work->at_work, 1, left);
}

void tb_come_to_rest(tb_stream *const *streams, int count, bool in_the_middle)
{
    (in_the_middle ? let_another_wait : synchronize)(streams, count);
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

_Atomic(uint32_t) tb_calls_count;

/* pthread_setcancelstate knows no such state. */
#define NO_STATE (-1)

static void count(tb_call *call)
{
    atomic_fetch_add(&tb_calls_count, 1);
    *(volatile bool *)&call->counted = true;
}

/* A caller that leaves between the two steps counts for ever, and no other one is taken for it. */
static void uncount(tb_call *call)
{
    *(volatile bool *)&call->counted = false;
    atomic_fetch_sub(&tb_calls_count, 1);
}

/* Where cancellation is let through again, one that came meanwhile ends the thread. In GNU C libraries such as
 * 2.36 the thread of the asynchronous type then has no result, unless the type is what lets it through. */
static void set_cancel_state(int state)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    if (state == PTHREAD_CANCEL_ENABLE)
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcancelstate(state, NULL);
    if (type != PTHREAD_CANCEL_DEFERRED)
        pthread_setcanceltype(type, NULL);
}

static void end_left_call(void *left)
{
    tb_call *call = left;
    tb_call_depth = call->depth;
    if (call->counted)
        uncount(call);
    tb_left_in_the_middle();
    tb_device_depth = 0;
    tb_leave_linker_for_good();
    tb_forget_state(&call->state);
    if (call->cancel_state != NO_STATE)
        set_cancel_state(call->cancel_state);
}

static void set_depth(int depth)
{
    *(volatile int *)&tb_call_depth = depth;
    atomic_signal_fence(memory_order_seq_cst);
}

void tb_begin_call(tb_call *call)
{
    tb_set_state_aside(&call->state);
    call->depth = tb_call_depth;
    call->counted = false;
    call->cancel_state = NO_STATE;
    tb_begin_undo_list(&call->undo);
    tb_when_left(&call->leaving, end_left_call, call);
    set_depth(call->depth + 1);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call->cancel_state);
    count(call);
}

void tb_end_call(tb_call *call)
{
    uncount(call);
    set_depth(call->depth);
    tb_not_left(&call->leaving);
    tb_end_undo_list(&call->undo);
    tb_put_state_back(&call->state);
    set_cancel_state(call->cancel_state);
}

int tb_step_out_of_call(void)
{
    const int depth = tb_call_depth;
    if (depth == 1)
        set_depth(0);
    return depth;
}

void tb_step_back_into_call(int depth)
{
    set_depth(depth);
}
