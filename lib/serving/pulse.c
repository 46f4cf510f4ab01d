#include "lib/serving/pulse.h"

#include "lib/process/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A server whose heartbeat stands still for so long is looked at: where it has been stopped, or nobody can tell, it is taken for gone.
 * One that only waits for a core of a busy machine is given longer. */
#define STILL_SECONDS 0.05
#define SLOW_SECONDS  1.0

#define ALONE_SECONDS 10.0

static _Atomic(double) left_alone_until;

double tb_server_is_left_alone_until(void)
{
    return atomic_load(&left_alone_until);
}

void tb_leave_server_alone(void)
{
    atomic_store(&left_alone_until, tb_seconds() + ALONE_SECONDS);
}

/* As the kernel has it: a letter; 'X': it has ended, and '?': nobody can tell. */
static char state_of(pid_t process)
{
    char path[32], text[256] = "";
    if (process <= 0)
        return '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? 'X' : '?';
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = '\0';
    close(file);
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] != '\0' ? name_end[2] : '?';
}

/* One that is running, or ready to run, or asleep until something happens, only waits for a core. One that is ending has no
 * heartbeat, and is not left alone. */
static bool is_alive_though_still(pid_t process, double still)
{
    const char state = state_of(process);
    if (still < SLOW_SECONDS && strchr("RSD", state))
        return true;
    if (state != 'X' && state != 'Z')
        tb_leave_server_alone();
    return false;
}

bool tb_has_pulse(tb_pulse *pulse, uint32_t heartbeat, pid_t process)
{
    const double now = tb_seconds();
    if (pulse->since == 0 || heartbeat != pulse->heartbeat)
        *pulse = (tb_pulse){.heartbeat = heartbeat, .since = now};
    const double still = now - pulse->since;
    return still < STILL_SECONDS || is_alive_though_still(process, still);
}
