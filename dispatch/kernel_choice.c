/* Which kernel serves a product: every catalog row that can is a candidate, the cheapest wins. */
#include "dispatch/choices.h"
#include "dispatch/mix.h"
#include "dispatch/schedule.h"
#include "dispatch/tiling.h"
#include "words/lowered.h"
#include "words/integers.h"

/* Rows that read any operands take longer than those that only plain products have. */
static bool is_meant_for(const tb_kernel *kernel, const tb_product *product)
{
    return kernel->reads != TB_READS_STRUCTURED || !tb_is_plain(product) || tb_is_batch(product);
}

bool tb_kernel_serves(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip, bool pitched)
{
    if (!tb_kernel_runs_on(kernel, chip->architecture) || !tb_kernel_computes(kernel, product) ||
        !is_meant_for(kernel, product))
        return false;
    if (pitched)
        return product->terms < 2 ||
               kernel->reads == TB_READS_STRUCTURED; /* terms are joined where they lie */
    return kernel->pads || product->k == 0 ||
           (tb_kernel_takes(kernel, product, TB_A) && tb_kernel_takes(kernel, product, TB_B));
}

const char *tb_kernel_objection(const tb_kernel *kernel, const tb_product *product, tb_accuracy accuracy,
                                int architecture)
{
    if (!tb_kernel_is_free_on(kernel, architecture))
        return "only when forced";
    if (kernel->accuracy > accuracy)
        return kernel->accuracy == TB_ACCURACY_FAST ? "only in precision fast" : "not in precision ieee";
    return tb_kernel_suits(kernel, product) ? NULL : "not for this shape";
}

static bool is_candidate(const tb_kernel *kernel, const tb_product *product, const tb_facts *facts,
                         const tb_chip *chip, bool pitched)
{
    return !tb_kernel_objection(kernel, product, facts->accuracy, chip->architecture) &&
           tb_kernel_serves(kernel, product, chip, pitched);
}

static const tb_kernel *find_cheapest(const tb_product *product, const tb_facts *facts, const tb_chip *chip,
                                      bool pitched)
{
    const tb_kernel *best = NULL;
    double best_seconds = 0;
    for (size_t row = 0; row < facts->kernel_count; row++) {
        const tb_kernel *kernel = &facts->kernels[row];
        if (!is_candidate(kernel, product, facts, chip, pitched))
            continue;
        double seconds = pitched ? tb_kernel_seconds_by_swaths(kernel, product, chip)
                                 : tb_kernel_seconds(kernel, product, chip);
        if (!best || seconds <= best_seconds) { /* of equal ones the later row, which is preferred */
            best = kernel;
            best_seconds = seconds;
        }
    }
    return best;
}

/* The hash of all that the choice depends on, where the kernels are the catalog's and none is forced. */
static uint64_t hash_question(const tb_product *product, const tb_facts *facts, const tb_chip *chip,
                              bool pitched)
{
    uint64_t hash = (uint64_t)pitched | (uint64_t)facts->accuracy << 1 | (uint64_t)chip->architecture << 8 |
                    (uint64_t)chip->multiprocessors << 32;
    hash = tb_mix_real(tb_mix_real(hash, chip->clock), chip->memory_rate);
    hash = tb_mix(tb_mix_real(hash, chip->memory_bytes_a_clock), (uintptr_t)chip->clusters);
    return tb_hash_product(hash, product);
}

static const tb_kernel *cheapest(const tb_product *product, const tb_facts *facts, const tb_chip *chip,
                                 bool pitched)
{
    if (!facts->choices)
        return find_cheapest(product, facts, chip, pitched);
    const uint64_t question = hash_question(product, facts, chip, pitched);
    const tb_kernel *known = tb_recall_choice(facts, question);
    if (known && is_candidate(known, product, facts, chip, pitched))
        return known;
    const tb_kernel *best = find_cheapest(product, facts, chip, pitched);
    if (best)
        tb_tell_choice(facts, question, best);
    return best;
}

/* Whether the kernel reads the operand where it lies: on the streamed route, what lies in host memory is
 * copied to where any kernel takes it, and on either what is expanded is written there. */
static bool in_place(const tb_product *product, const tb_plan *plan, tb_role role)
{
    return product->expanded[role].from == 0 &&
           (plan->route == TB_ROUTE_RESIDENT || tb_is_on_device(&plan->places[role]));
}

/* The product as the kernel will see it: what is copied first lies as every kernel wants it. */
static tb_product as_brought(const tb_product *product, const tb_plan *plan)
{
    enum { LINE = 128 };
    const int64_t line = LINE / (int64_t)tb_bytes_of(tb_element_of(product));
    tb_product brought = *product;
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (!in_place(product, plan, role)) {
            brought.operands[role].data = NULL;
            brought.operands[role].ld = product->expanded[role].from > 0
                                            ? tb_pitched(product->operands[role].rows, tb_element_of(product))
                                            : tb_round_up(product->operands[role].ld, line);
        }
    return brought;
}

bool tb_choose_kernel(const tb_product *given, const tb_facts *facts, bool as_forced, tb_plan *plan)
{
    bool pitched = plan->route == TB_ROUTE_STREAMED;
    const tb_product brought = as_brought(given, plan), *product = &brought;
    const tb_kernel *kernel = facts->forced_kernel;
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    if (!chip)
        return false;
    if (!as_forced || !facts->kernel_forced)
        kernel = cheapest(product, facts, chip, pitched);
    else if (!kernel || !tb_kernel_serves(kernel, product, chip, pitched))
        return false;
    if (!kernel)
        return false;
    plan->kernel = kernel;
    plan->joins = !pitched && tb_kernel_joins(kernel, product);
    for (tb_role role = TB_A; role <= TB_B; role++)
        plan->pads[role] =
            product->k > 0 && (product->expanded[role].from > 0 ||
                               (in_place(product, plan, role) && !tb_kernel_takes(kernel, product, role)));
    if (plan->route == TB_ROUTE_RESIDENT)
        plan->schedule = tb_make_schedule_remembering(kernel, product, tb_target_of(chip), facts);
    return true;
}

bool tb_choose_without_memory(const tb_product *product, const tb_facts *facts, tb_plan *plan)
{
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    double best_seconds = 0;
    plan->kernel = NULL;
    for (size_t row = 0; chip && row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool takes = product->k == 0 ||
                           (tb_kernel_takes(kernel, product, TB_A) && tb_kernel_takes(kernel, product, TB_B));
        /* Without any memory nobody can clear the imaginary parts of a Hermitian C's diagonal afterwards. */
        const bool finishes = kernel->reads != TB_READS_COMPLEX || product->c.structure != TB_HERMITIAN;
        if (!tb_kernel_is_free_on(kernel, chip->architecture) || kernel->accuracy > facts->accuracy ||
            !takes || !finishes || !tb_kernel_serves(kernel, product, chip, false))
            continue;
        const tb_schedule schedule = tb_make_schedule(kernel, product, tb_target_of(chip));
        const double seconds = tb_kernel_seconds(kernel, product, chip);
        if (schedule.workspace > 0 || (plan->kernel && seconds >= best_seconds))
            continue;
        plan->kernel = kernel;
        plan->schedule = schedule;
        best_seconds = seconds;
    }
    return plan->kernel != NULL;
}
