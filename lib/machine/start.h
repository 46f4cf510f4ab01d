/* Bringing devices up. One is enough for the machine to be ready. The others are opened when products turn up
 * that would be faster with them, or operands that lie there: an open device takes half a gigabyte of its
 * memory, and a fifth of a second.
 */
#ifndef TB_START_H
#define TB_START_H

#include "dispatch/plan.h"

#include <stdbool.h>

/* What is to be done before anybody finds the machine ready, by whoever brings the device up; NULL: nothing is. */
typedef void tb_before_ready(const char *device_name);

/* Where a server has devices up, and this process has not begun to bring up its own: they are the process's from now on, and the plan
 * is to be made anew. Looks for one every second at most, and not for a call that takes hardly longer than that. */
bool tb_machine_meet_server(const tb_plan *plan, tb_before_ready *prepare);

/* The first device to be brought up is that one, if it is there. Before any is. */
void tb_machine_prefer(int device);

/* Tells of a use of the device (lib/device/served_use.h), before its end, that the device is lost: one of the process's own for the
 * rest of the process, a server's until there is another one. During says what was being done, as in "copying A". */
void tb_machine_lose_device(int device, const char *during);

/* The calling thread has left in the middle of what it ordered, or with a lock: a server that the process has, or has had and some
 * thread still uses, is left, and found anew when nobody uses that connection any more. False: there is none. */
bool tb_machine_drop_server(void);

/* Sees to the wish of a plan that has one: starts the device, or the other devices, if nobody has: on a helper thread, or,
 * where the call has to wait, because it needs the device now or the option START says so, on the calling
 * one. True when it waited: the facts may have changed. */
bool tb_machine_start(const tb_plan *plan, tb_before_ready *prepare);

#endif
