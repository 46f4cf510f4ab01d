/* Where clients come to: berths that are ready for them, and whose hearts beat. */
#ifndef TB_PORT_H
#define TB_PORT_H

#include "lib/server/berth.h"

#include <stdbool.h>

/* Before anything else: of each berth. */
void tb_open_port(const tb_slots_extent *slots);

/* A berth that was ready, or a new one; false: there is no room. It is given back with whether its client has ended: then it serves the
 * next one. */
bool tb_take_berth(tb_berth *berth);
void tb_give_berth(tb_berth *berth, bool has_ended);

/* What has to be done now and then: has slots grow, cleans berths that were given back, makes new ones where few are ready, and unmakes what nobody has
 * needed for long. Others that use the devices are not held up for long by any of it. */
void tb_keep_berths(void);

/* A client is there, and has a heartbeat, until it leaves; false: there is no room. */
bool tb_enter_port(tb_berth *berth);
void tb_leave_port(const tb_berth *berth);

/* The client's slots grow by a step soon, unless all clients' have grown by a share of the computer's memory. */
void tb_want_slots(tb_berth *berth);

void tb_beat(void);

int tb_clients(void);

/* Since when there are none; 0 where there are some. */
double tb_empty_since(void);

#endif
