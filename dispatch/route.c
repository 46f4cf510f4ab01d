/* Which route a product takes, and why. */
#include "dispatch/plan.h"
#include "dispatch/tiling.h"
#include "words/members.h"
#include "words/folded.h"
#include "words/frame.h"
#include "words/lowered.h"

#include <math.h>
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

static tb_reason why_not_ready(tb_readiness readiness)
{
    return readiness == TB_ABSENT ? TB_REASON_NO_DEVICE
           : readiness == TB_LOST ? TB_REASON_DEVICE_LOST
                                  : TB_REASON_DEVICE_STARTING;
}

static bool can_start(tb_readiness readiness)
{
    return readiness == TB_UNTRIED || readiness == TB_STARTING;
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
    if (readiness != TB_READY && !can_start(readiness))
        return on_host(why_not_ready(readiness), TB_START_NOT);
    if (readiness == TB_READY && (!chip || chip->failed) && !has_devices_apart(&facts->machine))
        return on_host(TB_REASON_NO_DEVICE, TB_START_NOT);
    if (readiness == TB_READY && chip && chip->open)
        return with_device(product, facts, TB_REASON_ON_DEVICE);
    tb_plan wait = on_host(TB_REASON_DEVICE_STARTING, TB_START_NOW);
    wait.place = place;
    return wait;
}

/* Bringing a device up takes 0.25 s of one core, and the program's own BLAS, whose threads wait for each
 * other, a third of its speed meanwhile; taking it down at exit takes 0.05 to 0.08 s. So it is started for
 * programs that have spent more than that on products, and will therefore, as far as anybody knows, go on. On
 * an H100's host of 16 cores ten products of 4096, which take 1.2 s and see the device for the last three,
 * lose 5% by it, and thirty gain 58% (bench/programs, docs/lab/starting.md). */
#define START_PAYS 0.65

/* A call that saves so much waits for the device, instead of being the last that the host has. */
#define WAIT_PAYS 1.0

static tb_start how_to_start(const tb_machine *machine, double host, double device)
{
    if (!can_start(machine->readiness))
        return TB_START_NOT;
    if (host - device >= WAIT_PAYS)
        return TB_START_NOW;
    const bool pays = machine->starts_at_once || machine->host_spent + host >= START_PAYS;
    return pays || machine->readiness == TB_STARTING ? TB_START_FOR_LATER : TB_START_NOT;
}

/* Both forecasts may be off, and what the program has just used lies in the host's caches, where a short call
 * takes down to half of its forecast: a call leaves the host where that saves so much at least, since being
 * slower than the program's own BLAS is worse than gaining little. A short call has to save no more than a long one
 * where calls of its own say how long either way takes. */
#define SHARE_SAVED       0.15
#define SHARE_SAVED_SHORT 0.4
#define SHORT_SECONDS     0.5e-3

static bool is_worth_it(double device, double host, const tb_repeated *repeated)
{
    const bool known = repeated->host_known && repeated->streamed_known;
    const double share = known || host >= SHORT_SECONDS ? SHARE_SAVED : SHARE_SAVED_SHORT;
    return device < (1 - share) * host;
}

/* A way that is due is tried if it is forecast not to take much longer than the chosen one, or no longer than
 * it may by now. A short product's forecast for the host is the least certain: in bench/regret 1444 x 47 x 35
 * was forecast at 0.18 ms and took 0.04. Calls of its own say more, but may have been slow by chance, so that in the end
 * they are made again: 1980 x 1076 x 6 took 0.37 ms twice, and then 0.19, 17 x 231 x 520 took 1.3 ms and then 0.03. */
#define TRIAL_RATIO       1.5
#define TRIAL_RATIO_SHORT 4.0
/* The device, which has to save much to be taken, where calls of its own say how long it takes. */
#define TRIAL_RATIO_DEVICE 1.25

/* A way that is known to take many times as long is tried rarely, and not at all where a single call of it would be
 * noticed. */
#define TRIAL_SECONDS 10e-3
#define TIMES_NOTICED 3.0

static bool may_be_tried(double seconds, double others, double times, double times_by_now)
{
    if (seconds >= TRIAL_SECONDS)
        times_by_now = fmin(times_by_now, TIMES_NOTICED);
    return seconds < fmax(times, times_by_now) * others;
}

/* What the host is forecast to take or, where the product's own calls took longer, these: a forecast cannot know what a host's
 * BLAS makes of a shape. With OpenBLAS ZHERK of 120 x 12580 took 30 times as long as was forecast, and eleven times as long as
 * streamed. */
static double host_by_its_calls(const tb_facts *facts, double host)
{
    const double forecast_by = facts->machine.host_ratio > 0 ? facts->machine.host_ratio : 1;
    return fmax(host, host / forecast_by * facts->repeated.host_ratio);
}

static bool should_compare_streamed(double device, double host, const tb_facts *facts)
{
    const tb_repeated *repeated = &facts->repeated;
    const bool known = repeated->host_known && repeated->streamed_known;
    const double times = known ? TRIAL_RATIO_DEVICE : TRIAL_RATIO;
    return repeated->streamed_due &&
           may_be_tried(device, host_by_its_calls(facts, host), times, repeated->streamed_times_most);
}

/* A new product's first two calls may both have waited for other things than the product, such as threads that a program's start
 * holds up: in two of ten processes 160 x 160 x 160 took the device's 0.08 ms for thousands of calls, instead of the host's
 * 0.05. So a host that was slow is asked once more, soon, if by what others of its class took it would be the faster, and if no
 * such call would be noticed. */
