/* The streamed route: operands in host memory are copied into pitched device buffers, the product is computed
 * there, and C comes back panel by panel. Operands that already lie on the device are used in place.
 *
 * A panel is a run of columns of C. It reaches the caller's C by an ordinary memory copy from a pinned
 * buffer, once the work that made it is known to have succeeded. When the device fails, the columns not yet
 * written are as the caller left them, and the host's BLAS computes those.
 */
#include "lib/run.h"

#include "lib/device.h"
#include "lib/machine.h"
#include "lib/memory.h"

#include <string.h>

/* Large enough for the link's full rate (H200: 55 GB/s from 16 MiB on), small next to any host's memory. */
#define PANEL_BYTES ((size_t)16 << 20)

typedef struct streamed {
    tb_stream *stream;
    tb_buffer a, b, c, workspace, panel;
    tb_problem problem;   /* operands as the device sees them */
    int64_t columns_done; /* of the caller's C */
} streamed;

static bool reachable(const tb_place *place)
{
    return place->memory == TB_MEMORY_DEVICE || place->memory == TB_MEMORY_MANAGED;
}

/* A device buffer for a matrix of rows x columns, which takes the operand's place in the problem. */
static tb_status replace(int device, int64_t rows, int64_t columns, tb_buffer *buffer, const float **operand,
                         int64_t *leading_dimension)
{
    TB_TRY(tb_take_matrix(device, rows, columns, buffer, leading_dimension));
    *operand = buffer->memory;
    return TB_OK;
}

static tb_status copy_columns(tb_stream *stream, tb_direction direction, void *target, int64_t target_ld,
                              const void *source, int64_t source_ld, int64_t rows, int64_t columns)
{
    tb_copy copy = {
        .direction = direction,
        .target = target,
        .target_pitch = (size_t)target_ld * sizeof(float),
        .source = source,
        .source_pitch = (size_t)source_ld * sizeof(float),
        .row_bytes = (size_t)rows * sizeof(float),
        .rows = (size_t)columns,
    };
    return tb_device.copy(stream, &copy);
}

/* Brings an operand into a device buffer. */
static tb_status bring(streamed *run, int device, int64_t rows, int64_t columns, tb_buffer *buffer,
                       const float **operand, int64_t *leading_dimension)
{
    const float *source = *operand;
    int64_t source_ld = *leading_dimension;
    TB_TRY(replace(device, rows, columns, buffer, operand, leading_dimension));
    return copy_columns(run->stream, TB_HOST_TO_DEVICE, buffer->memory, *leading_dimension, source, source_ld,
                        rows, columns);
}

static tb_status compute(streamed *run, const tb_plan *plan)
{
    tb_problem *problem = &run->problem;
    const int device = plan->place.device;
    if (problem->k > 0 && !reachable(&plan->a))
        TB_TRY(bring(run, device, problem->transpose_a ? problem->k : problem->m,
                     problem->transpose_a ? problem->m : problem->k, &run->a, &problem->a, &problem->lda));
    if (problem->k > 0 && !reachable(&plan->b))
        TB_TRY(bring(run, device, problem->transpose_b ? problem->n : problem->k,
                     problem->transpose_b ? problem->k : problem->n, &run->b, &problem->b, &problem->ldb));
    if (!reachable(&plan->c)) {
        const float *c = problem->c;
        if (problem->beta == 0)
            TB_TRY(replace(device, problem->m, problem->n, &run->c, &c, &problem->ldc));
        else
            TB_TRY(bring(run, device, problem->m, problem->n, &run->c, &c, &problem->ldc));
        problem->c = run->c.memory;
    }
    size_t workspace = tb_device.workspace(run->stream, plan->kernel, problem);
    if (workspace > 0)
        TB_TRY(tb_take_buffer(device, workspace, &run->workspace));
    return tb_device.launch(run->stream, plan->kernel, problem, run->workspace.memory);
}

/* Hands the finished columns to the caller's C, panel by panel. */
static tb_status return_result(streamed *run, const tb_problem *given)
{
    const size_t column_bytes = (size_t)given->m * sizeof(float);
    int64_t panel = (int64_t)(PANEL_BYTES / column_bytes);
    panel = panel < 1 ? 1 : panel > given->n ? given->n : panel;
    TB_TRY(tb_take_buffer(TB_PINNED, column_bytes * (size_t)panel, &run->panel));
    while (run->columns_done < given->n) {
        int64_t left = given->n - run->columns_done, columns = left < panel ? left : panel;
        TB_TRY(copy_columns(run->stream, TB_DEVICE_TO_HOST, run->panel.memory, given->m,
                            run->problem.c + run->columns_done * run->problem.ldc, run->problem.ldc, given->m,
                            columns));
        TB_TRY(tb_device.synchronize(run->stream));
        for (int64_t j = 0; j < columns; j++)
            memcpy(given->c + (run->columns_done + j) * given->ldc,
                   (const char *)run->panel.memory + (size_t)j * column_bytes, column_bytes);
        run->columns_done += columns;
    }
    return TB_OK;
}

static tb_status run_on_device(streamed *run, const tb_problem *given, const tb_plan *plan)
{
    TB_TRY(tb_device.create_stream(plan->place.device, &run->stream));
    tb_status status = compute(run, plan);
    if (status == TB_OK)
        status = reachable(&plan->c) ? tb_device.synchronize(run->stream) : return_result(run, given);
    if (status != TB_OK)
        tb_device.synchronize(run->stream); /* nothing may still read or write the buffers */
    tb_device.destroy_stream(run->stream);
    return status;
}

/* The columns of C that the device did not finish. */
static void finish_on_host(const tb_problem *given, int64_t columns_done, const tb_host *host)
{
    tb_problem rest = *given;
    rest.n -= columns_done;
    rest.c += columns_done * rest.ldc;
    rest.b += columns_done * (rest.transpose_b ? 1 : rest.ldb);
    if (host->sgemm)
        host->sgemm(host, &rest);
    else
        tb_portable_sgemm(&rest);
}

tb_outcome tb_run_streamed(const tb_problem *problem, const tb_plan *plan, const tb_host *host)
{
    streamed run = {.problem = *problem};
    tb_status status = run_on_device(&run, problem, plan);
    tb_buffer *buffers[] = {&run.a, &run.b, &run.c, &run.workspace, &run.panel};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        tb_give_buffer(buffers[i]);

    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in host memory");
    if (status == TB_OK)
        return TB_DONE;
    if (run.columns_done == 0)
        return TB_DECLINED;
    finish_on_host(problem, run.columns_done, host);
    return TB_DONE;
}
