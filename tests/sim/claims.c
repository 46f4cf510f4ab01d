/* Processes of one host that no launcher numbers: each takes a device that no other has, and shares products over no other
 * process's devices.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/runtime_folder.h"
#include "tests/sim/known_product.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 2, NONE = -1, DEADLINE_SECONDS = 60 };

/* What a process is to do. */
typedef enum work {
    PLAIN,
    SHARES,       /* a product that all devices together would compute sooner */
    SHARES_ASKED, /* the same, the option DEVICES wanting all of them */
    LEAVES_CHILD, /* a plain one, which has a child that outlives it */
    LEAVES_PROGRAM, /* the same, the child another program, which it has become without a fork that handlers see */
    NUMBERED,       /* a plain one, which a launcher has numbered as the last of four */
    CLOSES_FILES, /* a plain one, without standard input, output and error */
} work;

typedef struct process {
    pid_t pid;
    int until; /* a pipe: a byte ends it */
    int device, opened;
    pid_t child; /* or 0 */
} process;

static char host[16];

static bool is_shared(work work)
{
    return work == SHARES || work == SHARES_ASKED;
}

static void set_up(work work)
{
    sim_set("HOST", host);
    sim_set("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("CALIBRATE", "0");
    if (work == NUMBERED) {
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3", 1);
        setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
    }
    if (work == CLOSES_FILES)
        for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
            close(file);
    if (is_shared(work)) { /* few and slow: it would gain by others */
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
    const int size = is_shared(work) ? 500 : 100;
    CHECK(known_multiply_once(100, 90, 80, 0, 1, TB_MEMORY_HOST) == 0, "wrong");
    tileblas_last_plan(plan, sizeof plan);
    const char *device = strstr(plan, "on device ");
    found->device = device ? atoi(device + strlen("on device ")) : NONE;
    for (int call = 0; call < 2; call++)
        CHECK(known_multiply_once(size, size, size, 0, 1, TB_MEMORY_HOST) == 0, "wrong");
    /* The driver is opened, each device described, and some of them opened. */
    found->opened = (int)sim_operations("open") - 1 - DEVICES;
}

static pid_t fork_waiting(void)
{
    const pid_t child = fork();
    if (child == 0) {
        sleep(DEADLINE_SECONDS);
        _exit(0);
    }
    return child;
}

static pid_t start_program(void)
{
    extern char **environ;
    pid_t child = 0;
    CHECK(posix_spawnp(&child, "sleep", NULL, NULL, (char *[]){"sleep", "60", NULL}, environ) == 0,
          "no program can be started");
    return child;
}

static bool has_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) >= 0)
            return true;
    return false;
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
        started.child = work == LEAVES_CHILD ? fork_waiting() : work == LEAVES_PROGRAM ? start_program() : 0;
        const bool is_told = write(answers[1], &started, sizeof started) == sizeof started;
        const bool is_right =
            atomic_load(&check_failures) == 0 && (work != CLOSES_FILES || !has_standard_files());
        _exit(is_told && read(until[0], &nothing, 1) == 1 && is_right ? 0 : 1);
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

/* Children have no device. */
static void children_inherit_nothing(work work)
{
    process parent = expect(work, 0, 1, "with a child");
    process beside = expect(PLAIN, 1, 1, "beside the parent");
    end(&parent), end(&beside);
    process after = expect(PLAIN, 0, 1, "after both, beside the child");
    end(&after);
    kill(parent.child, SIGKILL);
}

/* The next file that such a process opens is its standard input. */
static void standard_files_are_left_alone(void)
{
    process without = expect(CLOSES_FILES, 0, 1, "without standard files");
    process beside = expect(PLAIN, 1, 1, "beside one without standard files");
    end(&without), end(&beside);
}

/* More ranks than devices: they take turns. What a rank has, it does not claim. */
static void ranks_take_their_numbers(void)
{
    process rank = expect(NUMBERED, 1, 1, "the last of four ranks");
    process beside = expect(PLAIN, 0, 1, "the first beside a rank");
    process next = expect(PLAIN, 1, 1, "the second beside a rank");
    end(&rank), end(&beside), end(&next);
}

static void killed_processes_claim_nothing(void)
{
    process killed = expect(PLAIN, 0, 1, "to be killed");
    kill(killed.pid, SIGKILL);
    waitpid(killed.pid, NULL, 0);
    close(killed.until);
    process after = expect(PLAIN, 0, 1, "after one that was killed");
    end(&after);
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
    const runtime_folder folder = make_runtime_folder();
    alarm(DEADLINE_SECONDS);
    snprintf(host, sizeof host, "%d", (int)getpid());
    each_takes_its_own();
    nobody_shares_others();
    children_inherit_nothing(LEAVES_CHILD);
    children_inherit_nothing(LEAVES_PROGRAM);
    standard_files_are_left_alone();
    ranks_take_their_numbers();
    killed_processes_claim_nothing();
    strangers_are_left_alone();
    remove_runtime_folder(&folder);
    return check_result();
}
