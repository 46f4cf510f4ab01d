/* The resident route: operands where the device can reach them, one kernel on the caller's stream. A kernel
 * that pads gets copies of the operands that miss its alignment, in pitched memory.
 */
#include "lib/run.h"

#include "lib/device.h"
#include "lib/machine.h"
#include "lib/operand.h"
#include "lib/precision.h"
#include "lib/stream.h"

/* What one call holds, released in one place whatever happened. */
typedef struct held {
    tb_buffer a, b, workspace;
} held;

static tb_status enqueue(tb_stream *stream, tb_problem problem, const tb_plan *plan, held *held)
{
    if (plan->pad_a) {
        tb_matrix a = tb_matrix_a(&problem);
        TB_TRY(tb_bring_matrix(stream, TB_DEVICE_TO_DEVICE, plan->place.device, &a, &held->a));
        problem.a = a.data;
        problem.lda = a.ld;
    }
    if (plan->pad_b) {
        tb_matrix b = tb_matrix_b(&problem);
        TB_TRY(tb_bring_matrix(stream, TB_DEVICE_TO_DEVICE, plan->place.device, &b, &held->b));
        problem.b = b.data;
        problem.ldb = b.ld;
    }
    size_t workspace = tb_device.workspace(stream, plan->kernel, &problem);
    if (workspace > 0)
        TB_TRY(tb_take_buffer(plan->place.device, workspace, &held->workspace));
    return tb_device.launch(stream, plan->kernel, &problem, held->workspace.memory);
}

/* The fastest kernel that needs no memory of ours. */
static const tb_kernel *frugal_kernel(tb_stream *stream, const tb_problem *problem, const tb_plan *plan)
{
    tb_machine machine = tb_machine_facts();
    const tb_chip *chip = tb_find_chip(&machine, plan->place.device);
    const tb_kernel *best = NULL;
    double best_seconds = 0;
    for (size_t row = 0; chip && row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        bool takes = problem->k == 0 || (tb_kernel_takes(kernel, problem->a, problem->lda) &&
                                         tb_kernel_takes(kernel, problem->b, problem->ldb));
        if (kernel->forced_only || kernel->accuracy > tb_wanted_accuracy() || !takes ||
            !tb_kernel_serves(kernel, problem, chip, false) ||
            tb_device.workspace(stream, kernel, problem) > 0)
            continue;
        double seconds = tb_kernel_seconds(kernel, problem, chip);
        if (!best || seconds < best_seconds) {
            best = kernel;
            best_seconds = seconds;
        }
    }
    return best;
}

static tb_status enqueue_frugally(tb_stream *stream, const tb_problem *problem, const tb_plan *plan)
{
    const tb_kernel *kernel = frugal_kernel(stream, problem, plan);
    return kernel ? tb_device.launch(stream, kernel, problem, NULL) : TB_UNSUPPORTED;
}

static tb_status run(const tb_problem *problem, const tb_plan *plan, bool frugally, held *held)
{
    tb_stream *stream;
    TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &stream));
    tb_status enqueued =
        frugally ? enqueue_frugally(stream, problem, plan) : enqueue(stream, *problem, plan, held);
    /* Also after a failure: copies may be in flight that read the caller's operands. */
    tb_status finished = tb_device.synchronize(stream);
    tb_device.destroy_stream(stream);
    return enqueued != TB_OK ? enqueued : finished;
}

tb_outcome tb_run_resident(const tb_problem *problem, const tb_plan *plan, const tb_host *host,
                           double *seconds)
{
    (void)host, (void)seconds;
    held held = {0};
    /* Our buffers belong to the primary context; in a context of the program's own they cannot be used. */
    tb_status status = plan->place.context ? TB_OUT_OF_MEMORY : run(problem, plan, false, &held);
    tb_give_buffer(&held.a);
    tb_give_buffer(&held.b);
    tb_give_buffer(&held.workspace);
    if (status == TB_OUT_OF_MEMORY)
        status = run(problem, plan, true, &held);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in device memory");
    return status == TB_OK ? TB_DONE : TB_DECLINED;
}
