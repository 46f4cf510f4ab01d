#include "lib/device/device_entry.h"

#include <stdlib.h>
#include <time.h>

_Thread_local int tb_device_depth __attribute__((tls_model("initial-exec")));
atomic_bool tb_device_shut;

static atomic_int bringing_up;

/* What is left to wait, for all handlers together. */
static int milliseconds_left = 500;

bool tb_is_bringing_up(void)
{
    return atomic_load(&bringing_up) > 0;
}

static void shut(void)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    atomic_store(&tb_device_shut, true);
    for (; milliseconds_left > 0 && tb_is_bringing_up(); milliseconds_left--)
        nanosleep(&millisecond, NULL);
}

void tb_forget_bringing_up(void)
{
    atomic_store(&bringing_up, 0);
}

void tb_begin_bringing_up(void)
{
    atomic_fetch_add(&bringing_up, 1);
}

void tb_end_bringing_up(void)
{
    atomic_fetch_sub(&bringing_up, 1);
}

void tb_shut_device_at_exit(void)
{
    atexit(shut);
    at_quick_exit(shut);
}
