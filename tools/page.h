/* The page of `tileblas run --report` and `tileblas show`: where a program's products went, over time, by
 * routine, by shape and by reason. One file of HTML with its drawings in it, which refers to nothing outside
 * and runs no script. */
#ifndef TOOL_PAGE_H
#define TOOL_PAGE_H

#include "tools/diagnosis.h"
#include "tools/report.h"

#include <stdbool.h>

/* path NULL: to standard output. program is its words, ended with NULL; end is empty, or says what keeps the
 * counts from being whole. False when the file cannot be written; errno says why. */
bool page_write(const char *path, char **program, const report *report, const char *end,
                const diagnosis *why);

#endif
