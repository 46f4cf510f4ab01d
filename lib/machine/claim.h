/* Which device is a process's own where no launcher numbers processes: workers of Dask, pools of spawned workers, programs
 * that know nothing of each other. Each claims one. A claim is the name of a socket, which nobody connects to and
 * which goes with the process.
 */
#ifndef TB_CLAIM_H
#define TB_CLAIM_H

#include "lib/device/device.h"

#include <stdbool.h>

/* The ordinal of the device that the process shall take: the first one that no other process on this host has claimed. Only
 * those like the first are looked at. Where all are claimed it is one with the fewest claims. */
int tb_claim_home(const tb_device_description *descriptions, int count);

/* Whether nobody else has claimed the device, which is then this process's. Always where devices cannot be told from those
 * that other processes see. */
bool tb_claim_device(const tb_device_description *description);

#endif
