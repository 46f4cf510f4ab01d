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
#include "lib/operand.h"
#include "lib/stream.h"

#include <string.h>

/* Large enough for the link's full rate (H200: 55 GB/s from 16 MiB on), small next to any host's memory. */
#define PANEL_BYTES ((size_t)16 << 20)

typedef struct streamed {
    tb_stream *stream;
    tb_buffer a, b, c, workspace, panel;
    tb_problem problem;   /* operands as the device sees them */
    int64_t columns_done; /* of the caller's C */
} streamed;

/* Where the kernel will find an operand that it reads: in a buffer, unless it lies well on the device. */
static tb_status bring(streamed *run, const tb_plan *plan, const tb_place *place, bool pad, tb_matrix *matrix,
                       tb_buffer *buffer)
{
    if (tb_is_on_device(place) && !pad)
        return TB_OK;
    tb_direction direction = tb_is_on_device(place) ? TB_DEVICE_TO_DEVICE : TB_HOST_TO_DEVICE;
    return tb_bring_matrix(run->stream, direction, plan->place.device, matrix, buffer);
}

static tb_status bring_factors(streamed *run, const tb_plan *plan)
{
    tb_matrix a = tb_matrix_a(&run->problem), b = tb_matrix_b(&run->problem);
    TB_TRY(bring(run, plan, &plan->a, plan->pad_a, &a, &run->a));
    TB_TRY(bring(run, plan, &plan->b, plan->pad_b, &b, &run->b));
    run->problem.a = a.data;
    run->problem.lda = a.ld;
    run->problem.b = b.data;
    run->problem.ldb = b.ld;
    return TB_OK;
}

/* Room for C on the device, with its old values if they count. */
static tb_status bring_result(streamed *run, const tb_plan *plan)
{
    tb_matrix c = tb_matrix_c(&run->problem);
    if (run->problem.beta == 0)
        TB_TRY(tb_take_matrix(plan->place.device, c.rows, c.columns, &run->c, &c.ld));
    else
        TB_TRY(tb_bring_matrix(run->stream, TB_HOST_TO_DEVICE, plan->place.device, &c, &run->c));
    run->problem.c = run->c.memory;
    run->problem.ldc = c.ld;
    return TB_OK;
}

static tb_status compute(streamed *run, const tb_plan *plan)
{
    if (run->problem.k > 0)
        TB_TRY(bring_factors(run, plan));
    if (!tb_is_on_device(&plan->c))
        TB_TRY(bring_result(run, plan));
    size_t workspace = tb_device.workspace(run->stream, plan->kernel, &run->problem);
    if (workspace > 0)
        TB_TRY(tb_take_buffer(plan->place.device, workspace, &run->workspace));
    return tb_device.launch(run->stream, plan->kernel, &run->problem, run->workspace.memory);
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
        tb_matrix finished = {run->problem.c + run->columns_done * run->problem.ldc, given->m, columns,
                              run->problem.ldc};
        TB_TRY(tb_copy_matrix(run->stream, TB_DEVICE_TO_HOST, &finished, run->panel.memory, given->m));
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
    /* Operands on the device may still be in the making, by work that the caller's stream orders. */
    if (tb_is_on_device(&plan->a) || tb_is_on_device(&plan->b) || tb_is_on_device(&plan->c))
        TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &run->stream));
    else
        TB_TRY(tb_device.create_stream(plan->place.device, &run->stream));
    tb_status status = compute(run, plan);
    if (status == TB_OK)
        status = tb_is_on_device(&plan->c) ? tb_device.synchronize(run->stream) : return_result(run, given);
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
