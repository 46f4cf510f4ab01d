/* The device of a build without CUDA: there is none. */
#include "lib/device/device.h"

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
const tb_device_operations tb_device = {
    .name = "none",
    .in_process = never_in_process,
    .open = open_none,
};
