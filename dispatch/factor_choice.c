#include "dispatch/factor_choice.h"

#include "dispatch/factor_seconds.h"
#include "dispatch/ways.h"
#include "kernels/panels/launch_panel.h"

/* Columns that are finished at a time: of an update the steps of k. Not measured. */
#define BLOCK_COLUMNS 512

/* The place of a matrix on a device, or else A's. */
static const tb_place *place_of(const tb_factor *factor, const tb_facts *facts)
{
    const bool has_b = tb_solves(factor) && facts->places[0].memory != TB_MEMORY_DEVICE &&
                       facts->places[1].memory == TB_MEMORY_DEVICE;
    return &facts->places[has_b ? 1 : 0];
}

static tb_plan on_device(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip,
                         tb_reason reason)
{
    const tb_place *place = place_of(factor, facts);
    const bool is_there = place->memory == TB_MEMORY_DEVICE;
    const tb_place beside = {.memory = TB_MEMORY_DEVICE, .device = chip->device};
    return (tb_plan){.route = is_there ? TB_ROUTE_RESIDENT : TB_ROUTE_STREAMED,
                     .reason = reason,
                     .places = {facts->places[0], facts->places[1]},
                     .place = is_there ? *place : beside,
                     .needs_device = is_there,
                     .block = BLOCK_COLUMNS,
                     .device_seconds = is_there ? 0 : tb_factor_seconds(factor, facts, chip, BLOCK_COLUMNS)};
}

static tb_plan wait_for_device(const tb_place *place, bool is_there)
{
    tb_plan plan = tb_plan_for_host(TB_REASON_DEVICE_STARTING, is_there);
    plan.place = (tb_place){.memory = TB_MEMORY_DEVICE, .device = is_there ? place->device : 0};
    plan.start = TB_START_NOW;
    return plan;
}

/* The device's, forced or because the matrix lies there; chip is NULL where there is none. */
static tb_plan follow(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip)
{
    const tb_place *place = place_of(factor, facts);
    const tb_machine *machine = &facts->machine;
    const bool is_there = place->memory == TB_MEMORY_DEVICE;
    if (machine->readiness == TB_LOST || machine->readiness == TB_ABSENT)
        return tb_plan_for_host(tb_why_not_ready(machine->readiness), is_there);
    if (machine->readiness != TB_READY || (chip && !chip->open && !chip->failed))
        return wait_for_device(place, is_there);
    if (!chip || chip->failed)
        return tb_plan_for_host(TB_REASON_NO_DEVICE, is_there);
    return on_device(factor, facts, chip, is_there ? TB_REASON_ON_DEVICE : TB_REASON_FORCED);
}

/* The matrix lies in host memory, and no route is forced. */
static tb_plan choose_faster(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip)
{
    if (facts->stays_on_host)
        return tb_plan_for_host(TB_REASON_ROUTINE, false);
    if (tb_factor_order(factor) < TB_FACTOR_ORDER_LEAST)
        return tb_plan_for_host(TB_REASON_TOO_SMALL, false);
    const double host = tb_factor_host_seconds(factor, &facts->machine),
                 device = tb_factor_seconds_least(factor, facts);
    if (!chip || !chip->open || !tb_may_leave(facts, host, device))
        return tb_stay(facts, host, device);
    tb_plan plan = on_device(factor, facts, chip, TB_REASON_FASTER_ON_DEVICE);
    tb_choose_way(facts, &plan, host);
    return plan;
}

/* LU's have all rows of the matrix: where no device is known it is asked again later. */
static bool has_panels(const tb_factor *factor, const tb_chip *chip)
{
    const tb_routine routine = tb_factoring_routine(factor);
    return tb_panel_order(routine) > 0 && (tb_factors_of(factor) != TB_LU || !chip ||
                                           factor->m <= tb_panel_rows(routine, tb_target_of(chip)));
}

tb_plan tb_decide_factor(const tb_factor *factor, const tb_facts *facts)
{
    const tb_place *place = place_of(factor, facts);
    const tb_machine *machine = &facts->machine;
    const bool is_there = place->memory == TB_MEMORY_DEVICE;
    const tb_chip *chip = is_there                  ? tb_find_chip(machine, place->device)
                          : machine->chip_count > 0 ? &machine->chips[0]
                                                    : NULL;
    if (!is_there && facts->needs_host)
        return tb_plan_for_host(TB_REASON_THREAD, false);
    if (!is_there && facts->route_forced && facts->forced_route == TB_ROUTE_HOST)
        return tb_plan_for_host(TB_REASON_FORCED, false);
    if (!is_there && facts->route_forced && facts->forced_route == TB_ROUTE_RESIDENT &&
        !tb_is_on_device(place))
        return tb_plan_for_host(TB_REASON_ROUTE_REFUSED, false);
    if (!is_there && tb_finds_least_squares(factor) && !tb_is_overdetermined(factor))
        return tb_plan_for_host(facts->route_forced ? TB_REASON_ROUTE_REFUSED : TB_REASON_ROUTINE, false);
    if (tb_makes_factors(factor) && !has_panels(factor, chip))
        return tb_plan_for_host(TB_REASON_NO_KERNEL, is_there);
    return is_there || facts->route_forced ? follow(factor, facts, chip) : choose_faster(factor, facts, chip);
}
