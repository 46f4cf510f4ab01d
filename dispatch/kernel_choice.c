/* Which kernel serves a product: every catalog row that can is a candidate, the cheapest wins. */
#include "dispatch/mix.h"
#include "dispatch/plan.h"
#include "dispatch/schedule.h"
#include "dispatch/tiling.h"
#include "words/lowered.h"
#include "words/integers.h"

#include <string.h>

static bool can_be_read_as_complex(const tb_product *product)
{
    return tb_is_complex(tb_element_of(product)) && product->a.structure == TB_GENERAL &&
           product->b.structure == TB_GENERAL && (product->k == 0 || product->alpha.im == 0) &&
           product->beta.im == 0 && product->terms < 2;
}

static bool reads_operands(const tb_kernel *kernel, const tb_product *product)
{
    switch (kernel->reads) {
    case TB_READS_PLAIN:
        return tb_is_plain(product);
    case TB_READS_STRUCTURED:
        return !tb_is_plain(product) || tb_is_batch(product);
    case TB_READS_COMPLEX:
        return can_be_read_as_complex(product);
    }
    return false;
}

bool tb_kernel_serves(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip, bool pitched)
{
    if (!tb_kernel_runs_on(kernel, chip->architecture) || kernel->element != tb_element_of(product) ||
        kernel->in_place != product->in_place || (product->mask != TB_FULL && !kernel->masks))
        return false;
    const bool joins = !pitched && tb_kernel_joins(kernel, product);
    if ((!reads_operands(kernel, product) && !joins) || (tb_is_batch(product) && !kernel->batches))
        return false;
    if (kernel->k_limit && product->k > kernel->k_limit)
        return false;
    return pitched || kernel->pads || product->k == 0 ||
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

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* By how much the address is aligned, up to the 128 bytes that a forecast may ask for: a power of two, its
 * exponent. */
static uint64_t alignment_of(const tb_operand *operand)
{
    enum { MOST = 128 };
    return (uint64_t)__builtin_ctzll((uintptr_t)operand->data | MOST);
}

/* The same of the distances between a batch's matrices: the stride's exponent, or the greatest one where all are in one place. */
static uint64_t alignment_between(const tb_product *product, tb_role role)
{
    enum { NOT_OF_ELEMENTS = 0, ONE_ELEMENT = 1, MOST = 128 };
    const tb_members *members = &product->batch.members[role];
    const bool is_batch = tb_is_batch(product);
    if (is_batch && members->uneven && members->stride == 0)
        return NOT_OF_ELEMENTS;
    return ONE_ELEMENT + (uint64_t)__builtin_ctzll((uint64_t)(is_batch ? members->stride : 0) | MOST);
}

/* The hash of all that the choice depends on, where the kernels are the catalog's and none is forced. What is known of the operands'
 * numbers is not in it: a kernel that they do not suit takes no longer than the others would. */
static uint64_t hash_question(const tb_product *product, const tb_facts *facts, const tb_chip *chip,
                              bool pitched)
{
    const uint64_t flags = (uint64_t)product->a.transposed | (uint64_t)product->b.transposed << 1 |
                           (uint64_t)!tb_is_zero(product->beta) << 2 | (uint64_t)pitched << 3 |
                           (uint64_t)facts->accuracy << 4 | alignment_of(&product->a) << 8 |
                           alignment_of(&product->b) << 12 | (uint64_t)product->routine << 16 |
                           (uint64_t)product->mask << 24 | (uint64_t)product->mask_pairs << 26 |
                           (uint64_t)product->expanded[TB_A].embedded << 27 |
                           (uint64_t)product->in_place << 28 | (uint64_t)tb_is_triangle_left(product) << 30 |
                           (uint64_t)tb_has_one_operand(product) << 31 | (uint64_t)product->a.stored << 32 |
                           (uint64_t)product->b.stored << 34 | (uint64_t)(product->alpha.im != 0) << 36 |
                           (uint64_t)(product->beta.im != 0) << 37 | (uint64_t)(product->terms == 2) << 38 |
                           alignment_between(product, TB_A) << 40 | alignment_between(product, TB_B) << 44;
    const uint64_t parts[] = {(uint64_t)product->m,
                              (uint64_t)product->n,
                              (uint64_t)product->k,
                              (uint64_t)tb_members_of(product),
                              (uint64_t)product->a.ld,
                              (uint64_t)product->b.ld,
                              (uint64_t)product->diagonal,
                              flags,
                              (uint64_t)chip->architecture << 32 | (uint64_t)chip->multiprocessors,
                              (uintptr_t)chip->clusters,
                              bits_of(chip->clock),
                              bits_of(chip->memory_rate),
                              bits_of(chip->memory_bytes_a_clock)};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = tb_mix(hash, parts[i]);
    return hash;
}

/* Programs call again and again with a few shapes: all rows are asked for their forecasts only at the first
 * call of each. */
static const tb_kernel *cheapest(const tb_product *product, const tb_facts *facts, const tb_chip *chip,
                                 bool pitched)
{
    if (!facts->memory)
        return find_cheapest(product, facts, chip, pitched);
    const uint64_t question = hash_question(product, facts, chip, pitched);
    const tb_kernel *known = facts->memory->recall(question);
    if (known && is_candidate(known, product, facts, chip, pitched))
        return known;
    const tb_kernel *best = find_cheapest(product, facts, chip, pitched);
    if (best)
        facts->memory->keep(question, best);
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
        plan->schedule = tb_make_schedule(kernel, product, tb_target_of(chip));
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
