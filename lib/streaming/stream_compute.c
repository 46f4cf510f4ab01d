/* Computing what has been brought: the kernel's workspace, and its launches. */
#include "lib/streaming/stream_compute.h"

tb_status tb_take_workspace(tb_stream_run *run)
{
    const size_t bytes = run->schedules->workspace;
    return bytes > 0 ? tb_take_buffer(run->pipeline->device, bytes, &run->workspace) : TB_OK;
}

tb_status tb_compute(tb_stream_run *run, const tb_product *part)
{
    tb_pipeline *pipeline = run->pipeline;
    if (tb_is_masked_out(part))
        return TB_OK;
    const tb_schedule *schedule = tb_schedule_of_part(run->schedules, part);
    if (schedule->workspace > run->workspace.bytes)
        return TB_UNSUPPORTED; /* no part needs more than the parts that were gone through */
    const tb_product *last = &run->multiplied;
    const bool same_a =
        last->a.data == part->a.data && last->a.ld == part->a.ld && last->m == part->m && last->k == part->k;
    run->multiplied = *part;
    return tb_enqueue_launch(pipeline->compute, run->kernel, part, schedule, run->workspace.memory, same_a);
}

tb_status tb_follow_loading(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    TB_TRY(tb_mark(run, &pipeline->loaded, pipeline->load));
    return tb_stream_wait(pipeline->compute, pipeline->loaded);
}
