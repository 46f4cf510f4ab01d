#include "lib/reports/timeline.h"

#include "lib/process/callers_state.h"
#include "lib/process/clock.h"
#include "lib/process/sums.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define FINEST_SECONDS (1.0 / 64)
#define COARSER        4

/* The last one spans three days. */
enum { SCALES = 9 };

typedef struct column {
    _Atomic(double) seconds[TB_ROUTE_COUNT], link_bytes;
} column;

static column columns[SCALES][TB_TIMELINE_COLUMNS];
static _Atomic(double) began; /* of the monotonic clock */
atomic_bool tb_keeps_timeline;

void tb_keep_timeline(void)
{
    TB_STORE(&tb_keeps_timeline, true);
}

/* The clock's seconds are seldom exact, and the thread is the program's. */
static void note_beginning(void)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    began = tb_seconds();
    tb_put_state_back(&state);
}

void tb_restart_timeline(void)
{
    for (int scale = 0; scale < SCALES; scale++)
        for (int i = 0; i < TB_TIMELINE_COLUMNS; i++) {
            column *column = &columns[scale][i];
            for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
                TB_STORE(&column->seconds[route], 0);
            TB_STORE(&column->link_bytes, 0);
        }
    note_beginning();
}

/* When the library is loaded, and in a forked child, whose calls are its own. */
__attribute__((constructor)) static void begin_when_loaded(void)
{
    note_beginning();
    pthread_atfork(NULL, NULL, tb_restart_timeline);
}

/* What a call took is spread over the columns that it ran in. */
static void add_to_scale(column *scale, double width, tb_route route, double from, double to,
                         double link_bytes)
{
    for (int i = (int)(from / width); i < TB_TIMELINE_COLUMNS && i * width < to; i++) {
        const double begin = i * width > from ? i * width : from,
                     end = (i + 1) * width < to ? (i + 1) * width : to;
        tb_add_to_sum(&scale[i].seconds[route], end - begin);
        tb_add_to_sum(&scale[i].link_bytes, link_bytes * (end - begin) / (to - from));
    }
}

void tb_note_in_time(tb_route route, double seconds, double link_bytes)
{
    const double to = tb_seconds() - began, from = to - seconds > 0 ? to - seconds : 0;
    double width = FINEST_SECONDS;
    for (int scale = 0; scale < SCALES && to > from; scale++, width *= COARSER)
        if (from < width * TB_TIMELINE_COLUMNS)
            add_to_scale(columns[scale], width, route, from, to, link_bytes);
}

static void write_column(tb_json *json, int number, const column *column)
{
    double sum = 0;
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        sum += TB_LOAD(&column->seconds[route]);
    if (sum == 0)
        return;
    tb_json_open(json, NULL, '[');
    tb_json_integer(json, NULL, number);
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        tb_json_number(json, NULL, TB_LOAD(&column->seconds[route]));
    tb_json_number(json, NULL, TB_LOAD(&column->link_bytes));
    tb_json_close(json, ']');
}

void tb_write_timeline(tb_json *json)
{
    struct timespec wall;
    const double spanned = tb_seconds() - began;
    double width = FINEST_SECONDS;
    int scale = 0;
    for (; scale < SCALES - 1 && spanned > width * TB_TIMELINE_COLUMNS; scale++)
        width *= COARSER;
    clock_gettime(CLOCK_REALTIME, &wall);
    tb_json_open(json, "timeline", '{');
    const double now = (double)wall.tv_sec + 1e-9 * (double)wall.tv_nsec;
    tb_json_integer(json, "began_ms", (long long)(1e3 * (now - spanned)));
    tb_json_number(json, "spanned", spanned);
    tb_json_number(json, "width", width);
    tb_json_open(json, "columns", '[');
    for (int i = 0; i < TB_TIMELINE_COLUMNS; i++)
        write_column(json, i, &columns[scale][i]);
    tb_json_close(json, ']');
    tb_json_close(json, '}');
}
