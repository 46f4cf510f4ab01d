/* What a device sustains on this machine: presumed from its description, then measured when it comes up. */
#ifndef TB_CALIBRATE_H
#define TB_CALIBRATE_H

#include "dispatch/plan.h"
#include "lib/device/device.h"

tb_chip tb_presume_chip(int device, const tb_device_description *description);

/* Replaces what was presumed by what some copies and launches on the open device show, in some milliseconds. What
 * cannot be measured stays as it is. */
void tb_measure_chip(tb_chip *chip);

#endif
