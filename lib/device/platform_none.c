/* The platform of a build without CUDA: it has no devices. */
#include "lib/device/platform.h"

static bool never_in_process(void)
{
    return false;
}

static tb_status open_none(int *device_count)
{
    *device_count = 0;
    return TB_NO_DEVICE;
}

/* Nothing else is called unless opening succeeds. */
const tb_platform_operations tb_platform = {
    .name = "none",
    .identity = "none",
    .in_process = never_in_process,
    .open = open_none,
};
