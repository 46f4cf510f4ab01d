/* The machine: is there a device, is it up, what is it. One process-wide state that only moves forward:
 * untried -> starting -> ready or absent, ready -> lost. A forked child finds it lost.
 *
 * Being ready means that one device is open, the first of tb_machine.chips. The others are opened when products
 * turn up that would be faster with them, or operands that lie there: an open device takes half a gigabyte of its
 * memory, and a fifth of a second.
 */
#ifndef TB_MACHINE_H
#define TB_MACHINE_H

#include "dispatch/plan.h"
#include "lib/device/device.h"

/* The state and, once ready, what the devices are. Never blocks. */
tb_machine tb_machine_facts(void);

/* Sees to a plan's wish: starts the device, or the other devices, if nobody has: on a helper thread, or, where the call
 * has to wait, because it needs the device now or the option START says so, on the calling one. True when it waited: the facts may have changed. */
bool tb_machine_start(const tb_plan *plan);

/* The host took so many seconds for a call that a device would have won, had it been up. */
void tb_machine_note_host(double seconds);

/* After a sticky error: the devices are left alone for the rest of the process. Warns once; during says what
 * was being done, as in "copying A". */
void tb_machine_lose(const char *during);

/* NULL unless the machine is ready and has the device. */
const tb_device_description *tb_machine_device(int device);

#endif
