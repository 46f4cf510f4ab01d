/* The machine: is there a device, is it up, what is it. One process-wide state that only moves forward:
 * untried -> starting -> ready or absent, ready -> lost. A forked child finds it lost.
 */
#ifndef TB_MACHINE_H
#define TB_MACHINE_H

#include "dispatch/plan.h"
#include "lib/device.h"

/* The state and, once ready, what device 0 is. Never blocks. */
tb_machine tb_machine_facts(void);

/* Sees to a plan's wish: starts the device on a helper thread if nobody has, and waits for it when the call
 * needs it now or the option START says wait. True when it waited: the facts may have changed. */
bool tb_machine_start(tb_start start);

/* After a sticky error: the device is left alone for the rest of the process. Warns once; during says what
 * was being done, as in "copying A". */
void tb_machine_lose(const char *during);

/* 0 unless the device is ready. */
int tb_machine_device_count(void);
const tb_device_description *tb_machine_device(int device);

#endif
