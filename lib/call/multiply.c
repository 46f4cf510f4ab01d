/* The straight line of every product: trivial cases, facts, decision, run. A small product comes here where only the driver could
 * say in whose memory it lies. If that is the host's, the product goes to the host without a forecast, which would take longer than
 * the product does. */
#include "lib/call/multiply.h"

#include "dispatch/plan.h"
#include "lib/device/device_entry.h"
#include "lib/process/clock.h"
#include "lib/call/facts.h"
#include "lib/learning/choices.h"
#include "lib/learning/learning.h"
#include "lib/learning/profile.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/user/log.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "lib/reports/ranges.h"
#include "lib/learning/repeated.h"
#include "lib/call/run.h"
#include "lib/call/sample.h"
#include "lib/call/small.h"
#include "lib/reports/stats.h"
#include "words/members.h"
#include "words/frame.h"

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

static void learn(const tb_product *product, const tb_facts *facts, const tb_plan *plan, double seconds)
{
    if (plan->reason == TB_REASON_DEVICE_STARTING)
        tb_machine_note_host(seconds);
    if (tb_is_batch(product)) /* all that is learned is of single products */
        return;
    /* A triangle teaches nothing about the full products of its size: hosts do those better, and pinned memory serves them in
     * another way. */
    const bool is_typical = product->mask == TB_FULL && product->in_place == TB_OUT_OF_PLACE;
    if (is_typical && plan->route == TB_ROUTE_HOST && !plan->needs_device)
        tb_learn_host(product, facts, seconds);
    else if (is_typical && plan->route == TB_ROUTE_STREAMED)
        tb_learn_streamed(product, facts, plan, seconds);
    tb_learn_product(product, facts, plan, seconds);
}

static bool lies_in_host_memory(const tb_facts *facts)
{
    return !facts->scattered && tb_is_in_host_memory(&facts->places[TB_A]) &&
           tb_is_in_host_memory(&facts->places[TB_B]) && tb_is_in_host_memory(&facts->places[TB_C]);
}

static bool host_reaches_all(const tb_facts *facts)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (facts->places[role].memory == TB_MEMORY_DEVICE)
            return false;
    return !facts->scattered;
}

static tb_outcome execute(const tb_product *product, const tb_plan *plan, const tb_host *host,
                          double *seconds)
{
    tb_call_range range;
    tb_begin_range(&range, product, plan->route);
    const tb_outcome outcome = run[plan->route](product, plan, host, seconds);
    tb_end_range(&range);
    return outcome;
}

/* What can be forecast only with a look at the operands gets one. */
static TB_OWN_FRAME void look_closer(tb_product *product, tb_facts *facts, tb_plan *plan)
{
    if (plan->reason != TB_REASON_MAGNITUDES || !tb_has_like_magnitudes(product, facts->places))
        return;
    product->like_magnitudes = true;
    *plan = tb_decide_remembering(product, facts);
}

static TB_OWN_FRAME void bring_home(tb_plan *plan)
{
    *plan = tb_plan_for_host(TB_REASON_DEVICE_FAILED, plan->needs_device);
}

/* Does what was decided. Where the device cannot, the host computes the product, and the time learned is the host's. */
static void carry_out(const tb_product *product, const tb_facts *facts, tb_plan *plan, const tb_host *host)
{
    const double start = tb_seconds();
    double seconds = 0;
    if (execute(product, plan, host, &seconds) == TB_DECLINED && plan->route != TB_ROUTE_HOST) {
        bring_home(plan);
        const double again = tb_seconds();
        execute(product, plan, host, NULL);
        seconds = tb_seconds() - again;
    }
    const double whole = tb_seconds() - start;
    if (product->k > 0)
        learn(product, facts, plan, seconds > 0 ? seconds : whole);
    tb_record_call(product, facts, plan, host->called_as, whole);
}

/* Where every call is to be told of, every call is decided. */
static bool may_go_undecided(const tb_product *product, const tb_facts *facts)
{
    return atomic_load_explicit(&tb_small_volume, memory_order_relaxed) > 0 &&
           !*tb_option_text(TB_OPTION_RECORD) && !tb_is_batch(product) && lies_in_host_memory(facts);
}

/* As the same product's calls before, or as the thread must. */
static TB_OWN_FRAME void stay(const tb_product *product, const tb_facts *facts, const tb_plan *plan,
                              const tb_host *host)
{
    const double start = tb_seconds();
    execute(product, plan, host, NULL);
    tb_record_call(product, facts, plan, host->called_as, tb_seconds() - start);
}

static void settle(const tb_product *product, const tb_host *host);

static TB_OWN_FRAME void settle_separately(const tb_product *product, const tb_host *host)
{
    for (int64_t i = 0; i < tb_members_of(product); i++) {
        tb_product member = tb_member_of(product, i);
        member.like_magnitudes = false; /* which is known of the first one */
        settle(&member, host);
    }
}

