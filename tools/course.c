#include "tools/course.h"

#include <math.h>

enum { COLUMNS = 240, COLUMN_WIDTH = 4, LEFT = 60, CHART_HEIGHT = 200, LINK_HEIGHT = 80, FOOT = 22 };

/* What a chart spans: from what a clock can tell to a thousand years. */
#define LEAST_SECONDS 1e-9
#define MOST_SECONDS  3e10

/* Seconds, and bytes over the link, that a column may have: sums of a file's are numbers, too. */
#define MOST_IN_COLUMN 1e18

/* All processes on one scale. */
typedef struct course {
    double began_ms, seconds; /* from the first process's beginning to the last one's end */
    double busy[COLUMNS][TB_ROUTE_COUNT], link_bytes[COLUMNS];
} course;

static double column_seconds(const course *course)
{
    return course->seconds / COLUMNS;
}

/* A span is of a stranger's file: it may begin before the first process or after the last, or be no number. */
static void add_span(course *course, double from, double to, const double *busy, double link_bytes)
{
    const double width = column_seconds(course);
    if (!(from >= 0 && from < course->seconds && to > from))
        return;
    for (int i = (int)(from / width); i < COLUMNS && i * width < to; i++) {
        const double begin = fmax(i * width, from), end = fmin((i + 1) * width, to);
        const double share = fmax(end - begin, 0) / (to - from);
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
            course->busy[i][route] += share * busy[route];
        course->link_bytes[i] += share * link_bytes;
    }
}

static void add_timeline(course *course, const json_value *timeline)
{
    const double width = json_number_of(timeline, "width");
    const double offset = 1e-3 * (json_number_of(timeline, "began_ms") - course->began_ms);
    const json_value *columns = json_member(timeline, "columns");
    for (const json_value *column = columns ? columns->first : NULL; column; column = column->next) {
        double numbers[TB_ROUTE_COUNT + 2] = {0};
        const json_value *member = column->first;
        for (int i = 0; i < TB_ROUTE_COUNT + 2 && member; i++, member = member->next)
            numbers[i] = i == 0 ? member->number : fmin(fmax(member->number, 0), MOST_IN_COLUMN);
        const double from = offset + numbers[0] * width;
        add_span(course, from, fmin(from + width, course->seconds), numbers + 1, numbers[TB_ROUTE_COUNT + 1]);
    }
}

static const json_value *timeline_of(const report_event *event)
{
    return report_takes(event) ? json_member(event->value, "timeline") : NULL;
}

/* False where there is none, or none that a chart can show. */
static bool read_course(const report *report, course *course)
{
    double end_ms = 0;
    *course = (struct course){.began_ms = HUGE_VAL};
    for (size_t i = 0; i < report->event_count; i++) {
        const json_value *timeline = timeline_of(&report->events[i]);
        if (!timeline)
            continue;
        const double began_ms = json_number_of(timeline, "began_ms");
        course->began_ms = fmin(course->began_ms, began_ms);
        end_ms = fmax(end_ms, began_ms + 1e3 * json_number_of(timeline, "spanned"));
    }
    course->seconds = 1e-3 * (end_ms - course->began_ms);
    if (!(course->seconds > LEAST_SECONDS && course->seconds < MOST_SECONDS))
        return false;
    for (size_t i = 0; i < report->event_count; i++) {
        const json_value *timeline = timeline_of(&report->events[i]);
        if (timeline)
            add_timeline(course, timeline);
    }
    return true;
}

static void begin_chart(FILE *page, const char *name, int height)
{
    fprintf(page, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            LEFT + COLUMNS * COLUMN_WIDTH + 10, height + FOOT, name);
}

static void end_chart(FILE *page, int height, double largest, const char *unit, double seconds)
{
    const int right = LEFT + COLUMNS * COLUMN_WIDTH;
    fprintf(page, "<line class=\"axis\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", LEFT, height, right,
            height);
    fprintf(page, "<text x=\"0\" y=\"12\">%.3g %s</text>\n<text x=\"0\" y=\"%d\">0</text>\n", largest, unit,
            height);
    fprintf(page,
            "<text x=\"%d\" y=\"%d\">0 s</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g s</text>\n"
            "</svg>\n",
            LEFT, height + 16, right, height + 16, seconds);
}

/* Threads that wait for products of each route, on average over the column. */
static void write_busy(FILE *page, const course *course)
{
    double largest = 1;
    for (int i = 0; i < COLUMNS; i++) {
        double sum = 0;
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
            sum += course->busy[i][route] / column_seconds(course);
        largest = fmax(largest, sum);
    }
    fputs("<h2>Over time</h2>\n<p>Threads that wait for their products: ", page);
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        fprintf(page, "<span class=\"key %s\"></span> %s%s", tb_route_text(route), tb_route_text(route),
                route + 1 < TB_ROUTE_COUNT ? ", " : ".</p>\n");
    begin_chart(page, "threads that wait for products, over time", CHART_HEIGHT);
    for (int i = 0; i < COLUMNS; i++) {
        double top = CHART_HEIGHT;
        for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
            const double threads = course->busy[i][route] / column_seconds(course);
            const double height = CHART_HEIGHT * threads / largest;
            top -= height;
            if (height > 0)
                fprintf(page,
                        "<rect class=\"%s\" x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\"><title>%s: %.2f "
                        "threads</title></rect>\n",
                        tb_route_text(route), LEFT + i * COLUMN_WIDTH, top, COLUMN_WIDTH, height,
                        tb_route_text(route), threads);
        }
    }
    end_chart(page, CHART_HEIGHT, largest, "", course->seconds);
}

static void write_link(FILE *page, const course *course)
{
    double largest = 0;
    for (int i = 0; i < COLUMNS; i++)
        largest = fmax(largest, course->link_bytes[i]);
    if (largest == 0)
        return;
    fputs("<p>Load of the link, both ways together:</p>\n", page);
    begin_chart(page, "load of the link, over time", LINK_HEIGHT);
    for (int i = 0; i < COLUMNS; i++) {
        const double height = LINK_HEIGHT * course->link_bytes[i] / largest;
        if (height > 0)
            fprintf(page, "<rect class=\"link\" x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\"/>\n",
                    LEFT + i * COLUMN_WIDTH, LINK_HEIGHT - height, COLUMN_WIDTH, height);
    }
    end_chart(page, LINK_HEIGHT, 1e-9 * largest / column_seconds(course), "GB/s", course->seconds);
}

void course_write(FILE *page, const report *report)
{
    static course course;
    if (!read_course(report, &course))
        return;
    write_busy(page, &course);
    write_link(page, &course);
}
