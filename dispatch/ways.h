/* Which of two ways a call goes that the host and a device can both serve, by what either is forecast to take; and whether a device
 * is started for it. Products and factorizations ask the same. Seconds of a device are those of a streamed plan.
 */
#ifndef TB_WAYS_H
#define TB_WAYS_H

#include "dispatch/plan.h"

bool tb_can_start(tb_readiness readiness);
tb_reason tb_why_not_ready(tb_readiness readiness);

/* Whether a call for which the device would pay starts it. */
tb_start tb_how_to_start(const tb_machine *machine, double host, double device);

/* Whether the device is up and may be the faster one, or is to be tried, if it takes no longer than that. */
bool tb_may_leave(const tb_facts *facts, double host, double device);

/* The host's plan where it may not. */
tb_plan tb_stay(const tb_facts *facts, double host, double device);

/* A plan for the device has been made, with its forecasts; it becomes the host's unless the device gets the call. */
void tb_choose_way(const tb_facts *facts, tb_plan *plan, double host);

#endif
