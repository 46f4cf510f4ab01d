/* Records of what programs called (lib/reports/called.h), read into this process's own table of it. */
#ifndef TOOL_RECORD_H
#define TOOL_RECORD_H

#include "lib/reports/called.h"
#include "tools/problem.h"

#include <limits.h>
#include <stdbool.h>

typedef struct record {
    char program[PATH_MAX]; /* the first one's */
    int processes;          /* that wrote into the file */
    int cores;              /* the most that one had */
    unsigned long long left_out;
} record;

/* Adds a file's calls. False when it cannot be read, errno saying why, or is no record at all, errno being 0. Lines that
 * are none are passed over. */
bool record_read(const char *path, record *record);

/* Writes all calls that were added; false when the file cannot be written. */
bool record_write(const char *path, const record *record);

/* The arguments of a kind of call. */
problem record_problem(const tb_called *called);

#endif
