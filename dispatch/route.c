/* Which route a product takes, and why. */
#include "dispatch/plan.h"
#include "dispatch/tiling.h"
#include "dispatch/ways.h"
#include "words/members.h"
#include "words/folded.h"
#include "words/frame.h"
#include "words/lowered.h"

#include <string.h>

static bool only_on_device(const tb_place *place)
{
    return place->memory == TB_MEMORY_DEVICE;
}

/* Operands that are read or written at all: without a product, A and B are not. */
static bool any_operand(const tb_product *product, const tb_facts *facts, bool (*is)(const tb_place *))
{
    const tb_place *places = facts->places;
    return is(&places[TB_C]) || (product->k > 0 && (is(&places[TB_A]) || is(&places[TB_B])));
}

static bool is_open(const tb_facts *facts, int device)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, device);
    return chip && chip->open;
}

/* Where C lies, or else the first operand that is on a device; the machine's first device when none is. Managed
 * memory can be reached from any device. */
static tb_place working_place(const tb_facts *facts)
{
    static const tb_role roles[TB_ROLES] = {TB_C, TB_A, TB_B};
    for (int i = 0; i < TB_ROLES; i++)
        if (only_on_device(&facts->places[roles[i]]))
            return facts->places[roles[i]];
    for (int i = 0; i < TB_ROLES; i++)
        if (tb_is_on_device(&facts->places[roles[i]]) && is_open(facts, facts->places[roles[i]].device))
            return facts->places[roles[i]];
    int device = facts->machine.chip_count > 0 ? facts->machine.chips[0].device : 0;
    return (tb_place){.memory = TB_MEMORY_DEVICE, .device = device};
}

tb_plan tb_plan_for_host(tb_reason reason, bool needs_device)
{
    return (tb_plan){.route = TB_ROUTE_HOST, .reason = reason, .needs_device = needs_device};
}

static TB_OWN_FRAME tb_plan on_host(tb_reason reason, tb_start start)
{
    return (tb_plan){.route = TB_ROUTE_HOST, .reason = reason, .start = start};
}

/* A product that is not plain, by kernels for plain ones if it can be lowered, or by one that reads its operands as they lie:
 * where that takes less time, or where they lie such that nothing else can. */
static TB_OWN_FRAME bool choose_for_lowered(const tb_product *product, const tb_facts *facts, bool as_forced,
                                            tb_plan *plan)
{
    /* Where all is on the device, terms are computed one after the other. */
    const tb_product asked = plan->route == TB_ROUTE_RESIDENT ? tb_term_of(product, 0) : *product;
    const tb_product lowered = tb_lowered(&asked);
    /* What reads operands as they lie: a term, unless that is for plain kernels already. */
    const tb_product given = tb_is_plain(&asked) ? *product : asked;
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    tb_plan directly = *plan;
    const bool can_directly =
        (plan->route == TB_ROUTE_RESIDENT || any_operand(product, facts, only_on_device)) &&
        tb_choose_kernel(&given, facts, as_forced, &directly);
    if (!tb_can_be_lowered(product) || !tb_choose_kernel(&lowered, facts, as_forced, plan)) {
        *plan = directly;
        if (can_directly && plan->route == TB_ROUTE_STREAMED)
            tb_choose_regions(product, facts, as_forced, plan);
        return can_directly;
    }
    if (plan->route == TB_ROUTE_STREAMED)
        tb_choose_regions(&lowered, facts, as_forced, plan);
    else if (can_directly && tb_plan_seconds(&directly, product, chip) < tb_plan_seconds(plan, product, chip))
        *plan = directly;
    return true;
}

/* A product of two terms is computed by one launch of both where that takes less time. */
static TB_OWN_FRAME void choose_to_join(const tb_product *product, const tb_facts *facts, bool as_forced,
                                        tb_plan joined, tb_plan *plan)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    if (tb_choose_kernel(product, facts, as_forced, &joined) && joined.joins &&
        tb_plan_seconds(&joined, product, chip) < tb_plan_seconds(plan, product, chip))
        *plan = joined;
}

static bool choose_kernels(const tb_product *product, const tb_facts *facts, bool as_forced, tb_plan *plan);

/* A product of two terms becomes one that is folded where that takes less time. */
static TB_OWN_FRAME void choose_to_fold(const tb_product *product, const tb_facts *facts, bool as_forced,
                                        tb_plan folded, tb_plan *plan)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    const tb_product sums = tb_to_be_folded(product);
    if (!choose_kernels(&sums, facts, as_forced, &folded))
        return;
    folded.folds = true;
    if (tb_plan_seconds(&folded, product, chip) < tb_plan_seconds(plan, product, chip))
        *plan = folded;
}

static bool has_room_to_fold(const tb_product *product, const tb_facts *facts)
{
    const tb_product sums = tb_to_be_folded(product);
    return facts->bytes_most == 0 ||
           tb_pitched(sums.c.rows, sums.c.element) * sums.c.columns * (int64_t)tb_bytes_of(sums.c.element) <=
               facts->bytes_most;
}

