#include "lib/reports/ranges.h"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include "lib/process/linker.h"
#include "lib/process/threads.h"

#include <stdio.h>
#include <stdlib.h>

/* A profiler brings a library of its own to be opened; none is linked. */
#define NVTX_SUPPORT_STATIC_INJECTION_LIBRARY 0
#include <nvtx3/nvToolsExt.h>

_Atomic(int) tb_profiler = TB_PROFILER_UNKNOWN;
static nvtxDomainHandle_t domain;

/* As in the page that tileblas run --report writes: grey, green and blue. */
static const uint32_t colors[TB_ROUTE_COUNT] = {
    [TB_ROUTE_HOST] = 0xff8a8f98,
    [TB_ROUTE_RESIDENT] = 0xff2f855a,
    [TB_ROUTE_STREAMED] = 0xff2b6cb0,
};

/* One thread looks, and nobody waits for it: it may need the dynamic linker's lock, which one who waits may have. A program
 * with somebody else's rights opens nothing that its environment names. */
static void look_for_profiler(void)
{
    int unknown = TB_PROFILER_UNKNOWN;
    if (!atomic_compare_exchange_strong(&tb_profiler, &unknown, TB_PROFILER_LOADING))
        return;
    tb_enter_linker();
    if (secure_getenv("NVTX_INJECTION64_PATH") && tb_linker_answers())
        domain = nvtxDomainCreateA("TileBLAS");
    tb_leave_linker();
    atomic_store(&tb_profiler, domain ? TB_PROFILER_LISTENS : TB_PROFILER_ABSENT);
}

static void print_name(tb_task task, tb_route route, char *name, size_t size)
{
    const tb_extents extents = tb_task_extents(task);
    int length = snprintf(name, size, "%s", tb_routine_rows[tb_task_routine(task)].name);
    if (tb_task_members(task) > 1)
        length +=
            snprintf(name + length, size - (size_t)length, " %lld of", (long long)tb_task_members(task));
    for (int i = 0; i < extents.count; i++)
        length += snprintf(name + length, size - (size_t)length, "%c%lld", i > 0 ? 'x' : ' ',
                           (long long)extents.of[i]);
    snprintf(name + length, size - (size_t)length, " %s", tb_route_text(route));
}

static void push(tb_task task, tb_route route)
{
    char name[128];
    print_name(task, route, name, sizeof name);
    const nvtxEventAttributes_t attributes = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .colorType = NVTX_COLOR_ARGB,
        .color = colors[route],
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = name,
    };
    nvtxDomainRangePushEx(domain, &attributes);
}

static void pop(void *unused)
{
    (void)unused;
    sigset_t signals;
    tb_hold_signals(&signals);
    nvtxDomainRangePop(domain);
    tb_let_signals(&signals);
}

/* The profiler is not left in the middle: signals wait meanwhile. */
bool tb_open_range(tb_call_range *range, tb_task task, tb_route route)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    look_for_profiler();
    const bool listens = atomic_load(&tb_profiler) == TB_PROFILER_LISTENS;
    if (listens) {
        push(task, route);
        tb_when_left(&range->leaving, pop, NULL);
    }
    tb_let_signals(&signals);
    return listens;
}

/* Not left between the two: it would end its range twice. */
void tb_close_range(tb_call_range *range)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    tb_not_left(&range->leaving);
    pop(NULL);
    tb_let_signals(&signals);
}

#else

_Atomic(int) tb_profiler = TB_PROFILER_ABSENT;

bool tb_open_range(tb_call_range *range, tb_task task, tb_route route)
{
    (void)range, (void)task, (void)route;
    return false;
}

void tb_close_range(tb_call_range *range)
{
    (void)range;
}

#endif
