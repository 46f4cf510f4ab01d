#include "tools/page.h"

#include "lib/process/c_locale.h"
#include "lib/user/printable.h"
#include "lib/reports/summary.h"
#include "tools/course.h"

#include <stdio.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------------------ */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>TileBLAS: where products "
    "went</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --host: #8a8f98; --resident: #2f855a; --streamed: #2b6cb0; --rule: "
    "#8886; }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }\n"
    ".figures { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; } .figures b { display: block; font-size: "
    "1.5rem; }\n"
    "table { border-collapse: collapse; } th, td { padding: 0.15rem 0.8rem 0.15rem 0; text-align: right; }\n"
    "th { border-bottom: 1px solid var(--rule); } th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; "
    "}\n"
    "svg { width: 100%; height: auto; display: block; } svg text { font-size: 12px; fill: currentColor; }\n"
    ".axis { stroke: var(--rule); } .host { fill: var(--host); } .resident { fill: var(--resident); }\n"
    ".streamed, .link { fill: var(--streamed); } .key { display: inline-block; width: 0.8em; height: 0.8em; "
    "}\n"
    ".key.host { background: var(--host); } .key.resident { background: var(--resident); }\n"
    ".key.streamed { background: var(--streamed); }\n"
    "</style>\n</head>\n<body>\n";

/* A text of somebody else's. Controls are blanks, but for line ends. */
static void write_text(FILE *page, const char *text)
{
    while (*text) {
        char bytes[4];
        uint32_t character;
        text += tb_read_character(text, &character);
        switch (character) {
        case '&':
            fputs("&amp;", page);
            break;
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '"':
            fputs("&quot;", page);
            break;
        default:
            if (tb_is_control(character) && character != '\n')
                character = ' ';
            fwrite(bytes, 1, tb_write_character(bytes, character), page);
        }
    }
}

static void write_figure(FILE *page, const char *name, const char *format, double value)
{
    fputs("<div><b>", page);
    fprintf(page, format, value);
    fprintf(page, "</b>%s</div>\n", name);
}

/* ---- Tables -------------------------------------------------------------------------------------------------- */

static void begin_table(FILE *page, const char *title, const char *kind)
{
    fprintf(page,
            "<h2>%s</h2>\n<table>\n<tr><th>%s</th><th>route</th><th>calls</th><th>GFLOP</th><th>seconds</th>"
            "<th>GFLOP/s</th><th>MB over the link</th><th>seconds won</th></tr>\n",
            title, kind);
}

static void write_row(FILE *page, const char *name, tb_route route, const tb_tally *tally)
{
    if (tally->calls == 0)
        return;
    fprintf(page,
            "<tr><td>%s</td><td>%s</td><td>%llu</td><td>%.3f</td><td>%.3f</td><td>%.1f</td><td>%.1f</td>"
            "<td>%.3f</td></tr>\n",
            name, tb_route_text(route), tally->calls, 1e-9 * tally->flop, tally->seconds,
            tally->seconds > 0 ? 1e-9 * tally->flop / tally->seconds : 0, 1e-6 * tally->link_bytes,
            tally->won_seconds);
}

static void write_tables(FILE *page, const tb_counts *counts)
{
    begin_table(page, "By routine", "routine");
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
            write_row(page, tb_routine_rows[routine].name, route, &counts->routines[routine][route]);
    fputs("</table>\n", page);
    begin_table(page, "By shape", "shape");
    for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
            write_row(page, tb_shape_text(shape), route, &counts->tallies[route][shape]);
    fputs("</table>\n", page);
}

static void write_reasons(FILE *page, const tb_counts *counts)
{
    bool any = false;
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++) {
        if (counts->host_reasons[reason] == 0)
            continue;
        if (!any)
            fputs("<h2>What stayed on the host, and "
                  "why</h2>\n<table>\n<tr><th>reason</th><th></th><th>calls</th></"
                  "tr>\n",
                  page);
        any = true;
        fprintf(page, "<tr><td>%s</td><td></td><td>%llu</td></tr>\n", tb_reason_text(reason),
                counts->host_reasons[reason]);
    }
    if (any)
        fputs("</table>\n", page);
}

static void write_remarks(FILE *page, const char *end, const diagnosis *why)
{
    if (!*end && why->count == 0)
        return;
    fputs("<h2>Remarks</h2>\n<ul>\n", page);
    for (int i = *end ? -1 : 0; i < why->count; i++) {
        fputs("<li>", page);
        write_text(page, i < 0 ? end : why->sentences[i]);
        fputs("</li>\n", page);
    }
    fputs("</ul>\n", page);
}

/* ---- The whole ------------------------------------------------------------------------------------------------ */

static void write_figures(FILE *page, const tb_counts *counts)
{
    tb_tally all = {0};
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const tb_tally of_route = tb_route_tally(counts, route);
        tb_add_tally(&all, &of_route);
    }
    const double on_host = (double)tb_route_tally(counts, TB_ROUTE_HOST).calls;
    fputs("<div class=\"figures\">\n", page);
    write_figure(page, "products", "%.0f", (double)all.calls);
    write_figure(page, "on a GPU", "%.0f", (double)all.calls - on_host);
    if (counts->served.calls > 0)
        write_figure(page, "by tileblas serve", "%.0f", (double)counts->served.calls);
    write_figure(page, "GFLOP", "%.3f", 1e-9 * all.flop);
    write_figure(page, "seconds in products", "%.3f", all.seconds);
    write_figure(page, "seconds won", "%.3f", all.won_seconds);
    write_figure(page, "MB over the link", "%.1f", 1e-6 * all.link_bytes);
    fputs("</div>\n", page);
}

static void write_body(FILE *page, char **program, const report *report, const char *end,
                       const diagnosis *why)
{
    fputs(head, page);
    fputs("<h1>", page);
    for (char **word = program; *word; word++) {
        write_text(page, *word);
        fputs(word[1] ? " " : "</h1>\n", page);
    }
    fprintf(page, "<p>TileBLAS %s, %d %s.</p>\n", TB_VERSION, report->processes,
            report->processes == 1 ? "process" : "processes");
    if (tb_count_of_calls(&report->counts) == 0)
        fputs("<p>Nothing was intercepted: no matrix product arrived.</p>\n", page);
    else {
        write_figures(page, &report->counts);
        course_write(page, report);
        write_tables(page, &report->counts);
        write_reasons(page, &report->counts);
    }
    write_remarks(page, end, why);
    fputs("</body>\n</html>\n", page);
}

bool page_write(const char *path, char **program, const report *report, const char *end, const diagnosis *why)
{
    FILE *page = path ? fopen(path, "we") : stdout;
    if (!page)
        return false;
    locale_t previous = tb_enter_c_locale();
    write_body(page, program, report, end, why);
    tb_leave_c_locale(previous);
    const bool failed = fflush(page) != 0 || ferror(page);
    return (!path || fclose(page) == 0) && !failed;
}
