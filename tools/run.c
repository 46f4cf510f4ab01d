/* `tileblas run`: a program with TileBLAS preloaded, and a summary of what became of its calls. To the program and
 * to whoever waits for it `run` is as good as not there: standard input and output, signals and the exit status
 * pass through.
 */
#include "lib/serving/greeting.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/reports/summary.h"
#include "tools/diagnosis.h"
#include "tools/page.h"
#include "tools/program_file.h"
#include "tools/record.h"
#include "tools/report.h"
#include "tools/server.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: tileblas run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs the program with libtileblas-preload.so preloaded, behind what LD_PRELOAD already names, and ends "
    "as the\n"
    "program ends. Where its products in float32 went is said on standard error, or why none arrived.\n"
    "\n"
    "  --json          the summary as one line of JSON\n"
    "  --output FILE   the summary goes to the file\n"
    "  --report FILE   a page of HTML besides, with where products went over time, by shape and why\n"
    "  --record FILE   what was called besides, for `tileblas forecast`: shapes and times, no data\n"
    "  --serve         start `tileblas serve` where none answers, and have it compute what gains\n"
    "  --preload FILE  the library to preload, instead of the one that belongs to this command\n"
    "  --help          this\n"
    "\n"
    "Exit status: the program's own; when a signal ended the program, the same signal ends run. 125 when run "
    "itself\n"
    "failed, 126 when the program was found and could not be started, 127 when it was not found.\n";

typedef struct settings {
    bool json, is_served;
    const char *output, *preload, *page, *record;
    char **program;
} settings;

/* ---- Starting it -------------------------------------------------------------------------------------- */

/* What a terminal sends, it sends to the program as well; what somebody sent to this process is passed on. No
 * handlers: these signals, and SIGCHLD, are blocked and waited for. */
static const int passed_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

/* How the program would have found signals, had `run` not been there. */
typedef struct inherited {
    sigset_t mask;
    struct sigaction on_child;
} inherited;

static sigset_t awaited;

