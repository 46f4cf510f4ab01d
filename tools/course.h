/* The part of a page that says when: threads that wait for their products, and the load of the link, as charts. The timelines are
 * those of lib/reports/timeline.h, of all processes on one scale.
 */
#ifndef TOOL_COURSE_H
#define TOOL_COURSE_H

#include "tools/report.h"

#include <stdio.h>

/* Writes nothing where no timeline can be shown. */
void course_write(FILE *page, const report *report);

#endif
