/* What sessions see of each other: how much each holds of the devices, and for how long its client has asked for nothing. Of a client
 * that sleeps another one's session may want what it holds; the sleeper's own session gives it back.
 */
#ifndef TB_SLEEPERS_H
#define TB_SLEEPERS_H

#include "lib/serving/wire.h"

typedef struct tb_sleeper {
    const tb_wire *wire;
    _Atomic(double) moved;                         /* when its client wanted something last, in tb_seconds */
    _Atomic(uint64_t) held_bytes[TB_WIRE_DEVICES]; /* of each of the server's devices */
    _Atomic(uint32_t) is_wanted; /* what it holds; its session sets it to 0 when it has looked */
} tb_sleeper;

/* From a session's beginning to its end. False: there are too many. */
bool tb_enter_sleepers(tb_sleeper *sleeper);
void tb_leave_sleepers(const tb_sleeper *sleeper);

int tb_count_sessions(void);

/* Bytes of the device that are held for clients that sleep, but this one. */
uint64_t tb_bytes_asleep(const tb_sleeper *own, uint32_t device);

/* Has the client that has slept longest give back what it holds, of those that hold some of the device. False: there is none, but
 * this one, or it has not done so. */
bool tb_take_back_from_sleeper(const tb_sleeper *own, uint32_t device);

#endif