static TB_OWN_FRAME void gather_facts(const tb_product *product, tb_facts *facts)
{
    const tb_product one = tb_member_of(product, 0);
    tb_gather_facts(&one, facts);
}

static TB_OWN_FRAME void decide_again(tb_product *product, tb_facts *facts, tb_plan *plan)
{
    tb_locate_operands(product, facts);
    gather_facts(product, facts);
    *plan = tb_decide_remembering(product, facts);
    look_closer(product, facts, plan);
}

/* Waits for a device where that pays. The plan is made where the caller wants it, and not a second time here: most are made in the
 * first step. */
static TB_OWN_FRAME tb_plan reach_decision(tb_product *product, tb_facts *facts)
{
    gather_facts(product, facts);
    tb_plan plan = tb_decide_remembering(product, facts);
    look_closer(product, facts, &plan);
    /* Once for the machine, and once more for the device where the operands lie. */
    for (int waits = 0; waits < 2 && tb_machine_start(&plan, tb_load_profile); waits++)
        decide_again(product, facts, &plan);
    say_refusal(&plan, facts);
    return plan;
}

static TB_OWN_FRAME bool settle_as_before(const tb_product *product, tb_facts *facts, const tb_host *host)
{
    tb_plan plan;
    if (!may_go_undecided(product, facts) || !tb_stays_again(product, facts, &plan))
        return false;
    stay(product, facts, &plan, host);
    return true;
}

static TB_OWN_FRAME void settle_decided(const tb_product *given, tb_facts *facts, const tb_host *host)
{
    tb_product product = *given;
    tb_plan plan = reach_decision(&product, facts);
    if (plan.separately)
        settle_separately(&product, host);
    else
        carry_out(&product, facts, &plan, host);
}

static TB_OWN_FRAME void settle_at_home(const tb_product *product, const tb_facts *facts, const tb_host *host)
{
    const tb_plan at_home = tb_plan_for_host(TB_REASON_THREAD, false);
    stay(product, facts, &at_home, host);
}

static TB_OWN_FRAME void settle_small(const tb_product *product, const tb_host *host)
{
    const tb_plan at_home = tb_plan_for_host(TB_REASON_TOO_SMALL, false);
    tb_run_host(product, &at_home, host, NULL);
}

/* What a call has to have left of its thread's stack to be more than handed to the host: deciding takes up to 20 KiB, a device's work
 * 12 and the driver's. */
#define STACK_LEAST ((size_t)64 << 10)

static void settle_nontrivial(const tb_product *product, const tb_host *host)
{
    tb_facts facts;
    tb_locate_operands(product, &facts);
    const int64_t parts = tb_is_complex(tb_element_of(product)) ? 4 : 1,
                  steps = parts * product->k * tb_members_of(product);
    if (tb_is_small(product->m, product->n, steps, !tb_is_zero(product->alpha)) &&
        lies_in_host_memory(&facts))
        settle_small(product, host);
    else if (host_reaches_all(&facts) && tb_stack_left() < STACK_LEAST)
        settle_at_home(product, &facts, host);
    else if (!settle_as_before(product, &facts, host))
        settle_decided(product, &facts, host);
}

/* Without a product A and B are not read, whatever alpha is: only beta * C is left to do, or zeros to store. An alpha that is NaN or
 * infinite would reach C on some routes. */
static TB_OWN_FRAME void settle_without_product(const tb_product *given, const tb_host *host)
{
    const tb_product product = tb_without_product(given);
    if (!tb_is_one(product.beta))
        settle_nontrivial(&product, host);
}

static void settle(const tb_product *product, const tb_host *host)
{
    if (tb_is_zero(product->alpha) || product->k == 0)
        settle_without_product(product, host);
    else
        settle_nontrivial(product, host);
}

/* A call over another one of this thread: it takes no lock of the library's and no turn, which the other one may have, and it is not
 * counted. Where the other one was interrupted in the driver, the driver cannot be asked where the operands lie: the host takes them
 * for its own. */
static TB_OWN_FRAME void answer_over_another(const tb_product *product, const tb_host *host)
{
    bool needs_device = false;
    if (tb_device_depth == 0) {
        tb_facts facts;
        tb_locate_operands(product, &facts);
        needs_device = !host_reaches_all(&facts);
    }
    const tb_plan at_home = tb_plan_for_host(TB_REASON_THREAD, needs_device);
    if (!tb_is_zero(product->alpha) && product->k > 0) {
        tb_run_host(product, &at_home, host, NULL);
        return;
    }
    const tb_product without = tb_without_product(product);
    if (!tb_is_one(without.beta))
        tb_run_host(&without, &at_home, host, NULL);
}

void tb_multiply(const tb_product *product, const tb_host *host)
{
    tb_call call;
    if (product->m == 0 || product->n == 0)
        return;
    if (tb_is_in_call()) {
        answer_over_another(product, host);
        return;
    }
    tb_begin_call(&call);
    settle(product, host);
    tb_end_call(&call);
}
