/* The streamed route: operands in host memory, or some of them, go through a device panel by panel. Where the
 * device fails, what it has not finished is as the caller left it, and the host's BLAS computes that.
 */
#include "lib/run.h"

#include "dispatch/tiling.h"
#include "lib/device.h"
#include "lib/machine.h"
#include "lib/memory.h"
#include "lib/operand.h"
#include "lib/options.h"
#include "lib/stream.h"
#include "lib/stream_product.h"

#include <stdlib.h>

/* Less than this is not worth a device's while. */
#define BUDGET_LEAST ((double)(1 << 20))

/* The share of what is free that is taken when the option does not say: the program may want some itself. */
#define BUDGET_SHARE 0.75

/* Device memory that this call may use, in bytes. */
static tb_status find_budget(int device, double *bytes)
{
    size_t free_bytes, total_bytes;
    long mib = tb_option_value(TB_OPTION_DEVICE_MEMORY);
    if (mib > 0) {
        *bytes = (double)mib * (1 << 20);
        return TB_OK;
    }
    TB_TRY(tb_device.memory(device, &free_bytes, &total_bytes));
    *bytes = BUDGET_SHARE * (double)(free_bytes + tb_kept_bytes(device));
    return TB_OK;
}

/* Rows first_row and on of a product, so many of them. */
static tb_problem rows_of(const tb_problem *problem, int64_t first_row, int64_t rows)
{
    tb_problem part = *problem;
    part.m = rows;
    part.a += part.transpose_a ? first_row * part.lda : first_row;
    part.c += first_row;
    return part;
}

static tb_problem columns_of(const tb_problem *problem, int64_t first_column)
{
    tb_problem part = *problem;
    part.n -= first_column;
    part.b += part.transpose_b ? first_column : first_column * part.ldb;
    part.c += first_column * part.ldc;
    return part;
}

static void compute_on_host(const tb_problem *problem, const tb_host *host)
{
    if (problem->m == 0 || problem->n == 0)
        return;
    if (host->sgemm)
        host->sgemm(host, problem);
    else
        tb_portable_sgemm(problem);
}

/* How far a product has come: rows that are done, and columns of the block of rows after those. */
typedef struct progress {
    int64_t rows, block_rows, columns;
} progress;

static void finish_on_host(const tb_problem *problem, const progress *done, const tb_host *host)
{
    tb_problem block = rows_of(problem, done->rows, done->block_rows);
    tb_problem right = columns_of(&block, done->columns);
    int64_t next_row = done->rows + done->block_rows;
    tb_problem below = rows_of(problem, next_row, problem->m - next_row);
    compute_on_host(&right, host);
    compute_on_host(&below, host);
}

/* Streams block after block of rows. */
static tb_status stream_rows(tb_pipeline *pipeline, const tb_problem *problem, const tb_plan *plan,
                             const tb_tiling *tiling, progress *done)
{
    while (done->rows < problem->m) {
        int64_t left = problem->m - done->rows;
        done->block_rows = left < tiling->block_m ? left : tiling->block_m;
        tb_problem block = rows_of(problem, done->rows, done->block_rows);
        TB_TRY(tb_stream_product(pipeline, &block, plan, tiling, &done->columns));
        *done = (progress){.rows = done->rows + done->block_rows};
    }
    return TB_OK;
}

/* With less and less memory, while that is what is missing and nothing has been written. */
static tb_status stream(tb_pipeline *pipeline, const tb_problem *problem, const tb_plan *plan, progress *done)
{
    const tb_device_description *device = tb_machine_device(pipeline->device);
    tb_status status = TB_OUT_OF_MEMORY;
    if (!device)
        return TB_DEVICE_LOST;
    double budget;
    TB_TRY(find_budget(pipeline->device, &budget));
    for (; budget >= BUDGET_LEAST; budget /= 2) {
        tb_tiling tiling;
        int64_t rows_most = (int64_t)(pipeline->slot_bytes / sizeof(float));
        if (!tb_choose_tiling(problem, plan->kernel, device->multiprocessors, budget, rows_most, &tiling))
            break;
        status = stream_rows(pipeline, problem, plan, &tiling, done);
        if (status != TB_OUT_OF_MEMORY || done->rows > 0 || done->columns > 0)
            break;
    }
    return status;
}

