/* The straight line of every product: trivial cases, facts, decision, run. Small ones in host memory that nothing but
 * asking the driver could tell from the device's go home before forecasts, which would take longer than they do. */
#include "lib/call/sgemm.h"

#include "dispatch/plan.h"
#include "lib/process/clock.h"
#include "lib/call/facts.h"
#include "lib/learning/learning.h"
#include "lib/process/leaving.h"
#include "lib/reports/log.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/reports/options.h"
#include "lib/learning/repeated.h"
#include "lib/call/run.h"
#include "lib/reports/stats.h"

static tb_runner *const run[TB_ROUTE_COUNT] = {
    [TB_ROUTE_HOST] = tb_run_host,
    [TB_ROUTE_RESIDENT] = tb_run_resident,
    [TB_ROUTE_STREAMED] = tb_run_streamed,
};

/* A choice that the user forced and that cannot be followed is said aloud. */
static void say_refusal(const tb_plan *plan, const tb_facts *facts)
{
    if (facts->route_forced && plan->reason == TB_REASON_NO_DEVICE)
        tb_warn_once("ROUTE=%s: there is no usable device; the host answers",
                     tb_option_text(TB_OPTION_ROUTE));
    if (plan->reason == TB_REASON_ROUTE_REFUSED)
        tb_warn_once("ROUTE=%s cannot serve every call; the host answers those it cannot",
                     tb_option_text(TB_OPTION_ROUTE));
    if (plan->reason == TB_REASON_KERNEL_REFUSED)
        tb_warn_once(
            "KERNEL=%s cannot serve every call; the host, or another kernel, answers those it cannot",
            tb_option_text(TB_OPTION_KERNEL));
}

static void learn(const tb_problem *problem, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    if (plan->reason == TB_REASON_DEVICE_STARTING)
        tb_machine_note_host(seconds);
    if (plan->route == TB_ROUTE_HOST && !plan->needs_device)
        tb_learn_host(problem, facts, seconds);
    else if (plan->route == TB_ROUTE_STREAMED)
        tb_learn_streamed(problem, facts, plan, seconds);
    tb_learn_product(problem, facts, plan, seconds);
}

static bool is_in_host_memory(const tb_place *place)
{
    return place->memory == TB_MEMORY_HOST || place->memory == TB_MEMORY_PINNED;
}

static bool lies_in_host_memory(const tb_facts *facts)
{
    return is_in_host_memory(&facts->a) && is_in_host_memory(&facts->b) && is_in_host_memory(&facts->c);
}

static void settle(const tb_problem *given, const tb_host *host)
{
    /* Without a product A and B are not read, whatever alpha is: only beta * C is left to do. An alpha that is NaN or
     * infinite would reach C on some routes. */
    tb_problem problem = *given;
    if (problem.alpha == 0 || problem.k == 0) {
        problem.alpha = 0;
        problem.k = 0;
    }
    if (problem.k == 0 && problem.beta == 1)
        return;

    tb_facts facts;
    tb_locate_operands(&problem, &facts);
    if (tb_is_small(problem.m, problem.n, problem.k, problem.alpha) && lies_in_host_memory(&facts)) {
        const tb_plan at_home = tb_plan_for_host(TB_REASON_TOO_SMALL, false);
        tb_run_host(&problem, &at_home, host, NULL);
        return;
    }
    tb_gather_facts(&problem, &facts);
    tb_plan plan = tb_decide(&problem, &facts);
    /* Once for the machine, and once more for the device where the operands lie. */
    for (int waits = 0; waits < 2 && tb_machine_start(&plan); waits++) {
        tb_locate_operands(&problem, &facts);
        tb_gather_facts(&problem, &facts);
        plan = tb_decide(&problem, &facts);
    }
    say_refusal(&plan, &facts);

    double start = tb_seconds(), seconds = 0;
    tb_outcome outcome = run[plan.route](&problem, &plan, host, &seconds);
    if (outcome == TB_DECLINED && plan.route != TB_ROUTE_HOST) {
        plan = tb_plan_for_host(TB_REASON_DEVICE_FAILED, plan.needs_device);
        const double again = tb_seconds();
        outcome = tb_run_host(&problem, &plan, host, NULL);
        seconds = tb_seconds() - again;
    }
    double whole = tb_seconds() - start;
    if (problem.k > 0)
        learn(&problem, &facts, &plan, seconds > 0 ? seconds : whole);
    tb_record_call(&problem, &facts, &plan, whole);
}

void tb_sgemm(const tb_problem *problem, const tb_host *host)
{
    tb_call call;
    if (problem->m == 0 || problem->n == 0)
        return;
    tb_begin_call(&call);
    settle(problem, host);
    tb_end_call(&call);
}
