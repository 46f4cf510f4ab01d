/* What schedules for a device depend on, as lib/machine finds it. The device is open. */
#ifndef TB_TARGET_H
#define TB_TARGET_H

#include "dispatch/schedule.h"
#include "lib/device/platform.h"
#include "lib/machine/calibrate.h"

static inline tb_target target_of_device(int device)
{
    tb_device_description description = {.architecture = 0};
    tb_device_at(device)->describe(device, &description);
    tb_chip chip = tb_presume_chip(device, &description);
    chip.clusters = tb_device_at(device)->clusters(device);
    return tb_target_of(&chip);
}

#endif
