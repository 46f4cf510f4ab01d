/* Which kernel serves a problem: every catalog row that can is a candidate, the cheapest wins. */
#include "dispatch/plan.h"

bool tb_kernel_serves(const tb_kernel *kernel, const tb_problem *problem, const tb_machine *machine,
                      bool pitched)
{
    if (machine->architecture < kernel->architecture)
        return false;
    if (kernel->architecture_end && machine->architecture >= kernel->architecture_end)
        return false;
    if (kernel->k_limit && problem->k > kernel->k_limit)
        return false;
    return pitched || kernel->pads || problem->k == 0 ||
           (tb_kernel_takes(kernel, problem->a, problem->lda) &&
            tb_kernel_takes(kernel, problem->b, problem->ldb));
}

static const tb_kernel *cheapest(const tb_problem *problem, const tb_facts *facts, bool pitched)
{
    const tb_kernel *best = NULL;
    double best_seconds = 0;
    for (size_t row = 0; row < facts->kernel_count; row++) {
        const tb_kernel *kernel = &facts->kernels[row];
        if (kernel->forced_only || !tb_kernel_serves(kernel, problem, &facts->machine, pitched))
            continue;
        double seconds = tb_kernel_seconds(kernel, problem, &facts->machine);
        if (!best || seconds <= best_seconds) {
            best = kernel;
            best_seconds = seconds;
        }
    }
    return best;
}

bool tb_choose_kernel(const tb_problem *problem, const tb_facts *facts, tb_plan *plan)
{
    /* Streamed operands are copied into pitched buffers; those that stay in device memory are padded there.
     */
    bool pitched = plan->route == TB_ROUTE_STREAMED;
    const tb_kernel *kernel = facts->forced_kernel;
    if (!facts->kernel_forced)
        kernel = cheapest(problem, facts, pitched);
    else if (!kernel || !tb_kernel_serves(kernel, problem, &facts->machine, pitched))
        return false;
    plan->kernel = kernel;
    if (kernel && !pitched && problem->k > 0) {
        plan->pad_a = !tb_kernel_takes(kernel, problem->a, problem->lda);
        plan->pad_b = !tb_kernel_takes(kernel, problem->b, problem->ldb);
    }
    return kernel != NULL;
}
