/* What the processes of a program reported through TILEBLAS_STATS_FILE: lib/reports/summary.c writes a line
 * of JSON when the library is loaded, one when a process ends, and others when it is asked to (tileblas_report).
 */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include "lib/reports/counters.h"
#include "tools/json_value.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct report_event {
    json_value *value;
    pid_t process;
    bool is_last; /* that its process wrote */
} report_event;

typedef struct report {
    char *text;
    report_event *events; /* in the order they were written */
    size_t event_count;
    tb_counts counts; /* of all processes that reported any */
    int processes;    /* that reported counts */
    bool was_loaded;  /* into any process at all */
} report;

/* False when memory is out. Lines that are no JSON, as a full disk leaves, are passed over; so is a file that is not
 * there, as no process was entered. */
bool report_read(const char *path, report *report);
void report_free(report *report);

/* Whether the process with this number was entered, and whether it reported its end. */
bool report_entered(const report *report, pid_t process);
bool report_ended(const report *report, pid_t process);

/* Whether the event's counts are among those of the report: a process's last ones are. */
bool report_takes(const report_event *event);

/* Processes that were entered and have reported no counts. */
int report_silent(const report *report);

#endif
