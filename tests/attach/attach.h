/* What the scenarios of attach.c and meanwhile.c share. */
#ifndef ATTACH_H
#define ATTACH_H

#include "tests/attach/process.h"

#include <unistd.h>

extern library tileblas;
extern char **modules; /* and their BLAS */

/* References of a module: two by its procedure linkage table or its global offset table, and two in its data. */
enum { REFERENCES = 4 };

static inline module open_first(void)
{
    return open_module(modules[0], modules[1], ON_ITS_OWN);
}

static inline void check_number(int count, int expected, const char *what)
{
    CHECK(count == expected, "%s %d references instead of %d", what, count, expected);
}

/* Longer than a tick of the coarse clock. */
static inline void let_time_pass(void)
{
    usleep(30000);
}

/* Of meanwhile.c. */
void followed_without_thread(void);
void followed_fork(void);
void forked_when_binding(void);
void detached_when_binding(void);
void moved_meanwhile(void);
void followed_constructor(void);

#endif
