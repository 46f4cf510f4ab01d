/* Devices that a server has up (lib/serving), as this process's own: when one is looked for, and what becomes of the machine when one is
 * met, left, or lost.
 */
#ifndef TB_MEET_SERVER_H
#define TB_MEET_SERVER_H

#include "dispatch/plan.h"
#include "lib/machine/machine.h"

#include <stdbool.h>

/* Where a server has devices up, and this process has not begun to bring up its own: they are the process's from now on, and the plan
 * is to be made anew. Looks for one every second at most, and not for a call that takes hardly longer than that. */
bool tb_machine_meet_server(const tb_plan *plan, tb_before_ready *prepare);

/* Tells of a use of the device (lib/device/served_use.h), before its end, that the device is lost: one of the process's own for the
 * rest of the process, a server's until there is another one. During says what was being done, as in "copying A". */
void tb_machine_lose_device(int device, const char *during);

/* The calling thread has left in the middle of what it ordered, or with a lock: a server that the process has, or has had and some
 * thread still uses, is left, and found anew when nobody uses that connection any more. False: there is none. */
bool tb_machine_drop_server(void);

/* ---- For start.c alone ------------------------------------------------------------------------------------ */

/* A server's devices are the process's no more, if they were: it may bring up its own. Whether they were. */
bool tb_machine_leave_server(void);

/* In a forked child: whether the parent's devices were a server's, or one was being asked. Then the child may begin anew. */
bool tb_machine_forget_server(void);

#endif
