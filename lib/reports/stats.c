#include "lib/reports/stats.h"

#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "lib/machine/device_state.h"
#include "lib/process/c_locale.h"
#include "lib/process/callers_state.h"
#include "lib/process/host_memory.h"
#include "lib/reports/called.h"
#include "lib/reports/counters.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/reports/summary.h"
#include "lib/reports/timeline.h"
#include "lib/process/sums.h"

#include <stdio.h>
#include <string.h>

/* Until the options have been read, every call is looked at. */
_Atomic(uint32_t) tb_small_volume = 0;
static atomic_bool options_followed;

static _Thread_local tb_outline last_plan;
static _Thread_local bool has_last_plan;

void tb_watch_as_asked(void)
{
    bool watched = tb_option_value(TB_OPTION_VERBOSE) || tb_option_value(TB_OPTION_STATS) ||
                   tb_option_value(TB_OPTION_ROUTE) || strcmp(tb_option_text(TB_OPTION_KERNEL), "auto") != 0;
    if (!watched && TB_LOAD(&tb_small_volume) == 0)
        tb_learn_host_memory();
    TB_STORE(&tb_small_volume, watched ? 0 : (uint32_t)TB_SMALL_VOLUME);
    TB_STORE(&options_followed, true);
}

static void print_call(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    char text[TB_TASK_TEXT_SIZE], places[64] = "", decision[256];
    const locale_t previous = tb_enter_c_locale();
    tb_print_plan(plan, decision, sizeof decision);
    tb_print_task(task, text);
    tb_leave_c_locale(previous);
    for (int i = 0, length = 0; i < tb_task_matrices(task); i++)
        length += snprintf(places + length, sizeof places - (size_t)length, " %c %s", 'A' + i,
                           tb_memory_text(facts->places[i].memory));
    tb_log("%s%s -> %s, %.3f ms", text, places, decision, 1e3 * seconds);
}

static bool is_served(const tb_plan *plan)
{
    return plan->route == TB_ROUTE_STREAMED && plan->place.device >= TB_SERVED_FIRST;
}

void tb_record_call(tb_task task, const tb_facts *facts, const tb_plan *plan, const char *spelling,
                    double seconds)
{
    last_plan = tb_outline_of(plan);
    has_last_plan = true;

    tb_tally call = {
        .calls = 1,
        .flop = tb_task_flops(task),
        .seconds = seconds,
        .link_bytes = tb_take_link_bytes(),
        .won_seconds =
            plan->route != TB_ROUTE_HOST && plan->host_seconds > 0 ? plan->host_seconds - seconds : 0,
    };
    tb_count_call(tb_task_routine(task), plan->route, tb_shape_of(task), plan->reason, &call);
    if (is_served(plan))
        tb_count_served(&call);

    if (tb_timeline_is_kept() || tb_option_value(TB_OPTION_STATS) == TB_STATS_JSON)
        tb_note_in_time(plan->route, seconds, call.link_bytes);
    if (*tb_option_text(TB_OPTION_RECORD))
        tb_note_called(task, facts, plan, spelling, seconds);
    if (tb_option_value(TB_OPTION_VERBOSE))
        print_call(task, facts, plan, seconds);
    /* Once, and not at every call: all threads read what it writes. */
    if (!TB_LOAD(&options_followed))
        tb_watch_as_asked();
}

_Static_assert(TILEBLAS_SHAPE_COUNT == TB_SHAPE_COUNT, "tileblas.h has a place for every shape");
_Static_assert(TILEBLAS_REASON_MAXIMUM >= TB_REASON_COUNT, "tileblas.h has a place for every reason");
_Static_assert(TILEBLAS_ROUTINE_MAXIMUM >= TB_ROUTINES, "tileblas.h has a place for every routine");

static void fill(tileblas_statistics *statistics)
{
    tb_counts counts;
    tb_read_counts(&counts);
    *statistics = (tileblas_statistics){
        .host = tb_route_tally(&counts, TB_ROUTE_HOST),
        .resident = tb_route_tally(&counts, TB_ROUTE_RESIDENT),
        .streamed = tb_route_tally(&counts, TB_ROUTE_STREAMED),
        .served = counts.served,
    };
    for (tb_shape shape = 0; shape < TB_SHAPE_COUNT; shape++)
        statistics->shapes[shape] = (tileblas_shape_statistics){
            .shape = tb_shape_text(shape),
            .host = counts.tallies[TB_ROUTE_HOST][shape],
            .resident = counts.tallies[TB_ROUTE_RESIDENT][shape],
            .streamed = counts.tallies[TB_ROUTE_STREAMED][shape],
        };
    for (tb_reason reason = 0; reason < TB_REASON_COUNT; reason++)
        statistics->host_reasons[reason] =
            (tileblas_reason_count){tb_reason_text(reason), counts.host_reasons[reason]};
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        statistics->routines[routine] = (tileblas_routine_statistics){
            .routine = tb_routine_rows[routine].name,
            .host = counts.routines[routine][TB_ROUTE_HOST],
            .resident = counts.routines[routine][TB_ROUTE_RESIDENT],
            .streamed = counts.routines[routine][TB_ROUTE_STREAMED],
        };
}

size_t tileblas_read_statistics(tileblas_statistics *statistics, size_t size)
{
    tileblas_statistics own;
    tb_callers_state state;
    const size_t known = size < sizeof own ? size : sizeof own;
    if (size == 0)
        return sizeof own;
    tb_set_state_aside(&state);
    fill(&own);
    tb_put_state_back(&state);
    memcpy(statistics, &own, known);
    memset((char *)statistics + known, 0, size - known);
    return sizeof own;
}

void tileblas_reset_statistics(void)
{
    tb_reset_counts();
    tb_restart_timeline();
}

static bool is_for_want_of_a_device(tb_reason reason)
{
    return reason == TB_REASON_NO_DEVICE || reason == TB_REASON_DEVICE_STARTING ||
           reason == TB_REASON_DEVICE_LOST;
}

size_t tileblas_last_plan(char *text, size_t size)
{
    if (!has_last_plan) {
        if (size > 0)
            text[0] = '\0';
        return 0;
    }
    tb_callers_state state;
    tb_set_state_aside(&state);
    const locale_t previous = tb_enter_c_locale();
    int length = tb_print_outline(&last_plan, text, size);
    if (is_for_want_of_a_device(last_plan.reason)) {
        const size_t begin = (size_t)length < size ? (size_t)length : size;
        char device[256];
        tb_print_device_state(device, sizeof device);
        length += snprintf(text + begin, size - begin, "; GPU %s", device);
    }
    tb_leave_c_locale(previous);
    tb_put_state_back(&state);
    return (size_t)length;
}

size_t tileblas_device(char *text, size_t size)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    const locale_t previous = tb_enter_c_locale();
    const int length = tb_print_device_state(text, size);
    tb_leave_c_locale(previous);
    tb_put_state_back(&state);
    return (size_t)length;
}
