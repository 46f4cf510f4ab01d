/* Operations of the simulated device that fail, one after the other, each in a child of its own: what the program finds is right all the same.
 *
 * Included behind what says what a trial is, how it is tried and described, and where the device is forced (known_qr.h).
 */
#ifndef TB_FAILING_TRIALS_H
#define TB_FAILING_TRIALS_H

#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"

#include <sys/mman.h>

typedef struct failing {
    trial trial;
    const char *class, *failure;
    bool in_pieces; /* what lies in ordinary memory is copied so: each of these fails */
} failing;

/* Shared with the child: operations of the class that fail, and failures. */
static long *operations, *failures;

static inline void begin_failing(void)
{
    operations =
        mmap(NULL, 2 * sizeof *operations, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failures = operations + 1;
}

static inline void fail_once(void *argument)
{
    const failing *f = argument;
    force_device();
    tileblas_set_option("PINNED_MEMORY", "1"); /* columns come back in some slots */
    if (f->in_pieces)
        sim_set("PAGEABLE", "0");
    sim_set("FAIL", f->trial.script);
    try(&f->trial);
    *operations = sim_operations(f->class);
    *failures = sim_failures("any");
}

/* One operation of a class, of all that there are: the last ones, which bring columns back, are looked at more closely. */
static inline void fail_everywhere(failing f)
{
    enum { CLOSELY = 40, CHILDREN = 16, APART = 4, CHILD_SECONDS = 60 };
    check_random random = {seed};
    char text[240];
    f.trial.script = "";
    describe(&f.trial, text);
    const child_end whole = child_run(fail_once, &f, CHILD_SECONDS);
    const long all = *operations;
    CHECK(whole == CHILD_RIGHT && all > 0, "%s, %ld operations: %s", text, all, child_end_text(whole));
    for (long operation = 1; operation <= all;
         operation += check_between(&random, 1,
                                    operation < all - CLOSELY ? 1 + 2 * all / CHILDREN
                                    : f.in_pieces             ? 1
                                                              : APART)) {
        char script[40];
        snprintf(script, sizeof script, "%s:%ld=%s", f.class, operation, f.failure);
        f.trial.script = script;
        const child_end end = child_run(fail_once, &f, CHILD_SECONDS);
        /* How often it is asked whether columns have come back differs from run to run. */
        CHECK(end == CHILD_RIGHT && (*failures > 0 || *operations < operation), "%s, %s: %s, %ld failures",
              text, script, child_end_text(end), *failures);
    }
}

#endif
