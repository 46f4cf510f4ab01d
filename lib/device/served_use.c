#include "lib/device/served_use.h"

#include "lib/device/platform.h"
#include "lib/process/leaving.h"
#include "lib/process/threads.h"

#include <stdatomic.h>

const tb_device_operations *tb_served_devices;

enum { NONE, OPEN, CLOSED, BEING_FORGOTTEN };

static atomic_int state;
static _Atomic(uint32_t) uses; /* and attempts to begin one */
static _Atomic(uint32_t) generation;
static const tb_use_steps *steps;

/* A use is counted before the state is looked at, and the other way round here: so either the use finds that the connection is
 * closed, or it is seen. Whoever comes while nobody may use it any more only counts for a moment, and comes here afterwards. */
static void forget_unused(void)
{
    for (int closed = CLOSED;
         atomic_load(&uses) == 0 && atomic_compare_exchange_strong(&state, &closed, BEING_FORGOTTEN);) {
        const bool is_unused = atomic_load(&uses) == 0;
        if (is_unused)
            steps->forget();
        atomic_store(&state, is_unused ? NONE : CLOSED);
    }
}

/* A thread that left in the middle would leave it half forgotten. */
static void see_to_forgetting(void)
{
    sigset_t signals;
    if (atomic_load(&state) != CLOSED)
        return;
    tb_hold_signals(&signals);
    forget_unused();
    tb_let_signals(&signals);
}

static void count_down(void)
{
    if (atomic_fetch_sub(&uses, 1) == 1)
        see_to_forgetting();
}

static void stop_beginning(void *unused)
{
    (void)unused;
    count_down();
}

/* May take a while, in which the caller may leave. */
static void begin(void)
{
    tb_leaving leaving;
    tb_when_left(&leaving, stop_beginning, NULL);
    steps->begin();
    tb_not_left(&leaving);
}

bool tb_begin_use(int device)
{
    if (device < TB_SERVED_FIRST)
        return true;
    atomic_fetch_add(&uses, 1);
    if (atomic_load(&state) == OPEN) {
        begin();
        return true;
    }
    count_down();
    return false;
}

void tb_end_use(int device)
{
    if (device < TB_SERVED_FIRST)
        return;
    steps->end();
    count_down();
}

bool tb_may_open_to_use(void)
{
    return atomic_load(&state) == NONE;
}

void tb_open_to_use(const tb_use_steps *of_connection)
{
    steps = of_connection;
    atomic_fetch_add(&generation, 1);
    atomic_store(&state, OPEN);
}

void tb_close_to_use(void)
{
    int open = OPEN;
    if (atomic_compare_exchange_strong(&state, &open, CLOSED))
        see_to_forgetting();
}

uint32_t tb_use_generation(void)
{
    return atomic_load(&generation);
}

void tb_forget_uses(void)
{
    atomic_store(&uses, 0);
    atomic_store(&state, NONE);
}
