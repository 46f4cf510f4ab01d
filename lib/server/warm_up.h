/* Kernels that products are likely to need are made ready on a device before the first client's product needs them. */
#ifndef TB_WARM_UP_H
#define TB_WARM_UP_H

#include "dispatch/plan.h"

#include <stdatomic.h>

/* Launches each row that may be chosen there once, on memory of its own, as the driver brings code to a device at its first launch,
 * which takes a millisecond to ten. Ends early where `stop` says so; nothing depends on it. */
void tb_warm_up(const tb_chip *chip, const atomic_bool *stop);

#endif
