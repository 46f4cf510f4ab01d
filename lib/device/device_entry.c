#include "lib/device/device_entry.h"

#include <stdlib.h>

_Thread_local int tb_device_depth __attribute__((tls_model("initial-exec")));
atomic_bool tb_device_shut;

static void shut(void)
{
    atomic_store(&tb_device_shut, true);
}

void tb_shut_device_at_exit(void)
{
    atexit(shut);
    at_quick_exit(shut);
}
