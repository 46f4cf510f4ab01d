/* Processes of one host that no launcher numbers: each takes a device that no other has, and shares products over no other
 * process's devices.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 2, NONE = -1, DEADLINE_SECONDS = 60 };

/* What a process is to do. */
typedef enum work {
    PLAIN,
    SHARES,       /* a product that all devices together would compute sooner */
    SHARES_ASKED, /* the same, the option DEVICES wanting all of them */
} work;

typedef struct process {
    pid_t pid;
    int until; /* a pipe: a byte ends it */
    int device, opened;
} process;

static char host[16];

static void set_up(work work)
{
    sim_set("HOST", host);
    sim_set("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("CALIBRATE", "0");
    if (work != PLAIN) { /* few and slow: it would gain by others */
        sim_set("MULTIPROCESSORS", "2");
        tileblas_set_option("KERNEL", "naive");
    }
    if (work == SHARES_ASKED)
        tileblas_set_option("DEVICES", "2");
}

/* The device of a first product that is shared with nobody, and how many have been opened after a second one. */
static void multiply(work work, process *found)
{
    char plan[256];
    const int size = work == PLAIN ? 100 : 500;
    CHECK(known_multiply_once(100, 90, 80, 0, 1, TB_MEMORY_HOST) == 0, "wrong");
    tileblas_last_plan(plan, sizeof plan);
    const char *device = strstr(plan, "on device ");
    found->device = device ? atoi(device + strlen("on device ")) : NONE;
    for (int call = 0; call < 2; call++)
        CHECK(known_multiply_once(size, size, size, 0, 1, TB_MEMORY_HOST) == 0, "wrong");
    /* The driver is opened, each device described, and some of them opened. */
    found->opened = (int)sim_operations("open") - 1 - DEVICES;
}

static process start(work work)
{
    process started = {0};
    int answers[2], until[2];
    char nothing;
    if (pipe(answers) != 0 || pipe(until) != 0)
        abort();
    started.pid = fork();
    if (started.pid == 0) {
        close(until[1]);
        set_up(work);
        multiply(work, &started);
        const bool is_told = write(answers[1], &started, sizeof started) == sizeof started;
        _exit(is_told && read(until[0], &nothing, 1) == 1 && atomic_load(&check_failures) == 0 ? 0 : 1);
    }
    close(answers[1]);
    close(until[0]);
    const pid_t pid = started.pid;
    CHECK(read(answers[0], &started, sizeof started) == sizeof started, "a process has not answered");
    close(answers[0]);
    started.pid = pid;
    started.until = until[1];
    return started;
}

static void end(process *process)
{
    int status = -1;
    CHECK(write(process->until, "", 1) == 1, "a process cannot be told");
    close(process->until);
    CHECK(waitpid(process->pid, &status, 0) == process->pid && status == 0, "a process ended with %d",
          status);
}

static process expect(work work, int device, int opened, const char *when)
{
    const process started = start(work);
    CHECK(started.device == device && started.opened == opened,
          "%s: device %d, of %d that are open; not %d, of %d", when, started.device, started.opened, device,
          opened);
    return started;
}

static void each_takes_its_own(void)
{
    process first = expect(PLAIN, 0, 1, "the first");
    process second = expect(PLAIN, 1, 1, "the second");
    process third = expect(PLAIN, 0, 1, "more than there are devices");
    process fourth = expect(PLAIN, 1, 1, "twice as many as there are devices");
    end(&second);
    process fifth = expect(PLAIN, 1, 1, "after the second has ended");
    end(&first), end(&third), end(&fourth), end(&fifth);
    process alone = expect(PLAIN, 0, 1, "after all have ended");
    end(&alone);
}

static void nobody_shares_others(void)
{
    process sharing = expect(SHARES, 0, 2, "alone");
    process late = expect(SHARES, 0, 1, "beside one that shares");
    end(&sharing), end(&late);
    process plain = expect(PLAIN, 0, 1, "the first");
    process beside = expect(SHARES, 1, 1, "beside another");
    process asked = expect(SHARES_ASKED, NONE, 2, "asked to share, on no device alone");
    end(&plain), end(&beside), end(&asked);
}

static void strangers_are_left_alone(void)
{
    strcpy(host, "0");
    process first = expect(PLAIN, 0, 1, "of unknown devices, the first");
    process second = expect(PLAIN, 0, 1, "of unknown devices, the second");
    end(&first), end(&second);
}

int main(void)
{
    alarm(DEADLINE_SECONDS);
    snprintf(host, sizeof host, "%d", (int)getpid());
    each_takes_its_own();
    nobody_shares_others();
    strangers_are_left_alone();
    return check_result();
}
