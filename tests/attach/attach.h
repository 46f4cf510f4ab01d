/* What attach.c and meanwhile.c share: programs that open TILEBLAS and run a scenario,
 *
 *   attach|meanwhile SCENARIO TILEBLAS MODULE BLAS [MODULE BLAS]
 *
 * Modules (caller.c) are linked with their BLAS (tests/abi/fixture_blas.c) and opened RTLD_LOCAL and
 * RTLD_DEEPBIND. TILEBLAS_ROUTE says where products are to go.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include "tests/attach/process.h"

#include <unistd.h>

static library tileblas;
static const char *library_path;
static char **modules; /* and their BLAS */

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

typedef struct scenario {
    const char *name;
    void (*run)(void);
} scenario;

/* main returns this. */
static inline int run_scenario(int argc, char **argv, const scenario *scenarios, size_t count)
{
    if (argc < 5)
        return 2;
    library_path = argv[2];
    tileblas = open_library(library_path);
    modules = argv + 3;
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0)
            scenarios[i].run();
    return check_result();
}

#endif