static inherited take_signals_over(void)
{
    inherited before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_signals / sizeof *passed_signals; i++) {
        struct sigaction action;
        sigaction(passed_signals[i], NULL, &action);
        if (action.sa_handler != SIG_IGN) /* as under nohup: it stays ignored */
            sigaddset(&awaited, passed_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &awaited, &before.mask);
    /* Ignored, it would leave no status to wait for. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &before.on_child);
    return before;
}

static void give_signals_back(const inherited *before)
{
    sigaction(SIGCHLD, &before->on_child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* Where the option names a server, that one; else the user's. */
static bool set_server(bool is_wanted)
{
    return !is_wanted || tb_option_value(TB_OPTION_SERVER) == TB_SERVER_PATH ||
           setenv("TILEBLAS_SERVER", "auto", 1) == 0;
}

static bool set_environment(const settings *settings, const char *library, const char *report_path,
                            const char *record_path)
{
    const char *before = getenv("LD_PRELOAD");
    char *both = NULL;
    if (asprintf(&both, "%s%s%s", before ? before : "", before && *before ? ":" : "", library) < 0)
        return false;
    bool set = setenv("LD_PRELOAD", both, 1) == 0 && setenv("TILEBLAS_STATS", "json", 1) == 0 &&
               setenv("TILEBLAS_STATS_FILE", report_path, 1) == 0 &&
               (!record_path || setenv("TILEBLAS_RECORD", record_path, 1) == 0) &&
               set_server(settings->is_served);
    free(both);
    return set;
}

/* 0 and the process, or the error that kept the program from starting; child is -1 when there is none at all. */
static int start(const settings *settings, const char *library, const char *report_path,
                 const char *record_path, pid_t *child)
{
    int failure[2], error = 0;
    *child = -1;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return errno;
    inherited before = take_signals_over();
    *child = fork();
    if (*child == 0) {
        if (set_environment(settings, library, report_path, record_path)) {
            give_signals_back(&before);
            execvp(settings->program[0], settings->program);
        }
        error = errno;
        ssize_t written = write(failure[1], &error, sizeof error);
        (void)written;
        _exit(TOOL_CANNOT_EXECUTE);
    }
    if (*child < 0)
        error = errno;
    close(failure[1]);
    while (*child > 0 && read(failure[0], &error, sizeof error) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    return error;
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        siginfo_t info;
        int signal = sigwaitinfo(&awaited, &info);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
            kill(child, signal);
    }
    return status;
}

/* ---- Summing up --------------------------------------------------------------------------------------- */

/* What keeps the counts from being whole; empty when nothing does. */
static void describe_end(const report *report, pid_t child, int status, char *text, size_t size)
{
    *text = '\0';
    if (!report->was_loaded || report_ended(report, child))
        return;
    if (WIFSIGNALED(status))
        snprintf(text, size, "the program was ended by signal %d (%s) and could not report its calls",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (report_entered(report, child))
        snprintf(text, size, "the program ended without reporting its calls, by _exit or as another program");
    else
        snprintf(text, size, "the library was not loaded into the program itself, only into its children");
}

static bool write_json(int file, const settings *settings, const report *report, int status, const char *end,
                       const diagnosis *why)
{
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "tileblas", TB_VERSION);
    tb_json_open(&json, "command", '[');
    for (char **word = settings->program; *word; word++)
        tb_json_text(&json, NULL, *word);
    tb_json_close(&json, ']');
    if (WIFSIGNALED(status))
        tb_json_integer(&json, "signal", WTERMSIG(status));
    else
        tb_json_integer(&json, "status", WEXITSTATUS(status));
    tb_json_integer(&json, "processes", report->processes);
    tb_json_boolean(&json, "loaded", report->was_loaded);
    tb_json_boolean(&json, "complete", !*end && report->was_loaded);
    tb_write_counts(&json, &report->counts);
    tb_json_open(&json, "remarks", '[');
    if (*end)
        tb_json_text(&json, NULL, end);
    for (int i = 0; i < why->count; i++)
        tb_json_text(&json, NULL, why->sentences[i]);
    tb_json_close(&json, ']');
    tb_json_close(&json, '}');
    const bool is_written = !json.failed && dprintf(file, "%s\n", json.text) > 0;
    free(json.text);
    return is_written;
}

static bool write_words(int file, const report *report, const char *end, const diagnosis *why)
{
    bool is_written = true;
    if (!*end || tb_count_of_calls(&report->counts) > 0)
        is_written = tb_write_summary(file, &report->counts);
    if (*end)
        is_written &= tb_log_to(file, "%s", end);
    for (int i = 0; i < why->count; i++)
        is_written &= tb_log_to(file, "%s", why->sentences[i]);
    return is_written;
}

static void sum_up(const settings *settings, const char *report_path, pid_t child, int status)
{
    static diagnosis why;
    report report;
    char program[PATH_MAX], end[256];
    if (!report_read(report_path, &report)) {
        tool_complain("run", "out of memory for the report");
        report_free(&report);
        return;
    }
    int file = STDERR_FILENO;
    if (settings->output)
        file = open(settings->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        tool_complain("run", "%s: %s", settings->output, strerror(errno));
        file = STDERR_FILENO;
    }
    describe_end(&report, child, status, end, sizeof end);
    if (program_find(settings->program[0], program, sizeof program))
        diagnose(program, &report, &why);
    const bool is_written = settings->json ? write_json(file, settings, &report, status, end, &why)
                                           : write_words(file, &report, end, &why);
    if (!is_written)
        tool_complain("run", "%s: %s", settings->output ? settings->output : "standard error",
                      strerror(errno));
    if (file != STDERR_FILENO)
        close(file);
    if (settings->page && !page_write(settings->page, settings->program, &report, end, &why))
        tool_complain("run", "%s: %s", settings->page, strerror(errno));
    report_free(&report);
}

/* Ends this process as the program ended, without a second core file. */
static int end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    sigset_t own;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &own, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

/* Makes a folder that nobody else can write to: a process that outlives the program finds nothing there to open. */
static bool make_report_folder(char *folder, size_t size)
{
    const char *parent = getenv("TMPDIR");
    return snprintf(folder, size, "%s/tileblas-run.XXXXXX", parent && *parent ? parent : "/tmp") <
               (int)size &&
           mkdtemp(folder);
}

/* What all processes called, as one record. No process has written any where nothing was called. */
static void keep_record(const char *path, const char *written)
{
    static record record;
    record_read(written, &record);
    if (!record_write(path, &record))
        tool_complain("run", "%s: %s", path, strerror(errno));
}

/* Without one the program runs all the same. */
static void start_server(void)
{
    tb_server_options options = {.idle_seconds = SERVER_IDLE_SECONDS};
    if (tb_option_value(TB_OPTION_SERVER) == TB_SERVER_PATH)
        options.path = tb_option_text(TB_OPTION_SERVER);
    (void)server_start("run", options);
}

static int run(const settings *settings)
{
    char library[PATH_MAX], folder[PATH_MAX], report_path[PATH_MAX + 8], record_path[PATH_MAX + 8];
    if (settings->preload ? !realpath(settings->preload, library)
                          : !tool_find_library("libtileblas-preload.so", library, sizeof library)) {
        tool_complain("run", "%s was not found", settings->preload ? settings->preload : library);
        return TOOL_CANNOT_RUN;
    }
    if (strpbrk(library, ": ")) {
        tool_complain("run", "%s cannot be preloaded: its path has a colon or a blank", library);
        return TOOL_CANNOT_RUN;
    }
    if (!make_report_folder(folder, sizeof folder)) {
        tool_complain("run", "no temporary folder %s could be made: %s", folder, strerror(errno));
        return TOOL_CANNOT_RUN;
    }
    if (settings->is_served)
        start_server();
    snprintf(report_path, sizeof report_path, "%s/report", folder);
    snprintf(record_path, sizeof record_path, "%s/record", folder);
    pid_t child;
    int error = start(settings, library, report_path, settings->record ? record_path : NULL, &child);
    int status = child > 0 ? wait_for(child) : 0;
    if (error == 0)
        sum_up(settings, report_path, child, status);
    else
        tool_complain("run", "%s: %s", settings->program[0], strerror(error));
    if (error == 0 && settings->record)
        keep_record(settings->record, record_path);
    unlink(report_path);
    unlink(record_path);
    rmdir(folder);
    if (error == 0)
        return end_like(status);
    return child < 0 ? TOOL_CANNOT_RUN : error == ENOENT ? TOOL_NOT_FOUND : TOOL_CANNOT_EXECUTE;
}

int tool_run(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},          {"output", required_argument, NULL, 'o'},
        {"preload", required_argument, NULL, 'p'}, {"record", required_argument, NULL, 'R'},
        {"report", required_argument, NULL, 'r'},  {"serve", no_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    settings settings = {.json = false};
    int option;
    while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1)
        switch (option) {
        case 'j':
            settings.json = true;
            break;
        case 'o':
            settings.output = optarg;
            break;
        case 'p':
            settings.preload = optarg;
            break;
        case 'r':
            settings.page = optarg;
            break;
        case 's':
            settings.is_served = true;
            break;
        case 'R':
            settings.record = optarg;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("run", "wrong option");
        }
    if (optind == argc)
        return tool_usage("run", "which program?");
    settings.program = argv + optind;
    return run(&settings);
}
