/* Which kernel serves a problem: every catalog row that can is a candidate, the cheapest wins. */
#include "dispatch/plan.h"

const tb_chip *tb_find_chip(const tb_machine *machine, int device)
{
    for (int i = 0; i < machine->chip_count; i++)
        if (machine->chips[i].device == device)
            return &machine->chips[i];
    return NULL;
}

bool tb_kernel_serves(const tb_kernel *kernel, const tb_problem *problem, const tb_chip *chip, bool pitched)
{
    if (!tb_kernel_runs_on(kernel, chip->architecture))
        return false;
    if (kernel->k_limit && problem->k > kernel->k_limit)
        return false;
    return pitched || kernel->pads || problem->k == 0 ||
           (tb_kernel_takes(kernel, problem->a, problem->lda) &&
            tb_kernel_takes(kernel, problem->b, problem->ldb));
}

static bool has_the_shape(const tb_kernel *kernel, const tb_problem *p)
{
    int64_t shorter = p->m < p->n ? p->m : p->n, longer = p->m < p->n ? p->n : p->m;
    return shorter >= kernel->least_extent && p->k >= kernel->least_extent &&
           (kernel->short_side == 0 || shorter <= kernel->short_side) &&
           (double)longer * (double)p->k >= (double)kernel->least_elements;
}

const char *tb_kernel_objection(const tb_kernel *kernel, const tb_problem *problem, tb_accuracy accuracy,
                                int architecture)
{
    if (!tb_kernel_is_free_on(kernel, architecture))
        return "only when forced";
    if (kernel->accuracy > accuracy)
        return kernel->accuracy == TB_ACCURACY_FAST ? "only in precision fast" : "not in precision ieee";
    return has_the_shape(kernel, problem) ? NULL : "not for this shape";
}

static const tb_kernel *find_cheapest(const tb_problem *problem, const tb_facts *facts, const tb_chip *chip,
                                      bool pitched)
{
    const tb_kernel *best = NULL;
    double best_seconds = 0;
    for (size_t row = 0; row < facts->kernel_count; row++) {
        const tb_kernel *kernel = &facts->kernels[row];
        if (tb_kernel_objection(kernel, problem, facts->accuracy, chip->architecture) ||
            !tb_kernel_serves(kernel, problem, chip, pitched))
            continue;
        double seconds = tb_kernel_seconds(kernel, problem, chip);
        if (!best || seconds <= best_seconds) {
            best = kernel;
            best_seconds = seconds;
        }
    }
    return best;
}

static bool is_same(const tb_choice_question *x, const tb_choice_question *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->lda == y->lda && x->ldb == y->ldb &&
           x->misalignment_a == y->misalignment_a && x->misalignment_b == y->misalignment_b &&
           x->transpose_a == y->transpose_a && x->transpose_b == y->transpose_b && x->reads_c == y->reads_c &&
           x->pitched == y->pitched && x->accuracy == y->accuracy && x->architecture == y->architecture &&
           x->multiprocessors == y->multiprocessors && !(x->clock < y->clock) && !(x->clock > y->clock) &&
           !(x->memory_rate < y->memory_rate) && !(x->memory_rate > y->memory_rate);
}

static tb_choice_question question_of(const tb_problem *problem, const tb_facts *facts, const tb_chip *chip,
                                      bool pitched)
{
    const uintptr_t bytes = 16;
    return (tb_choice_question){.m = problem->m,
                                .n = problem->n,
                                .k = problem->k,
                                .lda = problem->lda,
                                .ldb = problem->ldb,
                                .misalignment_a = (uintptr_t)problem->a % bytes,
                                .misalignment_b = (uintptr_t)problem->b % bytes,
                                .transpose_a = problem->transpose_a,
                                .transpose_b = problem->transpose_b,
                                .reads_c = problem->beta != 0,
                                .pitched = pitched,
                                .accuracy = facts->accuracy,
                                .architecture = chip->architecture,
                                .multiprocessors = chip->multiprocessors,
                                .clock = chip->clock,
                                .memory_rate = chip->memory_rate};
}

/* Programs call again and again with one shape: all rows are asked for their forecasts only at the first. */
static const tb_kernel *cheapest(const tb_problem *problem, const tb_facts *facts, const tb_chip *chip,
                                 bool pitched)
{
    tb_choice_memory *last = facts->last_choice;
    if (!last)
        return find_cheapest(problem, facts, chip, pitched);
    const tb_choice_question question = question_of(problem, facts, chip, pitched);
    if (!last->kernel || !is_same(&question, &last->question)) {
        last->kernel = find_cheapest(problem, facts, chip, pitched);
        last->question = question;
    }
    return last->kernel;
}

/* Whether the kernel reads the operand where it lies: on the streamed route, what lies in host memory is
 * copied to where any kernel takes it. */
static bool in_place(const tb_plan *plan, const tb_place *place)
{
    return plan->route == TB_ROUTE_RESIDENT || place->memory == TB_MEMORY_DEVICE ||
           place->memory == TB_MEMORY_MANAGED;
}

/* The problem as the kernel will see it: what is copied first lies as every kernel wants it. */
static tb_problem as_brought(const tb_problem *problem, const tb_plan *plan)
{
    enum { LINE = 32 };
    tb_problem brought = *problem;
    if (!in_place(plan, &plan->a)) {
        brought.a = NULL;
        brought.lda = (problem->lda + LINE - 1) / LINE * LINE;
    }
    if (!in_place(plan, &plan->b)) {
        brought.b = NULL;
        brought.ldb = (problem->ldb + LINE - 1) / LINE * LINE;
    }
    return brought;
}

bool tb_choose_kernel(const tb_problem *given, const tb_facts *facts, bool as_forced, tb_plan *plan)
{
    bool pitched = plan->route == TB_ROUTE_STREAMED;
    const tb_problem brought = as_brought(given, plan), *problem = &brought;
    const tb_kernel *kernel = facts->forced_kernel;
    const tb_chip *chip = tb_find_chip(&facts->machine, plan->place.device);
    if (!chip)
        return false;
    if (!as_forced || !facts->kernel_forced)
        kernel = cheapest(problem, facts, chip, pitched);
    else if (!kernel || !tb_kernel_serves(kernel, problem, chip, pitched))
        return false;
    if (!kernel)
        return false;
    plan->kernel = kernel;
    plan->pad_a =
        problem->k > 0 && in_place(plan, &plan->a) && !tb_kernel_takes(kernel, problem->a, problem->lda);
    plan->pad_b =
        problem->k > 0 && in_place(plan, &plan->b) && !tb_kernel_takes(kernel, problem->b, problem->ldb);
    return true;
}
