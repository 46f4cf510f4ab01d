/* Which device is a process's own where no launcher numbers processes: workers of Dask, pools of spawned workers, programs
 * that know nothing of each other. Each claims one. A claim is a lock on an empty file in a folder that nobody but the user can
 * write to, and ends with the process however that ends. Processes of one user see each other's claims as far as they see the
 * same folder: those of several containers do where they share it, and other users' are not seen.
 */
#ifndef TB_CLAIM_H
#define TB_CLAIM_H

#include "lib/device/device.h"

#include <stdbool.h>

/* The ordinal of the device that the process shall take: the first one that no other process of the user has claimed. Only
 * those like the first are looked at. Where all are claimed it is one with the fewest claims. */
int tb_claim_home(const tb_device_description *descriptions, int count);

/* Whether nobody else has claimed the device, which is then this process's. Always where devices cannot be told from those
 * that other processes see, and where there is no folder for claims. */
bool tb_claim_device(const tb_device_description *description);

#endif
