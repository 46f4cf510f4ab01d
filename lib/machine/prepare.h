/* What a device's first product would have to wait for, done ahead by the thread that has brought the device
 * up: pinned memory for the slots, and the code of the kernel that large products take. Whatever cannot be
 * had is left to that product.
 */
#ifndef TB_PREPARE_H
#define TB_PREPARE_H

#include "dispatch/plan.h"

void tb_prepare_device(const tb_machine *machine, const tb_chip *chip);

#endif