/* Whether the host would be done before the products that are waiting for the device. */
static bool host_is_sooner(const tb_plan *plan)
{
    return plan->host_seconds > 0 && !plan->needs_device &&
           tb_pipeline_backlog(plan->place.device) + plan->device_seconds > plan->host_seconds;
}

/* What lies on a device that still works but cannot do the product, fetched into host memory; data is NULL when
 * there was nothing to fetch. */
static tb_status fetch(tb_stream *stream, const tb_place *place, tb_matrix *matrix, void **copy)
{
    *copy = NULL;
    if (place->memory != TB_MEMORY_DEVICE || matrix->rows == 0 || matrix->columns == 0)
        return TB_OK;
    *copy = malloc((size_t)matrix->rows * (size_t)matrix->columns * sizeof(float));
    if (!*copy)
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_copy_matrix(stream, TB_DEVICE_TO_HOST, matrix, *copy, matrix->rows));
    matrix->data = *copy;
    matrix->ld = matrix->rows;
    return TB_OK;
}

static tb_status compute_fetched(tb_stream *stream, const tb_problem *problem, const tb_plan *plan,
                                 const progress *done, const tb_host *host, void *copies[3])
{
    tb_problem fetched = *problem;
    tb_matrix a = tb_matrix_a(problem), b = tb_matrix_b(problem), c = tb_matrix_c(problem);
    TB_TRY(fetch(stream, &plan->a, &a, &copies[0]));
    TB_TRY(fetch(stream, &plan->b, &b, &copies[1]));
    TB_TRY(fetch(stream, &plan->c, &c, &copies[2]));
    TB_TRY(tb_device.synchronize(stream));
    fetched.a = a.data;
    fetched.lda = a.ld;
    fetched.b = b.data;
    fetched.ldb = b.ld;
    if (copies[2]) {
        fetched.c = copies[2];
        fetched.ldc = c.ld;
    }
    finish_on_host(&fetched, done, host);
    if (!copies[2])
        return TB_OK;
    tb_copy back = {.direction = TB_HOST_TO_DEVICE,
                    .target = problem->c,
                    .target_pitch = (size_t)problem->ldc * sizeof(float),
                    .source = copies[2],
                    .source_pitch = (size_t)c.ld * sizeof(float),
                    .row_bytes = (size_t)c.rows * sizeof(float),
                    .rows = (size_t)c.columns};
    TB_TRY(tb_issue_copy(stream, &back));
    return tb_device.synchronize(stream);
}

/* The host computes what the device could not, although it cannot reach all operands. */
static tb_status rescue(const tb_problem *problem, const tb_plan *plan, const progress *done,
                        const tb_host *host)
{
    tb_stream *stream;
    TB_TRY(tb_device.adopt_stream(&plan->place, tb_callers_stream(), &stream));
    void *copies[3] = {NULL};
    tb_status status = compute_fetched(stream, problem, plan, done, host, copies);
    tb_device.destroy_stream(stream);
    for (int i = 0; i < 3; i++)
        free(copies[i]);
    return status;
}

tb_outcome tb_run_streamed(const tb_problem *problem, const tb_plan *plan, const tb_host *host)
{
    if (host_is_sooner(plan))
        return TB_DECLINED;
    progress done = {0};
    tb_pipeline *pipeline;
    tb_status status = tb_take_pipeline(plan->place.device, plan->device_seconds, &pipeline);
    if (status == TB_OK) {
        status = stream(pipeline, problem, plan, &done);
        tb_give_pipeline(pipeline, plan->device_seconds);
    }
    if (status != TB_OK && status != TB_DEVICE_LOST && plan->needs_device)
        status = rescue(problem, plan, &done, host);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in host memory");
    if (status == TB_OK)
        return TB_DONE;
    if (plan->needs_device || (done.rows == 0 && done.columns == 0))
        return TB_DECLINED;
    finish_on_host(problem, &done, host);
    return TB_DONE;
}
