#include "lib/process/linker.h"

#include "lib/process/callers_state.h"
#include "lib/process/clock.h"
#include "lib/process/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* In seconds: long enough for a BLAS to be read from disk. */
#define LONGEST_WAIT 1.0

static atomic_int inside;  /* calls into the linker under way */
static atomic_int forking; /* forks under way */
static atomic_bool distrusted;
static _Thread_local int entered __attribute__((tls_model("initial-exec"))); /* of those, the thread's own */

static bool is_none_in_time(atomic_int *count)
{
    const double start = tb_seconds();
    while (atomic_load(count) != 0) {
        if (tb_seconds() - start >= LONGEST_WAIT)
            return false;
        sched_yield();
    }
    return true;
}

/* False when it took too long. The thread may be in no call: the program forks. */
static bool wait_for_none(atomic_int *count)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    const bool is_none = is_none_in_time(count);
    tb_put_state_back(&state);
    return is_none;
}

static void before_fork(void)
{
    atomic_fetch_add(&forking, 1);
    wait_for_none(&inside);
}

static void in_parent(void)
{
    atomic_fetch_sub(&forking, 1);
}

static void in_child(void)
{
    if (atomic_exchange(&inside, 0) != 0)
        tb_distrust_linker();
    atomic_store(&forking, 0);
}

/* When the library is loaded: the first one to enter would be too late for a fork that is already under way. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void tb_enter_linker(void)
{
    entered++;
    do {
        atomic_fetch_add(&inside, 1);
        if (atomic_load(&forking) == 0)
            return;
        atomic_fetch_sub(&inside, 1);
    } while (wait_for_none(&forking)); /* the next fork may have begun */
    atomic_fetch_add(&inside, 1);
}

void tb_leave_linker(void)
{
    atomic_fetch_sub(&inside, 1);
    entered--;
}

void tb_leave_linker_for_good(void)
{
    while (entered > 0)
        tb_leave_linker();
}

void tb_stay_loaded(void)
{
    Dl_info self;
    sigset_t signals;
    tb_hold_signals(&signals); /* the dynamic linker is not to be left in the middle */
    tb_enter_linker();
    if (tb_linker_answers() && dladdr((void *)&inside, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    tb_leave_linker();
    tb_let_signals(&signals);
}

void tb_distrust_linker(void)
{
    atomic_store_explicit(&distrusted, true, memory_order_relaxed);
}

bool tb_linker_answers(void)
{
    return !atomic_load_explicit(&distrusted, memory_order_relaxed);
}
