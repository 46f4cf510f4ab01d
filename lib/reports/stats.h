/* Statistics by route, the calling thread's last plan, and the line that VERBOSE prints for every call. */
#ifndef TB_STATS_H
#define TB_STATS_H

#include "dispatch/plan.h"
#include "words/task.h"

#include <stdatomic.h>

/* Takes note of a call; it took so many seconds. */
void tb_record_call(tb_task task, const tb_facts *facts, const tb_plan *plan, const char *spelling,
                    double seconds);

/* Products of at most this many multiply-adds go to the host unlooked at (lib/call/small.h); 0 while every call has to be looked
 * at, because a route is forced or calls are watched. */
extern _Atomic(uint32_t) tb_small_volume;

/* Sets it as the options in force allow. */
void tb_watch_as_asked(void);

#endif
