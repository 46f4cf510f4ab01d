#include "tools/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tb_tally read_tally(const json_value *members)
{
    return (tb_tally){
        .calls = (unsigned long long)json_number_of(members, "calls"),
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
    const json_value *reasons = json_member(event, "host_reasons");
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
        sum->host_reasons[reason] += (unsigned long long)json_number_of(reasons, tb_reason_text(reason));
}

static bool is_event(const json_value *event, const char *name)
{
    return strcmp(json_text_of(event, "event"), name) == 0;
}

static const json_value *last_event(const report *report, pid_t process)
{
    for (size_t i = report->event_count; i > 0; i--)
        if ((pid_t)json_number_of(report->events[i - 1], "pid") == process)
            return report->events[i - 1];
    return NULL;
}

bool report_entered(const report *report, pid_t process)
{
    return last_event(report, process) != NULL;
}

bool report_ended(const report *report, pid_t process)
{
    const json_value *event = last_event(report, process);
    return event && is_event(event, "exit");
}

/* Of a process that has not ended the last report stands for all. */
static bool is_latest(const report *report, const json_value *event)
{
    return is_event(event, "now") && last_event(report, (pid_t)json_number_of(event, "pid")) == event;
}

bool report_takes(const report *report, const json_value *event)
{
    return is_event(event, "exit") || is_latest(report, event);
}

int report_silent(const report *report)
{
    int silent = 0;
    for (size_t i = 0; i < report->event_count; i++)
        silent += is_event(report->events[i], "load") &&
                  last_event(report, (pid_t)json_number_of(report->events[i], "pid")) == report->events[i];
    return silent;
}

/* A process that is linked with TileBLAS besides has two of it, and each reports. */
static void take_event(report *report, json_value *event)
{
    if (is_event(event, "load"))
        report->was_loaded = true;
    if (is_event(event, "exit")) {
        report->processes += !report_ended(report, (pid_t)json_number_of(event, "pid"));
        add_counts(&report->counts, event);
    }
    report->events[report->event_count++] = event;
}

static void take_latest(report *report)
{
    for (size_t i = 0; i < report->event_count; i++)
        if (is_latest(report, report->events[i])) {
            report->processes++;
            add_counts(&report->counts, report->events[i]);
        }
}

/* Empty when there is no such file: no process wrote to it. NULL when memory is out. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 1);
    size_t capacity = 1;
    /* Up to a byte that no file of ours has: the whole file. */
    if (text && file && getdelim(&text, &capacity, '\0', file) < 0 && ferror(file))
        text[0] = '\0';
    if (file)
        fclose(file);
    return text;
}

bool report_read(const char *path, report *report)
{
    *report = (struct report){.text = read_file(path)};
    if (!report->text)
        return false;
    size_t lines = 1;
    for (const char *c = report->text; *c; c++)
        lines += *c == '\n';
    report->events = calloc(lines, sizeof *report->events);
    if (!report->events)
        return false;
    char *rest = report->text, *line;
    while ((line = strsep(&rest, "\n"))) {
        json_value *event = *line ? json_read(line) : NULL;
        if (event)
            take_event(report, event);
    }
    take_latest(report);
    return true;
}

void report_free(report *report)
{
    for (size_t i = 0; i < report->event_count; i++)
        json_free(report->events[i]);
    free(report->events);
    free(report->text);
}
