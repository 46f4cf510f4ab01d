/* Plans in words. */
#include "dispatch/plan.h"

#include <stdio.h>

const char *tb_route_text(tb_route route)
{
    static const char *const texts[TB_ROUTE_COUNT] = {
        [TB_ROUTE_HOST] = "host",
        [TB_ROUTE_RESIDENT] = "resident",
        [TB_ROUTE_STREAMED] = "streamed",
    };
    return texts[route];
}

const char *tb_reason_text(tb_reason reason)
{
    static const char *const texts[TB_REASON_COUNT] = {
#define TB_REASON(NAME, text) text,
#include "dispatch/reasons.def"
#undef TB_REASON
    };
    return texts[reason];
}

const char *tb_memory_text(tb_memory memory)
{
    static const char *const texts[] = {
        [TB_MEMORY_HOST] = "host",
        [TB_MEMORY_PINNED] = "pinned",
        [TB_MEMORY_MANAGED] = "managed",
        [TB_MEMORY_DEVICE] = "device",
    };
    return texts[memory];
}

tb_outline tb_outline_of(const tb_plan *plan)
{
    return (tb_outline){.route = plan->route,
                        .reason = plan->reason,
                        .kernel = plan->kernel,
                        .pads_a = plan->pads[TB_A],
                        .pads_b = plan->pads[TB_B],
                        .folds = plan->folds,
                        .joins = plan->joins,
                        .device = plan->place.device,
                        .region_count = plan->region_count,
                        .host_seconds = plan->host_seconds,
                        .device_seconds = plan->device_seconds};
}

int tb_print_outline(const tb_outline *outline, char *text, size_t size)
{
    char forecast[96] = "";
    if (outline->host_seconds > 0)
        snprintf(forecast, sizeof forecast, " (forecast: host %.3g ms, device %.3g ms)",
                 1e3 * outline->host_seconds, 1e3 * outline->device_seconds);
    if (outline->region_count > 1)
        return snprintf(text, size, "%s with %s on %d devices: %s%s", tb_route_text(outline->route),
                        outline->kernel->name, outline->region_count, tb_reason_text(outline->reason),
                        forecast);
    if (!outline->kernel)
        return snprintf(text, size, "%s: %s%s", tb_route_text(outline->route),
                        tb_reason_text(outline->reason), forecast);
    return snprintf(text, size, "%s with %s%s%s%s%s on device %d: %s%s", tb_route_text(outline->route),
                    outline->kernel->name, outline->pads_a ? ", A padded" : "",
                    outline->pads_b ? ", B padded" : "", outline->folds ? ", folded" : "",
                    outline->joins ? ", joined" : "", outline->device, tb_reason_text(outline->reason),
                    forecast);
}

int tb_print_plan(const tb_plan *plan, char *text, size_t size)
{
    const tb_outline outline = tb_outline_of(plan);
    return tb_print_outline(&outline, text, size);
}
