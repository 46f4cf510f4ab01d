/* Which of two ways a call goes. */
#include "dispatch/ways.h"

#include "words/frame.h"

#include <math.h>

static TB_OWN_FRAME tb_plan on_host(tb_reason reason, tb_start start)
{
    return (tb_plan){.route = TB_ROUTE_HOST, .reason = reason, .start = start};
}

tb_reason tb_why_not_ready(tb_readiness readiness)
{
    return readiness == TB_ABSENT ? TB_REASON_NO_DEVICE
           : readiness == TB_LOST ? TB_REASON_DEVICE_LOST
                                  : TB_REASON_DEVICE_STARTING;
}

bool tb_can_start(tb_readiness readiness)
{
    return readiness == TB_UNTRIED || readiness == TB_STARTING;
}

/* Bringing a device up takes 0.25 s of one core, and the program's own BLAS, whose threads wait for each
 * other, a third of its speed meanwhile; taking it down at exit takes 0.05 to 0.08 s. So it is started for
 * programs that have spent more than that on products, and will therefore, as far as anybody knows, go on. On
 * an H100's host of 16 cores ten products of 4096, which take 1.2 s and see the device for the last three,
 * lose 5% by it, and thirty gain 58% (bench/programs, docs/lab/starting.md). */
#define START_PAYS 0.65

/* A call that saves so much waits for the device, instead of being the last that the host has. */
#define WAIT_PAYS 1.0

tb_start tb_how_to_start(const tb_machine *machine, double host, double device)
{
    if (!tb_can_start(machine->readiness))
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

bool tb_may_leave(const tb_facts *facts, double host, double device)
{
    return facts->machine.readiness == TB_READY &&
           (is_worth_it(device, host, &facts->repeated) || should_compare_streamed(device, host, facts));
}

tb_plan tb_stay(const tb_facts *facts, double host, double device)
{
    const tb_readiness readiness = facts->machine.readiness;
    /* Before a device is up nothing can be compared. So of products whose calls teach nothing about others, such as triangles,
     * these calls alone tell that a device would pay. */
    if (readiness != TB_READY)
        host = host_by_its_calls(facts, host);
    const bool waits = readiness != TB_READY && is_worth_it(device, host, &facts->repeated);
    return (tb_plan){.route = TB_ROUTE_HOST,
                     .reason = waits ? tb_why_not_ready(readiness) : TB_REASON_TOO_SMALL,
                     .start = waits ? tb_how_to_start(&facts->machine, host, device) : TB_START_NOT,
                     .host_seconds = host,
                     .device_seconds = device};
}

void tb_choose_way(const tb_facts *facts, tb_plan *plan, double host)
{
    const double device = plan->device_seconds, at_risk = plan->seconds_at_risk;
    if (plan->route == TB_ROUTE_STREAMED)
        see_who_gets_it(facts, plan, host);
    plan->host_seconds = host;
    plan->device_seconds = device;
    plan->seconds_at_risk = at_risk;
}
