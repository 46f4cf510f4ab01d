#include "lib/reports/summary.h"

#include "include/tileblas.h"
#include "lib/reports/bindings.h"
#include "lib/process/c_locale.h"
#include "lib/process/callers_state.h"
#include "lib/user/append.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/reports/timeline.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- In words ----------------------------------------------------------------------------------------- */

static bool write_tally(int file, const char *indent, const char *name, const tb_tally *tally)
{
    char link[64] = "", won[80] = "";
    locale_t previous = tb_enter_c_locale();
    if (tally->link_bytes > 0)
        snprintf(link, sizeof link, ", %.1f MB over the link", 1e-6 * tally->link_bytes);
    if (tally->won_seconds != 0)
        snprintf(won, sizeof won, ", %.3f s %s against the forecast for the host",
                 tally->won_seconds > 0 ? tally->won_seconds : -tally->won_seconds,
                 tally->won_seconds > 0 ? "won" : "lost");
    tb_leave_c_locale(previous);
    return tb_log_to(file, "%s%s %llu calls, %.3f GFLOP, %.3f s%s%s", indent, name, tally->calls,
                     1e-9 * tally->flop, tally->seconds, link, won);
}

static bool write_reasons(int file, const tb_counts *counts)
{
    char text[512];
    size_t used = 0;
    for (tb_reason reason = 0; reason < TB_REASON_COUNT && used < sizeof text; reason++)
        if (counts->host_reasons[reason] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %llu", used ? ", " : "",
                                     tb_reason_text(reason), counts->host_reasons[reason]);
    return used == 0 || tb_log_to(file, "stayed on the host: %s", text);
}

unsigned long long tb_count_of_calls(const tb_counts *counts)
{
    unsigned long long calls = 0;
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        calls += tb_route_tally(counts, route).calls;
    return calls;
}

bool tb_write_summary(int file, const tb_counts *counts)
{
    bool is_written = true;
    if (tb_count_of_calls(counts) == 0)
        return tb_log_to(file, "nothing was intercepted: no matrix product arrived here");
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        tb_tally total = tb_route_tally(counts, route);
        is_written &= write_tally(file, "", tb_route_text(route), &total);
        for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
            if (counts->tallies[route][shape].calls > 0)
                is_written &= write_tally(file, "  ", tb_shape_text(shape), &counts->tallies[route][shape]);
    }
    if (counts->served.calls > 0)
        is_written &= write_tally(file, "  ", "served", &counts->served);
    return write_reasons(file, counts) && is_written;
}

/* ---- As JSON ------------------------------------------------------------------------------------------ */

static void start_event(tb_json *json, const char *event)
{
    char program[PATH_MAX];
    tb_program_path(program, sizeof program);
    tb_json_open(json, NULL, '{');
    tb_json_text(json, "tileblas", TB_VERSION);
    tb_json_text(json, "event", event);
    tb_json_integer(json, "pid", getpid());
    tb_json_text(json, "program", program);
}

static void write_members(tb_json *json, const tb_tally *tally)
{
    tb_json_integer(json, "calls", (long long)tally->calls);
    tb_json_number(json, "flop", tally->flop);
    tb_json_number(json, "seconds", tally->seconds);
    tb_json_number(json, "link_bytes", tally->link_bytes);
    tb_json_number(json, "won_seconds", tally->won_seconds);
}

/* A line of a route or shape, or of what was served; left out where it had no calls. */
static void write_object(tb_json *json, const char *key, const tb_tally *tally)
{
    if (tally->calls == 0)
        return;
    tb_json_open(json, key, '{');
    write_members(json, tally);
    tb_json_close(json, '}');
}

void tb_write_counts(tb_json *json, const tb_counts *counts)
{
    tb_json_integer(json, "calls", (long long)tb_count_of_calls(counts));
    tb_json_open(json, "routes", '{');
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        tb_tally total = tb_route_tally(counts, route);
        tb_json_open(json, tb_route_text(route), '{');
        write_members(json, &total);
        tb_json_open(json, "shapes", '{');
        for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
            write_object(json, tb_shape_text(shape), &counts->tallies[route][shape]);
        tb_json_close(json, '}');
        tb_json_close(json, '}');
    }
    tb_json_close(json, '}');
    tb_json_open(json, "routines", '{');
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        tb_json_open(json, tb_routine_rows[routine].name, '{');
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
            write_object(json, tb_route_text(route), &counts->routines[routine][route]);
        tb_json_close(json, '}');
    }
    tb_json_close(json, '}');
    write_object(json, "served", &counts->served);
    tb_json_open(json, "host_reasons", '{');
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
        if (counts->host_reasons[reason] > 0)
            tb_json_integer(json, tb_reason_text(reason), (long long)counts->host_reasons[reason]);
    tb_json_close(json, '}');
}

/* Ends the event and writes it in one piece: lines of several processes do not mix. */
static bool finish_event(tb_json *json, int file)
{
    bool is_written = false;
    tb_json_close(json, '}');
    if (!json->failed) {
        json->text[json->length] = '\n';
        is_written = tb_write_whole(file, json->text, json->length + 1);
    }
    free(json->text);
    return is_written;
}

/* What has been counted so far. Whether the line was written. */
static bool write_counted(int file, const char *event, bool with_timeline, bool with_bindings)
{
    tb_counts counts;
    tb_json json = {0};
    tb_read_counts(&counts);
    start_event(&json, event);
    tb_write_counts(&json, &counts);
    if (with_timeline)
        tb_write_timeline(&json);
    if (with_bindings)
        tb_write_bindings(&json);
    return finish_event(&json, file);
}

/* ---- When --------------------------------------------------------------------------------------------- */

static bool write_loaded(int file)
{
    tb_json json = {0};
    start_event(&json, "load");
    return finish_event(&json, file);
}

/* The options are left unread until the first call: the program may still set them in its environment. */
static void say_loaded(void)
{
    const char *form = secure_getenv("TILEBLAS_STATS"), *path = secure_getenv("TILEBLAS_STATS_FILE");
    if (form && strcmp(form, "json") == 0 && path && *path)
        tb_append(path, write_loaded);
}

__attribute__((constructor)) static void begin(void)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    say_loaded();
    tb_put_state_back(&state);
}

static bool write_as_asked(int file)
{
    const bool in_file = *tb_option_text(TB_OPTION_STATS_FILE);
    tb_counts counts;
    if (tb_option_value(TB_OPTION_STATS) == TB_STATS_JSON)
        return write_counted(file, "exit", in_file, in_file);
    tb_read_counts(&counts);
    return tb_write_summary(file, &counts);
}

static void summarize(void)
{
    const char *path = tb_option_text(TB_OPTION_STATS_FILE);
    if (tb_option_value(TB_OPTION_STATS) == TB_STATS_OFF)
        return;
    if (!*path)
        write_as_asked(STDERR_FILENO);
    else if (!tb_append(path, write_as_asked))
        tb_log("TILEBLAS_STATS_FILE: %s cannot be written", path);
}

__attribute__((destructor)) static void end(void)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    summarize();
    tb_put_state_back(&state);
}

static bool write_until_now(int file)
{
    return write_counted(file, "now", true, false);
}

int tileblas_report(const char *path)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    tb_keep_timeline();
    const bool is_done = !path || tb_append(path, write_until_now);
    tb_put_state_back(&state);
    return is_done ? 0 : -1;
}
