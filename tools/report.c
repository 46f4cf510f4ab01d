#include "tools/report.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tb_tally read_tally(const json_value *members)
{
    return (tb_tally){
        .calls = (unsigned long long)json_integer_of(members, "calls", INT64_MAX),
        .flop = json_number_of(members, "flop"),
        .seconds = json_number_of(members, "seconds"),
        .link_bytes = json_number_of(members, "link_bytes"),
        .won_seconds = json_number_of(members, "won_seconds"),
    };
}

static void add_counts(tb_counts *sum, const json_value *event)
{
    const json_value *routes = json_member(event, "routes");
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const json_value *shapes = json_member(json_member(routes, tb_route_text(route)), "shapes");
        for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++) {
            tb_tally amount = read_tally(json_member(shapes, tb_shape_text(shape)));
            tb_add_tally(&sum->tallies[route][shape], &amount);
        }
    }
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const json_value *of_routine =
            json_member(json_member(event, "routines"), tb_routine_rows[routine].name);
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
            tb_tally amount = read_tally(json_member(of_routine, tb_route_text(route)));
            tb_add_tally(&sum->routines[routine][route], &amount);
        }
    }
    const tb_tally served = read_tally(json_member(event, "served"));
    tb_add_tally(&sum->served, &served);
    const json_value *reasons = json_member(event, "host_reasons");
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
        sum->host_reasons[reason] +=
            (unsigned long long)json_integer_of(reasons, tb_reason_text(reason), INT64_MAX);
}

static bool is_event(const report_event *event, const char *name)
{
    return strcmp(json_text_of(event->value, "event"), name) == 0;
}

static const report_event *last_event(const report *report, pid_t process)
{
    for (size_t i = report->event_count; i > 0; i--)
        if (report->events[i - 1].process == process)
            return &report->events[i - 1];
    return NULL;
}

bool report_entered(const report *report, pid_t process)
{
    return last_event(report, process) != NULL;
}

bool report_ended(const report *report, pid_t process)
{
    const report_event *event = last_event(report, process);
    return event && is_event(event, "exit");
}

/* The last report of a process that has not ended stands for all. */
bool report_takes(const report_event *event)
{
    return is_event(event, "exit") || (event->is_last && is_event(event, "now"));
}

int report_silent(const report *report)
{
    int silent = 0;
    for (size_t i = 0; i < report->event_count; i++)
        silent += report->events[i].is_last && is_event(&report->events[i], "load");
    return silent;
}

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* Zeros end lines, and stand for nothing: machines that append to a file of a network's at a time leave gaps of them. */
static bool read_lines(FILE *file, FILE *text)
{
    char *part = NULL;
    size_t capacity = 0;
    bool is_kept = true;
    for (ssize_t length; is_kept && (length = getdelim(&part, &capacity, '\0', file)) > 0;) {
        const bool is_empty = length == 1 && !*part;
        if (part[length - 1] == '\0')
            part[length - 1] = '\n';
        is_kept = is_empty || fwrite(part, 1, (size_t)length, text) == (size_t)length;
    }
    free(part);
    return is_kept && (errno != ENOMEM || feof(file));
}

/* Empty when there is no such file: no process wrote to it. NULL when memory is out. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size;
    FILE *kept = open_memstream(&text, &size);
    errno = 0;
    bool is_whole = kept && (!file || read_lines(file, kept));
    if (kept && fclose(kept) != 0)
        is_whole = false;
    if (file)
        fclose(file);
    if (!is_whole) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool read_events(report *report)
{
    size_t lines = 1;
    for (const char *c = report->text; *c; c++)
        lines += *c == '\n';
    report->events = calloc(lines, sizeof *report->events);
    if (!report->events)
        return false;
    char *rest = report->text, *line;
    while ((line = strsep(&rest, "\n"))) {
        json_value *value = *line ? json_read(line) : NULL;
        if (value)
            report->events[report->event_count++] =
                (report_event){.value = value, .process = (pid_t)json_integer_of(value, "pid", INT32_MAX)};
    }
    return true;
}

/* Orders events by process, each one's as they were written. */
static int compare_events(const void *left, const void *right)
{
    const report_event *a = *(report_event *const *)left, *b = *(report_event *const *)right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a > b) - (a < b);
}

/* A process that is linked with TileBLAS besides has two of it, and each reports its end: the second one is of no
 * further process. */
static bool count_processes(report *report)
{
    const size_t count = report->event_count;
    report_event **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &report->events[i];
    qsort(sorted, count, sizeof *sorted, compare_events);
    for (size_t i = 0; i < count; i++) {
        const report_event *before =
            i > 0 && sorted[i - 1]->process == sorted[i]->process ? sorted[i - 1] : NULL;
        sorted[i]->is_last = i + 1 == count || sorted[i + 1]->process != sorted[i]->process;
        report->processes +=
            report_takes(sorted[i]) && !(before && is_event(before, "exit") && is_event(sorted[i], "exit"));
    }
    free(sorted);
    return true;
}

bool report_read(const char *path, report *report)
{
    *report = (struct report){.text = read_file(path)};
    if (!report->text || !read_events(report) || !count_processes(report))
        return false;
    for (size_t i = 0; i < report->event_count; i++) {
        const report_event *event = &report->events[i];
        report->was_loaded = report->was_loaded || is_event(event, "load");
        if (report_takes(event))
            add_counts(&report->counts, event->value);
    }
    return true;
}

void report_free(report *report)
{
    for (size_t i = 0; i < report->event_count; i++)
        json_free(report->events[i].value);
    free(report->events);
    free(report->text);
}