static TB_OWN_FRAME bool choose_for_terms(const tb_product *product, const tb_facts *facts, bool as_forced,
                                          tb_plan *plan)
{
    const tb_plan before = *plan;
    if (!choose_for_lowered(product, facts, as_forced, plan))
        return false;
    if (plan->route == TB_ROUTE_RESIDENT && tb_can_be_folded(product) && has_room_to_fold(product, facts))
        choose_to_fold(product, facts, as_forced, before, plan);
    if (plan->route == TB_ROUTE_RESIDENT && product->terms == 2)
        choose_to_join(product, facts, as_forced, before, plan);
    return true;
}

static bool choose_kernels(const tb_product *product, const tb_facts *facts, bool as_forced, tb_plan *plan)
{
    if (!tb_is_plain(product) && product->in_place == TB_OUT_OF_PLACE)
        return choose_for_terms(product, facts, as_forced, plan);
    if (!tb_choose_kernel(product, facts, as_forced, plan))
        return false;
    if (plan->route == TB_ROUTE_STREAMED)
        tb_choose_regions(product, facts, as_forced, plan);
    return true;
}

/* What the program has pinned is ordinary memory to a device that another process has up. */
static void see_as_the_device(tb_plan *plan, const tb_facts *facts)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    for (tb_role role = TB_A; role < TB_ROLES && chip && chip->apart; role++)
        if (plan->places[role].memory == TB_MEMORY_PINNED)
            plan->places[role].memory = TB_MEMORY_HOST;
}

/* The plan that uses the device, whether or not it is faster. */
static TB_OWN_FRAME tb_plan with_device(const tb_product *product, const tb_facts *facts, tb_reason reason)
{
    const bool streamed = any_operand(product, facts, tb_is_in_host_memory);
    tb_plan plan = {.route = streamed ? TB_ROUTE_STREAMED : TB_ROUTE_RESIDENT,
                    .reason = reason,
                    .place = working_place(facts)};
    memcpy(plan.places, facts->places, sizeof plan.places);
    see_as_the_device(&plan, facts);
    if (choose_kernels(product, facts, true, &plan))
        return plan;
    /* The forced kernel cannot: the host answers or, if it cannot reach the operands, another kernel. */
    plan.reason = TB_REASON_KERNEL_REFUSED;
    if (any_operand(product, facts, only_on_device) && choose_kernels(product, facts, false, &plan))
        return plan;
    return on_host(tb_can_be_lowered(product) ? TB_REASON_KERNEL_REFUSED : TB_REASON_NO_KERNEL, TB_START_NOT);
}

/* Another process has the devices up: none of these reaches what lies on one of the program's own, which is then brought up. */
static bool has_devices_apart(const tb_machine *machine)
{
    return machine->chip_count > 0 && machine->chips[0].apart;
}

/* The plan of a call whose operands the host cannot reach, whatever is forced or faster. */
static TB_OWN_FRAME tb_plan must_use_device(const tb_product *product, const tb_facts *facts)
{
    const tb_readiness readiness = facts->machine.readiness;
    const tb_place place = working_place(facts);
    const tb_chip *chip = tb_find_chip(&facts->machine, place.device);
    if (readiness != TB_READY && !tb_can_start(readiness))
        return on_host(tb_why_not_ready(readiness), TB_START_NOT);
    if (readiness == TB_READY && (!chip || chip->failed) && !has_devices_apart(&facts->machine))
        return on_host(TB_REASON_NO_DEVICE, TB_START_NOT);
    if (readiness == TB_READY && chip && chip->open)
        return with_device(product, facts, TB_REASON_ON_DEVICE);
    tb_plan wait = on_host(TB_REASON_DEVICE_STARTING, TB_START_NOW);
    wait.place = place;
    return wait;
}

/* The device is up, and may be the faster one. */
static TB_OWN_FRAME tb_plan compare_ways(const tb_product *product, const tb_facts *facts, double host)
{
    tb_plan plan = with_device(product, facts, TB_REASON_FASTER_ON_DEVICE);
    tb_choose_way(facts, &plan, host);
    return plan;
}

/* Operands that both sides can reach, and no route forced: the device where it saves enough. */
static TB_OWN_FRAME tb_plan choose_faster(const tb_product *product, const tb_facts *facts)
{
    if (product->k == 0)
        return on_host(TB_REASON_TOO_SMALL, TB_START_NOT);
    if (facts->stays_on_host && any_operand(product, facts, tb_is_in_host_memory))
        return on_host(TB_REASON_ROUTINE, TB_START_NOT);
    if (!any_operand(product, facts, tb_is_in_host_memory) && is_open(facts, working_place(facts).device))
        return with_device(product, facts, TB_REASON_ON_DEVICE); /* all managed: no copies to pay for */

    const double host = tb_host_seconds(product, &facts->machine),
                 device = tb_streamed_seconds_least(product, facts);
    return tb_may_leave(facts, host, device) ? compare_ways(product, facts, host)
                                             : tb_stay(facts, host, device);
}

