/* When calls ran: seconds by route, and bytes over the link, in columns of equal width since the library was loaded, or
 * statistics were reset. For the pages of `tileblas run` and `tileblas show`; kept only while statistics go to a file as
 * JSON, or once somebody has asked for a report.
 *
 * How long a program runs is known at its end, so that several scales are kept, each four times as coarse as the one
 * before. Nobody waits for a lock: columns are added to.
 */
#ifndef TB_TIMELINE_H
#define TB_TIMELINE_H

#include "dispatch/plan.h"
#include "lib/process/sums.h"
#include "lib/reports/json.h"

#define TB_TIMELINE_COLUMNS 256

/* From now on it is kept, whatever the option STATS says. */
void tb_keep_timeline(void);
static inline bool tb_timeline_is_kept(void)
{
    extern atomic_bool tb_keeps_timeline;
    return TB_LOAD(&tb_keeps_timeline);
}

/* All columns are empty, and the first one begins now. */
void tb_restart_timeline(void);

/* A call of the route that ends now. */
void tb_note_in_time(tb_route route, double seconds, double link_bytes);

/* The member "timeline": "began_ms", by the clock on the wall; "spanned", and "width" of a column, in seconds; "columns", each a
 * list of its number, the seconds of each route in their order, and bytes. Empty columns are left out. */
void tb_write_timeline(tb_json *json);

#endif
