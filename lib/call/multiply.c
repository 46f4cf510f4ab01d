/* The straight line of every product: trivial cases, facts, decision, run. A small product comes here where only the driver could
 * say in whose memory it lies. If that is the host's, the product goes to the host without a forecast, which would take longer than
 * the product does. */
#include "lib/call/multiply.h"

#include "dispatch/plan.h"
#include "lib/device/device_entry.h"
#include "lib/process/clock.h"
#include "lib/call/facts.h"
#include "lib/learning/learning.h"
#include "lib/process/leaving.h"
#include "lib/reports/log.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/reports/options.h"
#include "lib/reports/ranges.h"
#include "lib/learning/repeated.h"
#include "lib/call/run.h"
#include "lib/call/sample.h"
#include "lib/call/small.h"
#include "lib/reports/stats.h"
#include "words/batch.h"

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
static tb_plan decide(tb_product *product, const tb_facts *facts)
{
    const tb_plan plan = tb_decide(product, facts);
    if (plan.reason != TB_REASON_MAGNITUDES || !tb_has_like_magnitudes(product, facts->places))
        return plan;
    product->like_magnitudes = true;
    return tb_decide(product, facts);
}

/* Does what was decided. Where the device cannot, the host computes the product, and the time learned is the host's. */
static void carry_out(const tb_product *product, const tb_facts *facts, tb_plan plan, const tb_host *host)
{
    say_refusal(&plan, facts);
    const double start = tb_seconds();
    double seconds = 0;
    if (execute(product, &plan, host, &seconds) == TB_DECLINED && plan.route != TB_ROUTE_HOST) {
        plan = tb_plan_for_host(TB_REASON_DEVICE_FAILED, plan.needs_device);
        const double again = tb_seconds();
        execute(product, &plan, host, NULL);
        seconds = tb_seconds() - again;
    }
    const double whole = tb_seconds() - start;
    if (product->k > 0)
        learn(product, facts, &plan, seconds > 0 ? seconds : whole);
    tb_record_call(product, facts, &plan, host->called_as, whole);
}

/* Where every call is to be told of, every call is decided. */
static bool may_go_undecided(const tb_product *product, const tb_facts *facts)
{
    return atomic_load_explicit(&tb_small_volume, memory_order_relaxed) > 0 &&
           !*tb_option_text(TB_OPTION_RECORD) && !tb_is_batch(product) && lies_in_host_memory(facts);
}

/* As the same product's calls before. */
static void stay(const tb_product *product, const tb_facts *facts, const tb_plan *plan, const tb_host *host)
{
    const double start = tb_seconds();
    execute(product, plan, host, NULL);
    tb_record_call(product, facts, plan, host->called_as, tb_seconds() - start);
}

/* Without a product A and B are not read, whatever alpha is: only beta * C is left to do, or zeros to store. An alpha that is NaN or
 * infinite would reach C on some routes. */
static tb_product make_read_only_what_counts(const tb_product *given)
{
    return tb_is_zero(given->alpha) || given->k == 0 ? tb_without_product(given) : *given;
}

static void settle(const tb_product *given, const tb_host *host)
{
    tb_product product = make_read_only_what_counts(given);
    if (product.k == 0 && tb_is_one(product.beta))
        return;

    tb_facts facts;
    tb_locate_operands(&product, &facts);
    const int64_t parts = tb_is_complex(tb_element_of(&product)) ? 4 : 1,
                  steps = parts * product.k * tb_members_of(&product);
    if (tb_is_small(product.m, product.n, steps, !tb_is_zero(product.alpha)) && lies_in_host_memory(&facts)) {
        const tb_plan at_home = tb_plan_for_host(TB_REASON_TOO_SMALL, false);
        tb_run_host(&product, &at_home, host, NULL);
        return;
    }
    tb_plan plan;
    if (may_go_undecided(&product, &facts) && tb_stays_again(&product, &facts, &plan)) {
        stay(&product, &facts, &plan, host);
        return;
    }
    const tb_product one = tb_member_of(&product, 0);
    tb_gather_facts(&one, &facts);
    plan = decide(&product, &facts);
    /* Once for the machine, and once more for the device where the operands lie. */
    for (int waits = 0; waits < 2 && tb_machine_start(&plan); waits++) {
        tb_locate_operands(&product, &facts);
        tb_gather_facts(&one, &facts);
        plan = decide(&product, &facts);
    }
    if (plan.separately) {
        for (int64_t i = 0; i < tb_members_of(&product); i++) {
            tb_product member = tb_member_of(&product, i);
            member.like_magnitudes = false; /* which is known of the first one */
            settle(&member, host);
        }
        return;
    }
    carry_out(&product, &facts, plan, host);
}

/* A call over another one of this thread: it takes no lock of the library's and no turn, which the other one may have, and it is not
 * counted. Where the other one was interrupted in the driver, the driver cannot be asked where the operands lie: the host takes them
 * for its own. */
static void answer_over_another(const tb_product *given, const tb_host *host)
{
    const tb_product product = make_read_only_what_counts(given);
    tb_facts facts;
    bool needs_device = false;
    if (product.k == 0 && tb_is_one(product.beta))
        return;
    if (tb_device_depth == 0) {
        tb_locate_operands(&product, &facts);
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            needs_device = needs_device || facts.scattered || facts.places[role].memory == TB_MEMORY_DEVICE;
    }
    const tb_plan at_home = tb_plan_for_host(TB_REASON_THREAD, needs_device);
    tb_run_host(&product, &at_home, host, NULL);
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
