/* `tileblas show`: the page of `tileblas run --report`, of programs that were started otherwise: servers, ranks of a cluster, a
 * notebook that asks while it runs. They have written lines of JSON to a file (tools/report.h).
 */
#include "tools/page.h"
#include "tools/tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tileblas show FILE [--output PAGE]\n"
    "\n"
    "A page of HTML with where products went over time, by shape and why, of programs that ran with "
    "TILEBLAS_STATS=json\n"
    "and TILEBLAS_STATS_FILE=FILE, or have called tileblas_report.\n"
    "\n"
    "  --output PAGE   where it goes; standard output unless given\n"
    "  --help          this\n";

static const char *program_of(const report *report)
{
    for (size_t i = 0; i < report->event_count; i++)
        if (report_takes(&report->events[i]))
            return json_text_of(report->events[i].value, "program");
    return "";
}

static void describe_silent(const report *report, char *text, size_t size)
{
    const int silent = report_silent(report);
    *text = '\0';
    if (silent > 0)
        snprintf(text, size, "%d %s not reported any calls, or not yet", silent,
                 silent == 1 ? "process has" : "processes have");
}

static int show(const char *path, const char *output)
{
    static const diagnosis nothing;
    report report;
    char silent[128];
    int status = TOOL_FAILED;
    if (access(path, R_OK) != 0) {
        tool_complain("show", "%s: %s", path, strerror(errno));
        return TOOL_FAILED;
    }
    if (!report_read(path, &report))
        tool_complain("show", "out of memory for the report");
    else if (report.processes == 0)
        tool_complain("show", "%s: no process has reported its calls there", path);
    else {
        char *program[] = {(char *)program_of(&report), NULL};
        describe_silent(&report, silent, sizeof silent);
        if (page_write(output, program, &report, silent, &nothing))
            status = TOOL_OK;
        else
            tool_complain("show", "%s: %s", output ? output : "standard output", strerror(errno));
    }
    report_free(&report);
    return status;
}

int tool_show(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *output = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'o':
            output = optarg;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("show", "wrong option");
        }
    if (optind + 1 != argc)
        return tool_usage("show", "which file?");
    return show(argv[optind], output);
}
