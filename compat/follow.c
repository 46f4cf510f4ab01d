#include "compat/follow.h"

#include "compat/loaded_objects.h"

#include "lib/process/clock.h"
#include "lib/machine/calls.h"
#include "lib/process/linker.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <pthread.h>
#include <time.h>

/* Many times what binding takes where nobody has the linker's lock; what a call loses where a constructor waits for it. */
#define LONGEST_WAIT_SECONDS 0.05

atomic_bool tb_follows;
static _Atomic(unsigned long long) bound; /* objects that were loaded before the latest binding */
static bool (*_Atomic bind_others)(void);
static _Atomic(uint32_t) at_work;       /* a thread that binds */
static _Atomic(long long) looked_at_ns; /* by the coarse clock */

/* What was not bound is found by a later call. */
static void look_again(void)
{
    atomic_store(&bound, 0);
}

/* A forked child has no thread that binds. */
static void stop_work_in_child(void)
{
    if (atomic_exchange(&at_work, 0))
        look_again();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, stop_work_in_child);
}

void tb_begin_following(unsigned long long loaded, bool (*bind)(void))
{
    atomic_store(&bind_others, bind);
    atomic_store(&bound, loaded);
    atomic_store(&tb_follows, true);
}

void tb_end_following(void)
{
    atomic_store(&tb_follows, false);
}

static void *bind_in_thread(void *unused)
{
    if (!atomic_load(&bind_others)())
        look_again();
    atomic_store(&at_work, 0);
    tb_wake_all(&at_work);
    return unused;
}

static void bind_beside(unsigned long long loaded)
{
    uint32_t idle = 0;
    if (!atomic_compare_exchange_strong(&at_work, &idle, 1))
        return; /* the objects are found by the next call, if that thread does not find them */
    atomic_store(&bound, loaded);
    if (!tb_start_thread(bind_in_thread, NULL)) {
        look_again();
        atomic_store(&at_work, 0);
        return;
    }
    const double end = tb_seconds() + LONGEST_WAIT_SECONDS;
    for (double left = LONGEST_WAIT_SECONDS; left > 0 && atomic_load(&at_work); left = end - tb_seconds())
        tb_wait_while(&at_work, 1, left);
}

/* Once a tick of the coarse clock, some milliseconds: looking takes a microsecond. */
static bool is_time_to_look(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const long long ns = now.tv_sec * 1000000000LL + now.tv_nsec;
    return atomic_load_explicit(&looked_at_ns, memory_order_relaxed) != ns &&
           atomic_exchange_explicit(&looked_at_ns, ns, memory_order_relaxed) != ns;
}

void tb_look_for_objects(void)
{
    tb_call call;
    sigset_t signals;
    unsigned long long loaded = 0;
    if (!is_time_to_look())
        return;
    tb_begin_call(&call);
    tb_hold_signals(&signals); /* the dynamic linker is not to be left in the middle */
    tb_enter_linker();
    const bool answers = tb_linker_answers();
    if (answers)
        loaded = tb_count_changes().loaded;
    tb_leave_linker();
    tb_let_signals(&signals);
    if (answers && loaded != atomic_load(&bound))
        bind_beside(loaded);
    tb_end_call(&call);
}
