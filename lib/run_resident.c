/* The resident route: operands where the device can reach them, one kernel on the caller's stream. A kernel
 * that pads gets copies of the operands that miss its alignment, in pitched memory.
 */
#include "lib/run.h"

#include "lib/device.h"
#include "lib/machine.h"
#include "lib/operand.h"
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

static tb_status run(const tb_problem *problem, const tb_plan *plan, held *held)
{
    tb_stream *stream;
    TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &stream));
    tb_status enqueued = enqueue(stream, *problem, plan, held);
    /* Also after a failure: copies may be in flight that read the caller's operands. */
    tb_status finished = tb_device.synchronize(stream);
    tb_device.destroy_stream(stream);
    return enqueued != TB_OK ? enqueued : finished;
}

/* The same plan with the kernel that needs no memory of ours. */
static tb_plan frugal(const tb_plan *plan)
{
    tb_plan simple = *plan;
    simple.kernel = tb_find_kernel("naive");
    simple.pad_a = simple.pad_b = false;
    return simple;
}

tb_outcome tb_run_resident(const tb_problem *problem, const tb_plan *plan, const tb_host *host,
                           double *seconds)
{
    (void)host, (void)seconds;
    held held = {0};
    /* Our buffers belong to the primary context; in a context of the program's own they cannot be used. */
    tb_status status = plan->place.context ? TB_OUT_OF_MEMORY : run(problem, plan, &held);
    tb_give_buffer(&held.a);
    tb_give_buffer(&held.b);
    tb_give_buffer(&held.workspace);
    if (status == TB_OUT_OF_MEMORY) {
        tb_plan simple = frugal(plan);
        status = run(problem, &simple, &held);
    }
    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in device memory");
    return status == TB_OK ? TB_DONE : TB_DECLINED;
}
