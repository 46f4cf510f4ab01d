/* Statistics by route, the calling thread's last plan, and the line that VERBOSE prints for every call. */
#ifndef TB_STATS_H
#define TB_STATS_H

#include "dispatch/plan.h"

/* Takes note of a call; it took so many seconds. */
void tb_record_call(const tb_product *product, const tb_facts *facts, const tb_plan *plan,
                    const char *spelling, double seconds);

/* Sets tb_small_volume (lib/call/small.h) as the options in force allow. */
void tb_watch_as_asked(void);

#endif
