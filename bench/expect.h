/* What ends a benchmark that cannot go on: for programs that are not linked with measure.c. */
#ifndef BENCH_EXPECT_H
#define BENCH_EXPECT_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Unless the condition holds, says what is wrong, and ends the program. */
static inline void bench_expect(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

#endif
