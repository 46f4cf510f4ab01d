#include "lib/leaving.h"

#include "lib/device_entry.h"
#include "lib/linker.h"
#include "lib/lock.h"
#include "lib/machine.h"
#include "lib/threads.h"

#include <stddef.h>

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

bool tb_left_in_the_middle(void)
{
    if (tb_device_depth == 0 && !tb_has_locks())
        return false;
    tb_machine_lose("a product; its caller left it");
    tb_give_up_locks();
    return true;
}

/* How long a caller that leaves waits for the device to stop writing C. */
#define LEAVING_SECONDS 1.0

_Atomic(uint32_t) tb_calls_count;

static struct {
    atomic_flag begun;
    void (*wait)(void *);
    void *argument;
    _Atomic(uint32_t) lasts;
} elsewhere = {.begun = ATOMIC_FLAG_INIT};

static void *wait_here(void *unused)
{
    elsewhere.wait(elsewhere.argument);
    atomic_store(&elsewhere.lasts, 0);
    tb_wake_all(&elsewhere.lasts);
    return unused;
}

void tb_wait_elsewhere(void (*wait)(void *), void *argument)
{
    if (atomic_flag_test_and_set(&elsewhere.begun))
        return;
    elsewhere.wait = wait;
    elsewhere.argument = argument;
    atomic_store(&elsewhere.lasts, 1);
    if (tb_start_thread(wait_here, NULL))
        tb_wait_while(&elsewhere.lasts, 1, LEAVING_SECONDS);
}

static void end_left_call(void *call)
{
    atomic_fetch_sub(&tb_calls_count, 1);
    tb_left_in_the_middle();
    tb_device_depth = 0;
    tb_leave_linker_for_good();
    pthread_setcancelstate(((tb_call *)call)->cancel_state, NULL);
}

void tb_begin_call(tb_call *call)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call->cancel_state);
    atomic_fetch_add(&tb_calls_count, 1);
    tb_when_left(&call->leaving, end_left_call, call);
}

void tb_end_call(tb_call *call)
{
    atomic_fetch_sub(&tb_calls_count, 1);
    tb_not_left(&call->leaving);
    pthread_setcancelstate(call->cancel_state, NULL);
}