static bool is_doubtful(double host, double device, const tb_repeated *repeated)
{
    return repeated->host_known && host < TRIAL_SECONDS &&
           host / repeated->host_ratio * repeated->host_ratio_of_class < device;
}

static bool should_compare_host(double host, double device, const tb_repeated *repeated)
{
    const double times = repeated->host_known || host >= SHORT_SECONDS ? TRIAL_RATIO : TRIAL_RATIO_SHORT;
    return repeated->host_due && (may_be_tried(host, device, times, repeated->host_times_most) ||
                                  (repeated->host_ratio_of_class > 0 && is_doubtful(host, device, repeated)));
}

/* Seconds of work that wait for the open device with the least of it. */
static double least_backlog(const tb_facts *facts)
{
    double least = HUGE_VAL;
    for (int i = 0; i < facts->machine.chip_count && i < TB_BACKLOGS; i++)
        if (facts->machine.chips[i].open)
            least = fmin(least, facts->backlogs[i]);
    return least < HUGE_VAL ? least : 0;
}

/* Threads of a program that call at the same time have a core each on the host, and take turns at a device, which does about two
 * products at once. Where all of them together are not done any sooner there, it would gain nothing, and the threads that serve a device
 * need cores, too: KMeans on 16 threads, whose products of 256 take 0.6 ms on the host, and 0.15 alone on a device, lost a tenth. */
#define PRODUCTS_AT_ONCE 2

static double seconds_in_turn(const tb_facts *facts, double device)
{
    int open = 0;
    for (int i = 0; i < facts->machine.chip_count; i++)
        open += facts->machine.chips[i].open;
    return facts->callers > PRODUCTS_AT_ONCE * open && open > 0
               ? device * facts->callers / (PRODUCTS_AT_ONCE * open)
               : 0;
}

/* A streamed plan has been made; who gets the call? */
static TB_OWN_FRAME tb_plan stream_or_not(const tb_facts *facts, tb_plan plan, double host)
{
    const tb_repeated *repeated = &facts->repeated;
    const double device = plan.device_seconds, backlog = least_backlog(facts),
                 in_turn = seconds_in_turn(facts, device);
    if (is_worth_it(device, host, repeated)) {
        if (host <= device + backlog || host <= in_turn)
            return on_host(TB_REASON_DEVICE_BUSY, plan.start);
        return should_compare_host(host, device, repeated) ? on_host(TB_REASON_COMPARING, plan.start) : plan;
    }
    if (backlog > 0 || host <= in_turn || !should_compare_streamed(device, host, facts))
        return on_host(TB_REASON_TOO_SMALL, plan.start);
    plan.reason = TB_REASON_COMPARING;
    return plan;
}

/* The same where operands may not suit the kernel: unless it is faster even then, whoever can look at them may tell. */
static TB_OWN_FRAME tb_plan stream_or_ask(const tb_facts *facts, tb_plan plan, double host)
{
    const tb_plan careful = stream_or_not(facts, plan, host);
    tb_plan suited = plan;
    suited.device_seconds -= plan.seconds_at_risk;
    if (plan.seconds_at_risk == 0 || careful.route != TB_ROUTE_HOST ||
        careful.reason == TB_REASON_COMPARING || stream_or_not(facts, suited, host).route == TB_ROUTE_HOST)
        return careful;
    return on_host(TB_REASON_MAGNITUDES, plan.start);
}

static TB_OWN_FRAME void see_who_gets_it(const tb_facts *facts, tb_plan *streamed, double host)
{
    *streamed = stream_or_ask(facts, *streamed, host);
}

/* The device is up, and may be the faster one. */
static TB_OWN_FRAME tb_plan compare_ways(const tb_product *product, const tb_facts *facts, double host)
{
    tb_plan plan = with_device(product, facts, TB_REASON_FASTER_ON_DEVICE);
    const double device = plan.device_seconds, at_risk = plan.seconds_at_risk;
    if (plan.route == TB_ROUTE_STREAMED)
        see_who_gets_it(facts, &plan, host);
    plan.host_seconds = host;
    plan.device_seconds = device;
    plan.seconds_at_risk = at_risk;
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

    tb_readiness readiness = facts->machine.readiness;
    double host = tb_host_seconds(product, &facts->machine);
    const double device = tb_streamed_seconds_least(product, facts);
    /* Before a device is up nothing can be compared. So of products whose calls teach nothing about others, such as triangles,
     * these calls alone tell that a device would pay. */
    if (readiness != TB_READY)
        host = host_by_its_calls(facts, host);
    const bool worth_it = is_worth_it(device, host, &facts->repeated);
    if (readiness == TB_READY && (worth_it || should_compare_streamed(device, host, facts)))
        return compare_ways(product, facts, host);
    const bool waits = worth_it && readiness != TB_READY;
    return (tb_plan){.route = TB_ROUTE_HOST,
                     .reason = waits ? why_not_ready(readiness) : TB_REASON_TOO_SMALL,
                     .start = waits ? how_to_start(&facts->machine, host, device) : TB_START_NOT,
                     .host_seconds = host,
                     .device_seconds = device};
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
    return on_host(why_not_ready(facts->machine.readiness),
                   can_start(facts->machine.readiness) ? TB_START_FOR_LATER : TB_START_NOT);
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
        plan.start = how_to_start(&facts->machine, plan.host_seconds, plan.device_seconds);
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