static TB_OWN_FRAME tb_plan follow_forced_route(const tb_product *product, const tb_facts *facts)
{
    bool host_memory = any_operand(product, facts, tb_is_in_host_memory);
    if (facts->forced_route == TB_ROUTE_HOST)
        return on_host(TB_REASON_FORCED, TB_START_NOT);
    if (facts->forced_route == TB_ROUTE_RESIDENT && host_memory)
        return on_host(TB_REASON_ROUTE_REFUSED, TB_START_NOT);
    if (facts->machine.readiness == TB_READY)
        return with_device(product, facts, TB_REASON_FORCED);
    return on_host(tb_why_not_ready(facts->machine.readiness),
                   tb_can_start(facts->machine.readiness) ? TB_START_FOR_LATER : TB_START_NOT);
}

static TB_OWN_FRAME tb_plan decide_one(const tb_product *product, const tb_facts *facts)
{
    if (any_operand(product, facts, only_on_device)) {
        tb_plan plan = must_use_device(product, facts);
        plan.needs_device = true;
        return plan;
    }
    if (facts->needs_host)
        return on_host(TB_REASON_THREAD, TB_START_NOT);
    if (facts->route_forced)
        return follow_forced_route(product, facts);
    return choose_faster(product, facts);
}

/* What a call on a device takes beside its kernel: starting it, waiting for it, finding the kernel. */
#define SEPARATE_SECONDS 10e-6

static tb_plan separately(tb_plan plan)
{
    plan.separately = true;
    return plan;
}

/* Whether every operand that is read or written lies in the memory of one device, where the library's own buffers are. */
static bool is_in_one_device(const tb_product *product, const tb_facts *facts)
{
    const tb_place *c = &facts->places[TB_C];
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_place *place = &facts->places[role];
        if (role != TB_C && product->k == 0)
            continue;
        if (!only_on_device(place) || place->device != c->device || place->context)
            return false;
    }
    return !facts->scattered;
}

/* A batch in the memory of a device is one launch, unless faster kernels serve its products one by one. */
static TB_OWN_FRAME tb_plan launch_batch(const tb_product *product, const tb_product *one,
                                         const tb_facts *facts)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, facts->places[TB_C].device);
    const tb_plan first = decide_one(one, facts);
    if (first.route != TB_ROUTE_RESIDENT) /* the device is to be started, or has failed */
        return first;
    tb_plan plan = must_use_device(product, facts);
    if (plan.route != TB_ROUTE_RESIDENT)
        return separately(first);
    plan.needs_device = true;
    const double each = tb_plan_seconds(&first, one, chip) + SEPARATE_SECONDS;
    const bool slower = tb_plan_seconds(&plan, product, chip) > (double)tb_members_of(product) * each;
    const bool refused = plan.reason == TB_REASON_KERNEL_REFUSED && first.reason != plan.reason;
    return (slower && !facts->kernel_forced) || refused ? separately(first) : plan;
}

/* In the host's memory it is the host's where its products are. One of them may be tried elsewhere, not all. */
static TB_OWN_FRAME tb_plan decide_batch(const tb_product *product, const tb_facts *facts)
{
    const tb_product one = tb_member_of(product, 0);
    if (is_in_one_device(product, facts))
        return launch_batch(product, &one, facts);
    tb_plan plan = decide_one(&one, facts);
    if (facts->scattered || plan.needs_device || plan.route != TB_ROUTE_HOST ||
        plan.reason == TB_REASON_COMPARING)
        return separately(plan);
    plan.host_seconds *= (double)tb_members_of(product);
    plan.device_seconds *= (double)tb_members_of(product);
    plan.seconds_at_risk *= (double)tb_members_of(product);
    if (plan.reason == TB_REASON_DEVICE_STARTING && !facts->route_forced) /* then seconds are not asked */
        plan.start = tb_how_to_start(&facts->machine, plan.host_seconds, plan.device_seconds);
    return plan;
}

tb_plan tb_decide(const tb_product *product, const tb_facts *facts)
{
    return tb_is_batch(product) ? decide_batch(product, facts) : decide_one(product, facts);
}

tb_plan tb_decide_again(const tb_product *product, const tb_facts *facts, tb_shortage shortage)
{
    if (shortage == TB_NO_ROOM_TO_FOLD) {
        tb_facts without = *facts;
        without.bytes_most = 1;
        return tb_decide(product, &without);
    }
    tb_plan plan = {.route = TB_ROUTE_RESIDENT, .reason = TB_REASON_ON_DEVICE, .place = working_place(facts)};
    memcpy(plan.places, facts->places, sizeof plan.places);
    return tb_choose_without_memory(product, facts, &plan) ? plan
                                                           : on_host(TB_REASON_NO_KERNEL, TB_START_NOT);
}
