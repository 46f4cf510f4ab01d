/* Computing what has been brought: the kernel's workspace, and its launches. */
#include "lib/streaming/stream_compute.h"

#include "dispatch/schedule.h"
#include "lib/machine/machine.h"
#include "lib/streaming/stream_return.h"
#include "words/integers.h"

/* Work that is under way may be using the workspace that was too small. */
static tb_status need_workspace(tb_stream_run *run, size_t bytes)
{
    tb_pipeline *pipeline = run->pipeline;
    if (bytes <= run->workspace.bytes)
        return TB_OK;
    if (run->workspace.memory)
        TB_TRY(tb_device.synchronize(pipeline->compute));
    tb_give_buffer(&run->workspace);
    run->multiplied.a.data = NULL;
    return tb_take_buffer(pipeline->device, bytes, &run->workspace);
}

/* Where a part of that size finds an operand: in place, or where it is brought to. */
static void place_like(const tb_stream_run *run, tb_role role, tb_product *part)
{
    const bool whole = run->tiling->whole;
    tb_operand *operand = &part->operands[role];
    if (tb_is_on_device(&run->plan->places[role]) && !run->plan->pads[role])
        return;
    const tb_stream_operand *there = &run->operands[tb_place_of(run, role)];
    operand->data = there->buffer.memory;
    operand->ld = whole ? there->ld : tb_pitched(operand->rows, operand->element);
}

/* A product of that size, as multiply will see it. */
static tb_product part_like(const tb_stream_run *run, const tb_launch_size *size)
{
    tb_product part = tb_subproduct(run->product, (tb_range){0, size->rows}, (tb_range){0, size->columns},
                                    (tb_range){0, size->k});
    place_like(run, TB_A, &part);
    place_like(run, TB_B, &part);
    part.beta = size->beta;
    return part;
}

static tb_schedule schedule_of(const tb_stream_run *run, const tb_product *part)
{
    return tb_make_schedule(run->kernel, part, tb_machine_target(run->pipeline->device));
}

static size_t workspace_by_steps(const tb_stream_run *run)
{
    const tb_product *product = run->product;
    const int64_t count = tb_step_count(product, run->tiling);
    size_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(product, run->tiling, i);
        for (int64_t column = 0; column < step.columns.count; column += step.swath_n) {
            tb_product part = tb_step_part(&step, product, run->tiling, tb_swath_at(&step, column));
            place_like(run, TB_A, &part);
            place_like(run, TB_B, &part);
            const size_t bytes = tb_is_masked_out(&part) ? 0 : schedule_of(run, &part).workspace;
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

static size_t workspace_by_sizes(const tb_stream_run *run)
{
    tb_launch_size sizes[TB_LAUNCH_SIZES];
    const int count = tb_tiling_sizes(run->product, run->tiling, sizes);
    size_t most = 0;
    for (int i = 0; i < count; i++) {
        const tb_product part = part_like(run, &sizes[i]);
        const size_t bytes = schedule_of(run, &part).workspace;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Before there is any such work: enough for all products that follow, and taken once. */
tb_status tb_take_workspace(tb_stream_run *run)
{
    return need_workspace(run, tb_depends_on_place(run->product, run->tiling) ? workspace_by_steps(run)
                                                                              : workspace_by_sizes(run));
}

static tb_status multiply(tb_stream_run *run, const tb_product *part)
{
    tb_pipeline *pipeline = run->pipeline;
    if (tb_is_masked_out(part))
        return TB_OK;
    const tb_schedule schedule = schedule_of(run, part);
    TB_TRY(need_workspace(run, schedule.workspace));
    const tb_product *last = &run->multiplied;
    const bool same_a =
        last->a.data == part->a.data && last->a.ld == part->a.ld && last->m == part->m && last->k == part->k;
    run->multiplied = *part;
    return (same_a ? tb_device.launch_again : tb_device.launch)(pipeline->compute, run->kernel, part,
                                                                &schedule, run->workspace.memory);
}

/* Swath by swath; what completes C is on its way as soon as it is there. */
static tb_status multiply_swaths(tb_stream_run *run, const tb_product *slab, int64_t swath_n, bool completes)
{
    for (int64_t column = 0; column < slab->n; column += swath_n) {
        const tb_range columns = {column, tb_smaller(swath_n, slab->n - column)};
        tb_product swath = tb_columns_of(slab, columns);
        if (run->tiling->grows) /* what lies beyond the mask has not come yet */
            swath = tb_trimmed(&swath);
        TB_TRY(multiply(run, &swath));
        if (completes && !tb_returns_on_device(run))
            TB_TRY(tb_note_swath(run, columns.count));
    }
    return TB_OK;
}

/* Work that follows finds loaded what has been sent so far. */
static tb_status follow_loading(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    TB_TRY(tb_mark(run, &pipeline->loaded, pipeline->load));
    return tb_device.stream_wait(pipeline->compute, pipeline->loaded);
}

tb_status tb_compute(tb_stream_run *run, const tb_product *part, int64_t swath_n, bool completes)
{
    TB_TRY(follow_loading(run));
    return multiply_swaths(run, part, swath_n, completes);
}
