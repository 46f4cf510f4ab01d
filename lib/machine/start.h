/* Bringing devices up. One is enough for the machine to be ready. The others are opened when products turn up
 * that would be faster with them, or operands that lie there: an open device takes half a gigabyte of its
 * memory, and a fifth of a second.
 */
#ifndef TB_START_H
#define TB_START_H

#include "dispatch/plan.h"
#include "lib/machine/machine.h"

#include <stdbool.h>

/* The first device to be brought up is that one, if it is there. Before any is. */
void tb_machine_prefer(int device);

/* Sees to the wish of a plan that has one: starts the device, or the other devices, if nobody has: on a helper thread, or,
 * where the call has to wait, because it needs the device now or the option START says so, on the calling
 * one. True when it waited: the facts may have changed. */
bool tb_machine_start(const tb_plan *plan, tb_before_ready *prepare);

#endif
