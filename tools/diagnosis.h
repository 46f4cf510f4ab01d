/* Why calls of routines that are taken over did not arrive, all of them or those of some library: what can be seen from
 * outside, in sentences. */
#ifndef TOOL_DIAGNOSIS_H
#define TOOL_DIAGNOSIS_H

#include "tools/report.h"

#include <limits.h>

#define DIAGNOSIS_MOST 8

typedef struct diagnosis {
    char sentences[DIAGNOSIS_MOST][3 * PATH_MAX];
    int count; /* each sentence once */
} diagnosis;

/* program is the path of what was started. The most telling findings come first. */
void diagnose(const char *program, const report *report, diagnosis *diagnosis);

#endif
