/* What the option STATS asks for: a summary when the process ends, in words or as a line of JSON, on standard
 * error or in a file. In the file, JSON also says that the library was loaded, so that whoever reads it can tell a
 * process that ended without a word from one that the library never entered. That all happens by itself; the
 * functions are for tools/, which says the same of several processes.
 */
#ifndef TB_SUMMARY_H
#define TB_SUMMARY_H

#include "lib/reports/counters.h"
#include "lib/reports/json.h"

/* Choices of the option STATS, in their order. */
enum { TB_STATS_OFF, TB_STATS_WORDS, TB_STATS_JSON };

/* Lines by route and shape, and the reasons why calls stayed on the host; one line when there were no calls. Whether all
 * were written. */
bool tb_write_summary(int file, const tb_counts *counts);

/* The members "calls", "routes", "routines", "served" and "host_reasons". */
void tb_write_counts(tb_json *json, const tb_counts *counts);

unsigned long long tb_count_of_calls(const tb_counts *counts);

#endif
