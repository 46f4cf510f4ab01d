/* Whether a server that has something to do for a client is at work at all: by its heartbeat, and by what the kernel says of a process
 * whose heartbeat stands still. It says nothing of how long an order may take.
 */
#ifndef TB_PULSE_H
#define TB_PULSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread's look at the server while it waits; zeroed before. */
typedef struct tb_pulse {
    uint32_t heartbeat;
    double since; /* when it was seen to move last; 0: it has not been looked at */
} tb_pulse;

/* process: the server's; 0: it is in a place where this process does not see it. Where a server stands still it is left alone. */
bool tb_has_pulse(tb_pulse *pulse, uint32_t heartbeat, pid_t process);

/* A server that stood still, did not greet, or has slots that cannot be mapped, is left alone for a while: until then (tb_seconds); 0:
 * none has been. */
void tb_leave_server_alone(void);
double tb_server_is_left_alone_until(void);

#endif
