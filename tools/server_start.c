/* A server in this process, or in the background: a process of a session of its own, which nobody waits for. */
#include "lib/machine/device_state.h"
#include "lib/process/clock.h"
#include "lib/serving/greeting.h"
#include "lib/user/options.h"
#include "tools/server.h"
#include "tools/server_again.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long one that runs is asked for an answer; and how often, where it is still being started by somebody else. */
enum { ANSWER_MILLISECONDS = 2000, ASKS = 30, ASK_AGAIN_MILLISECONDS = 200 };

/* ---- Serving ------------------------------------------------------------------------------------------------ */

static const char *reason(tb_server_end end, const tb_server_options *options)
{
    switch (end) {
    case TB_SERVER_STOPPED:
        break;
    case TB_SERVER_IS_THERE_ALREADY:
        return "there is a server already";
    case TB_SERVER_HAS_NO_DEVICE:
        return options->devices != 0 ? "none of those GPUs can be had" : tb_why_no_device();
    case TB_SERVER_HAS_NO_SOCKET:
        return options->path ? "its socket cannot be made there"
                             : "there is no folder for its socket that is the user's alone";
    case TB_SERVER_IS_HANDED_ANOTHER:
        return "what it was handed is not one listening socket of the type SEQPACKET";
    case TB_SERVER_LOST_DEVICE:
        return "the device was lost";
    }
    return "it was told to end";
}

/* The server itself is no client of another one, and waits for its devices. */
static tb_server_end serve(const tb_server_options *options)
{
    tb_set_option("SERVER", "never");
    tb_set_option("START", "wait");
    const bool is_watched_over = tool_is_watched_over();
    const double began = tb_seconds();
    const tb_server_end end = tb_serve(options);
    if (end == TB_SERVER_LOST_DEVICE && !is_watched_over)
        tool_serve_again(options, began);
    return end;
}

static void say_ready(const char *device_name)
{
    tool_say("ready: %s\n", device_name);
    fflush(stdout);
}

int server_serve(tb_server_options options)
{
    options.when_ready = say_ready;
    const tb_server_end end = serve(&options);
    if (end == TB_SERVER_STOPPED)
        return TOOL_OK;
    tool_complain("serve", "%s", reason(end, &options));
    return TOOL_FAILED;
}

/* ---- In the background -------------------------------------------------------------------------------------- */

/* What the server tells who has started it, in one piece. */
typedef struct outcome {
    bool is_ready;
    tb_server_end end; /* if it is not ready */
    char reason[256];
} outcome;

/* Of the server's process: behind its standard files. */
enum { OUTCOME_FILE = STDERR_FILENO + 1 };

static void tell(const outcome *outcome)
{
    (void)!write(OUTCOME_FILE, outcome, sizeof *outcome);
    close(OUTCOME_FILE);
}

static void silence(int file)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, file);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

/* Until now warnings of its start have gone to the terminal. It keeps no folder busy, either. */
static void become_quiet(const char *device_name)
{
    (void)device_name;
    tell(&(outcome){.is_ready = true});
    silence(STDERR_FILENO);
    (void)!chdir("/");
}

/* Nothing that whoever has started it has open stays open here: a pipe's reader would wait for this process. */
static void leave_files(int outcome_file)
{
    dup2(outcome_file, OUTCOME_FILE);
    close_range(OUTCOME_FILE + 1, ~0U, 0);
    silence(STDIN_FILENO);
    silence(STDOUT_FILENO);
}

static _Noreturn void be_server(tb_server_options options, int outcome_file)
{
    leave_files(outcome_file);
    options.when_ready = become_quiet;
    const tb_server_end end = serve(&options);
    outcome ended = {.end = end};
    snprintf(ended.reason, sizeof ended.reason, "%s", reason(end, &options));
    if (fcntl(OUTCOME_FILE, F_GETFD) >= 0)
        tell(&ended);
    tb_set_option("STATS", "0");
    exit(end == TB_SERVER_STOPPED ? TOOL_OK : TOOL_FAILED);
}

/* The server is the child of a child that ends at once, so that whoever goes on here has none to wait for. */
static outcome start_in_background(const tb_server_options *options)
{
    outcome told = {.end = TB_SERVER_STOPPED, .reason = "it ended before it was ready"};
    int ends[2];
    pid_t child;
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        snprintf(told.reason, sizeof told.reason, "%s", strerror(errno));
        return told;
    }
    if (child == 0) {
        setsid();
        if (fork() == 0)
            be_server(*options, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    ssize_t length;
    outcome read_one;
    while ((length = read(ends[0], &read_one, sizeof read_one)) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    return length == sizeof read_one ? read_one : told;
}

/* One that somebody else has begun to start. */
static bool comes_to_answer(void)
{
    tb_welcome status;
    for (int i = 0; i < ASKS; i++) {
        if (tb_ask_status(&status, ANSWER_MILLISECONDS))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = ASK_AGAIN_MILLISECONDS * 1000000L}, NULL);
    }
    return false;
}

int server_start(const char *subcommand, tb_server_options options)
{
    tb_welcome status;
    if (tb_ask_status(&status, ANSWER_MILLISECONDS))
        return TOOL_OK;
    const outcome told = start_in_background(&options);
    if (told.is_ready || (told.end == TB_SERVER_IS_THERE_ALREADY && comes_to_answer()))
        return TOOL_OK;
    if (told.end == TB_SERVER_IS_THERE_ALREADY)
        tool_complain(subcommand, "there is a server already, but %s", tb_why_no_server());
    else
        tool_complain(subcommand, "no server was started: %s", told.reason);
    return TOOL_FAILED;
}
