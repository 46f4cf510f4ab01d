/* A test's trials in processes of their own, each with a time that it may take at most: one that hangs is ended, and
 * has failed.
 */
#ifndef TB_CHILDREN_H
#define TB_CHILDREN_H

#include "tests/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum child_end { CHILD_RIGHT, CHILD_WRONG, CHILD_KILLED, CHILD_HUNG } child_end;

static inline const char *child_end_text(child_end end)
{
    static const char *const texts[] = {"right", "wrong", "killed", "hung"};
    return texts[end];
}

static inline child_end child_wait(pid_t child, double seconds)
{
    enum { LOOK_MICROSECONDS = 500, LAST_MICROSECONDS = 500000 };
    int status;
    for (double waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += 1e-6 * LOOK_MICROSECONDS) {
        if (waited > seconds) {
            kill(child, SIGABRT); /* for a core, where they are wanted */
            usleep(LAST_MICROSECONDS);
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return CHILD_HUNG;
        }
        usleep(LOOK_MICROSECONDS);
    }
    if (!WIFEXITED(status))
        return CHILD_KILLED;
    return WEXITSTATUS(status) == EXIT_SUCCESS ? CHILD_RIGHT : CHILD_WRONG;
}

/* How run ended, in a process of its own; its checks count there alone. */
static inline child_end child_run(void (*run)(void *), void *argument, double seconds)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        atomic_store(&check_failures, 0);
        run(argument);
        fflush(stdout);
        _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return child_wait(child, seconds);
}

#endif
