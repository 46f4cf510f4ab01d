/* The straight line of every task: trivial cases, facts, decision, run. A small task comes here where only the
 * driver could say in whose memory it lies. If that is the host's, the task goes to the host without a forecast,
 * which would take longer than the task does. */
#include "lib/call/line.h"

#include "dispatch/plan.h"
#include "lib/device/device_entry.h"
#include "lib/process/clock.h"
#include "lib/call/facts.h"
#include "lib/learning/profile.h"
#include "lib/machine/calls.h"
#include "lib/machine/meet_server.h"
#include "lib/process/leaving.h"
#include "lib/user/log.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "lib/reports/ranges.h"
#include "lib/learning/learning.h"
#include "lib/call/run.h"
#include "lib/call/sample.h"
#include "lib/reports/stats.h"
#include "lib/process/sums.h"
#include "lib/streaming/copy_threads.h"
#include "words/members.h"
#include "words/frame.h"

#include <math.h>
#include <stdatomic.h>

static tb_runner *const run[TB_TASK_KINDS][TB_ROUTE_COUNT] = {
    [TB_TASK_PRODUCT] = {[TB_ROUTE_HOST] = tb_run_host,
                         [TB_ROUTE_RESIDENT] = tb_run_resident,
                         [TB_ROUTE_STREAMED] = tb_run_streamed},
    [TB_TASK_FACTOR] = {[TB_ROUTE_HOST] = tb_run_factor_on_host,
                        [TB_ROUTE_RESIDENT] = tb_run_factor,
                        [TB_ROUTE_STREAMED] = tb_run_factor},
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

static bool lies_in_host_memory(const tb_facts *facts)
{
    return !facts->scattered && tb_is_in_host_memory(&facts->places[TB_A]) &&
           tb_is_in_host_memory(&facts->places[TB_B]) && tb_is_in_host_memory(&facts->places[TB_C]);
}

static bool host_reaches_all(const tb_facts *facts)
{
    for (int i = 0; i < TB_TASK_MATRICES; i++)
        if (facts->places[i].memory == TB_MEMORY_DEVICE)
            return false;
    return !facts->scattered;
}

/* ---- Running ---------------------------------------------------------------------------------------------- */

static tb_outcome execute(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    tb_call_range range;
    tb_begin_range(&range, task, plan->route);
    const tb_outcome outcome = run[task.kind][plan->route](task, plan, host, seconds);
    tb_end_range(&range);
    return outcome;
}

static TB_OWN_FRAME void bring_home(tb_plan *plan)
{
    *plan = tb_plan_for_host(TB_REASON_DEVICE_FAILED, plan->needs_device);
}

/* What products take while helpers have no cores says nothing about the next ones, unless there is no end to it: until that has
 * lost so much. */
#define LOST_MOST 10e-3

static bool teaches(const tb_plan *plan, double seconds)
{
    static _Atomic(double) lost;
    if (plan->route != TB_ROUTE_STREAMED)
        return true;
    const double by_now = fmin(fmax(TB_LOAD(&lost) + seconds - plan->host_seconds, 0), 2 * LOST_MOST);
    TB_STORE(&lost, by_now);
    return !tb_copies_alone() || by_now > LOST_MOST;
}

/* Does what was decided. Where the device cannot, the host does the task, and the time learned is the host's. */
static void carry_out(tb_task task, const tb_facts *facts, tb_plan *plan, const tb_host *host)
{
    const double start = tb_seconds();
    double seconds = 0;
    if (execute(task, plan, host, &seconds) == TB_DECLINED && plan->route != TB_ROUTE_HOST) {
        bring_home(plan);
        const double again = tb_seconds();
        execute(task, plan, host, NULL);
        seconds = tb_seconds() - again;
    }
    const double whole = tb_seconds() - start;
    if (teaches(plan, whole))
        tb_learn_task(task, facts, plan, seconds > 0 ? seconds : whole);
    tb_record_call(task, facts, plan, host->called_as, whole);
}

static void settle(tb_task task, const tb_host *host);

static TB_OWN_FRAME void settle_separately(const tb_product *product, const tb_host *host)
{
    for (int64_t i = 0; i < tb_members_of(product); i++) {
        tb_product member = tb_member_of(product, i);
        member.like_magnitudes = false; /* which is known of the first one */
        settle(tb_task_of_product(&member), host);
    }
}

/* ---- Deciding --------------------------------------------------------------------------------------------- */

/* A product that can be forecast only with a look at its operands gets one, and is told of it in known, which
 * the task is then. */
static TB_OWN_FRAME void look_closer(tb_task *task, tb_product *known, tb_facts *facts, tb_plan *plan)
{
    if (plan->reason != TB_REASON_MAGNITUDES || !tb_has_like_magnitudes(task->product, facts->places))
        return;
    *known = *task->product;
    known->like_magnitudes = true;
    *task = tb_task_of_product(known);
    *plan = tb_decide_remembering(*task, facts);
}

static TB_OWN_FRAME void decide_again(tb_task *task, tb_product *known, tb_facts *facts, tb_plan *plan)
{
    tb_locate_matrices(*task, facts);
    tb_gather_facts(*task, facts);
    *plan = tb_decide_remembering(*task, facts);
    look_closer(task, known, facts, plan);
}

/* Waits for a device where that pays. The plan is made where the caller wants it, and not a second time here:
 * most are made in the first step. */
static TB_OWN_FRAME tb_plan reach_decision(tb_task *task, tb_product *known, tb_facts *facts)
{
    tb_gather_facts(*task, facts);
    tb_plan plan = tb_decide_remembering(*task, facts);
    look_closer(task, known, facts, &plan);
    if (tb_machine_meet_server(&plan, tb_load_profile))
        decide_again(task, known, facts, &plan);
    /* Once for the machine, and once more for the device where the operands lie. */
    for (int waits = 0; waits < 2 && plan.start != TB_START_NOT && tb_machine_start(&plan, tb_load_profile);
         waits++)
        decide_again(task, known, facts, &plan);
    say_refusal(&plan, facts);
    return plan;
}

/* ---- The line --------------------------------------------------------------------------------------------- */

static bool is_small(tb_task task)
{
    if (!tb_is_product(task))
        return tb_task_flops(task) <= 2.0 * atomic_load_explicit(&tb_small_volume, memory_order_relaxed);
    const tb_product *product = task.product;
    const int64_t parts = tb_is_complex(tb_element_of(product)) ? 4 : 1,
                  steps = parts * product->k * tb_members_of(product);
    return tb_is_small(product->m, product->n, steps, !tb_is_zero(product->alpha));
}

static TB_OWN_FRAME void settle_decided(tb_task task, tb_facts *facts, const tb_host *host)
{
    tb_product known;
    tb_plan plan = reach_decision(&task, &known, facts);
    if (plan.separately)
        settle_separately(task.product, host);
    else
        carry_out(task, facts, &plan, host);
}

static TB_OWN_FRAME void settle_at_home(tb_task task, const tb_facts *facts, const tb_host *host)
{
    const tb_plan at_home = tb_plan_for_host(TB_REASON_THREAD, false);
    const double start = tb_seconds();
    execute(task, &at_home, host, NULL);
    tb_record_call(task, facts, &at_home, host->called_as, tb_seconds() - start);
}

static TB_OWN_FRAME void settle_small(tb_task task, const tb_host *host)
{
    const tb_plan at_home = tb_plan_for_host(TB_REASON_TOO_SMALL, false);
    run[task.kind][TB_ROUTE_HOST](task, &at_home, host, NULL);
}

/* What a call has to have left of its thread's stack to be more than handed to the host: deciding takes up to 20
 * KiB, a device's work up to 18 and the driver's. */
#define STACK_LEAST ((size_t)64 << 10)

static void settle(tb_task task, const tb_host *host)
{
    tb_facts facts;
    tb_locate_matrices(task, &facts);
    if (is_small(task) && lies_in_host_memory(&facts))
        settle_small(task, host);
    else if (host_reaches_all(&facts) && tb_stack_left() < STACK_LEAST)
        settle_at_home(task, &facts, host);
    else
        settle_decided(task, &facts, host);
}

/* A call over another one of this thread: it takes no lock of the library's and no turn, which the other one may
 * have, and it is not counted. Where the other one was interrupted in the driver, the driver cannot be asked
 * where the operands lie: the host takes them for its own. */
static void answer_over_another(tb_task task, const tb_host *host)
{
    bool needs_device = false;
    if (tb_device_depth == 0) {
        tb_facts facts;
        tb_locate_matrices(task, &facts);
        needs_device = !host_reaches_all(&facts);
    }
    const tb_plan at_home = tb_plan_for_host(TB_REASON_THREAD, needs_device);
    const int depth = tb_call_depth;
    tb_call_depth = depth + 1; /* where a handler jumps out of this, the other call puts its own back */
    run[task.kind][TB_ROUTE_HOST](task, &at_home, host, NULL);
    tb_call_depth = depth;
}

static TB_OWN_FRAME void answer_without_product(const tb_product *given, const tb_host *host,
                                                void (*answer)(tb_task task, const tb_host *host))
{
    const tb_product product = tb_without_product(given);
    answer(tb_task_of_product(&product), host);
}

/* Without a product A and B are not read, whatever alpha is: only beta * C is left to do, or zeros to store. An
 * alpha that is NaN or infinite would reach C on some routes. */
static void answer_reduced(tb_task task, const tb_host *host,
                           void (*answer)(tb_task task, const tb_host *host))
{
    const tb_product *product = task.product;
    if (!tb_is_product(task) || !(tb_is_zero(product->alpha) || product->k == 0))
        answer(task, host);
    else if (product->in_place != TB_OUT_OF_PLACE || !tb_is_one(product->beta))
        answer_without_product(product, host, answer);
}

void tb_perform(tb_task task, const tb_host *host)
{
    tb_call call;
    if (tb_is_product(task) && (task.product->m == 0 || task.product->n == 0))
        return;
    if (!tb_is_product(task) && tb_is_empty(task.factor)) {
        *task.factor->info = 0;
        return;
    }
    if (tb_is_in_call()) {
        answer_reduced(task, host, answer_over_another);
        return;
    }
    tb_begin_call(&call);
    answer_reduced(task, host, settle);
    tb_end_call(&call);
}
