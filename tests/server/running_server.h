/* A server on the simulated device, in a process of its own, and a folder of the test's for its socket.
 *
 * Header only, for programs that are linked with the library and the simulated device.
 */
#ifndef TEST_RUNNING_SERVER_H
#define TEST_RUNNING_SERVER_H

#include "lib/serving/greeting.h"
#include "tests/runtime_folder.h"
#include "tests/sim/children.h"

#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static const char *server_command; /* the command `tileblas` on the simulated device */

static inline void server_pause(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
              NULL);
}

/* Returns when it is ready. */
static inline pid_t server_start(void)
{
    int ends[2];
    char line[128] = "";
    if (pipe(ends) != 0)
        abort();
    const pid_t server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(server_command, server_command, "serve", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    CHECK(length > 0 && strncmp(line, "ready", 5) == 0, "the server says: %s", line);
    return server;
}

static inline int server_end(pid_t server, int signal)
{
    int status = 0;
    kill(server, signal);
    kill(server, SIGCONT);
    waitpid(server, &status, 0);
    return status;
}

/* What clients hold, once that does not change: all bytes, and -1 where no server answers. */
static inline int64_t server_holds(int *clients)
{
    tb_welcome status;
    if (!tb_ask_status(&status, 5000))
        return -1;
    *clients = status.clients;
    return (int64_t)status.held_bytes[0];
}

/* Which of its programs a test is to run. */
typedef struct server_program {
    const char *name;
    void (*run)(void);
} server_program;

static inline void server_run_program(const server_program *programs, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(programs[i].name, name) != 0)
        i++;
    if (CHECK(i < count, "there is no program %s", name))
        programs[i].run();
}

#endif
