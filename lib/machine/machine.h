/* The machine: is there a device, is it up, what is it. One process-wide state that moves forward,
 * untried -> starting -> ready or absent, ready -> lost, and back to untried only where the devices were another process's. A forked
 * child finds it lost, unless its parent had not begun: then the child may begin, and what the parent's calls have taken counts
 * for it.
 *
 * Being ready means that one device is open, the first of tb_machine.chips. lib/machine/start.h brings devices up.
 */
#ifndef TB_MACHINE_H
#define TB_MACHINE_H

#include "dispatch/plan.h"
#include "lib/device/device.h"

/* The state and, once ready, what the devices are. Never blocks. */
tb_machine tb_machine_facts(void);

/* The host took so many seconds for a call that a device would have won, had it been up. */
void tb_machine_note_host(double seconds);

/* After a sticky error: the devices are left alone for the rest of the process. Warns once; during says what
 * was being done, as in "copying A". */
void tb_machine_lose(const char *during);

/* Somebody begins to wait for a turn at the device, or has begun or ended one. */
void tb_machine_note_use(int device);

/* NULL unless the machine is ready and has the device. */
const tb_device_description *tb_machine_device(int device);

/* What schedules for the device depend on, where the machine is ready or has been; else nothing. */
tb_target tb_machine_target(int device);

/* 0 unless the machine is ready. */
int tb_machine_device_count(void);

/* Bytes of a slot, a pinned buffer between the program's memory and the link, as the options say. */
size_t tb_slot_bytes(void);

/* Whether this is a forked child, whose parent had begun to bring a device up. */
bool tb_machine_is_inherited(void);

/* ---- For start.c and meet_server.c alone ------------------------------------------------------------------ */

/* Choices of the option START, in their order. */
enum { TB_START_OPTION_BACKGROUND, TB_START_OPTION_WAIT, TB_START_OPTION_NEVER };

/* How often the device's use has been noted. */
uint32_t tb_machine_uses(int device);

/* From untried to starting: true for the one thread that is to bring a device up. */
bool tb_machine_begin(void);

/* The same for a server that is looked for, from absent as well; and back, where there is none. */
bool tb_machine_begin_trial(void);
void tb_machine_end_trial(void);

/* What is known of devices: a new one whenever that changes, so that readers need no lock. It stays valid, with all that it points to,
 * for the life of the process. */
typedef struct tb_known_devices {
    const tb_chip *chips;
    const tb_device_description *descriptions; /* by ordinal, from the first one on */
    int first, count;
} tb_known_devices;
void tb_machine_publish(const tb_known_devices *known);

/* What is to be done before anybody finds the machine ready, by whoever has the device; NULL: nothing is. */
typedef void tb_before_ready(const char *device_name);

/* From starting to ready, absent or lost. */
void tb_machine_settle(tb_readiness to);
void tb_machine_wait_until_settled(double seconds);

/* From ready to untried, or absent: the server is left, or has left. Calls that are under way find their device lost. */
void tb_machine_unsettle(void);

/* In a forked child whose parent's devices are another process's: untried again, or absent. */
void tb_machine_begin_anew(void);

/* In a forked child: lost, unless nobody had begun, or there is none. Returns what it was. */
tb_readiness tb_machine_forget(void);

#endif
