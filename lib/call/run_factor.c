/* Factorizations on a device. It has a copy of the matrix, on which the sequence's steps are done (sequences/factorization.h): products as
 * the resident route does them, and panels. Of the program's matrix finished columns alone are written, in order, when it is known that
 * they are; the rest is as it was. So the host can go on from there when a device fails, and where a pivot is not positive, which the
 * host's own routine has to say.
 */
#include "lib/call/resident.h"
#include "lib/call/finish_factor.h"
#include "lib/call/run.h"
#include "lib/call/stream.h"

#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/copies.h"
#include "lib/device/memory.h"
#include "lib/device/served_use.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/process/leaving.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "sequences/factorization.h"
#include "words/integers.h"

#include <string.h>

/* Products that are enqueued before the stream is waited for, at most. */
enum { HELD_MOST = 8 };

typedef struct work {
    tb_visitor visitor;
    const tb_factor *factor; /* the program's */
    const tb_plan *plan;
    tb_product triangle; /* whose C is the program's matrix, masked */
    tb_factor there;     /* the copy */
    tb_stream *stream;
    tb_buffer matrix, flag; /* on the device: the copy, and info */
    /* In host memory: columns until it is known that they are finished. NULL: they go straight to a device. */
    char *staging;
    bool in_use;             /* the device is used for it (lib/device/served_use.h) */
    tb_held held[HELD_MOST]; /* what products have taken since the stream was waited for */
    int held_count;
    int64_t finished; /* columns that are in the program's matrix */
    int64_t info;
} work;

/* ---- Columns of the triangle ------------------------------------------------------------------------------ */

static bool is_on_device(const work *work)
{
    return work->plan->places[0].memory == TB_MEMORY_DEVICE;
}

/* The columns of the copy, all rows. */
static tb_matrix columns_there(const work *work, tb_range columns)
{
    return tb_rectangle(&work->there.a, 0, columns.first, work->there.n, columns.count);
}

static tb_status load(work *work)
{
    int64_t copied;
    const tb_matrix *a = &work->triangle.c.matrix;
    static const int64_t none;
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->flag.memory, &none, sizeof none);
    TB_TRY(tb_issue_copy(work->stream, &clear));
    return tb_copy_masked(work->stream, is_on_device(work) ? TB_DEVICE_TO_DEVICE : TB_HOST_TO_DEVICE,
                          &work->triangle, a, work->there.a.data, work->there.a.ld, &copied);
}

static void give_held(work *work)
{
    while (work->held_count > 0)
        tb_give_held(&work->held[--work->held_count]);
}

static tb_status come_to_rest(work *work)
{
    TB_TRY(tb_synchronize(work->stream));
    give_held(work);
    return TB_OK;
}

/* Waits until the columns are there and looks whether they are finished. */
static tb_status wait_for_columns(work *work, tb_range columns)
{
    const tb_matrix there = columns_there(work, columns);
    const tb_copy flag =
        tb_copy_of_bytes(TB_DEVICE_TO_HOST, &work->info, work->flag.memory, sizeof work->info);
    TB_TRY(tb_issue_copy(work->stream, &flag));
    if (work->staging)
        TB_TRY(tb_copy_operand(work->stream, TB_DEVICE_TO_HOST, &there, work->staging, there.rows));
    return come_to_rest(work);
}

/* From the copy in device or in host memory into the program's matrix, the triangle alone. Columns before one that cannot be copied
 * count as finished. */
static tb_status store_columns(work *work, tb_range columns)
{
    const tb_product part = tb_columns_of(&work->triangle, columns);
    tb_matrix from = columns_there(work, columns);
    int64_t copied = columns.count;
    tb_status status = TB_OK;
    if (!work->staging)
        status =
            tb_copy_masked(work->stream, TB_DEVICE_TO_DEVICE, &part, &from, part.c.data, part.c.ld, &copied);
    from.data = work->staging;
    from.ld = from.rows;
    for (int64_t j = 0; j < columns.count && work->staging; j++) {
        const tb_range rows = tb_masked_rows(&part, j);
        memcpy(tb_at(&part.c.matrix, rows.first, j), tb_at(&from, rows.first, j),
               (size_t)rows.count * tb_bytes_of(from.element));
    }
    work->finished = columns.first + copied;
    return status;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

static tb_status take_step(work *work, const tb_sequence_step *step)
{
    if (step->kind == TB_STEP_PANEL)
        return tb_enqueue_panel(work->stream, &step->panel, step->position, work->flag.memory);
    if (step->product.m == 0 || step->product.n == 0)
        return TB_OK;
    if (work->held_count == HELD_MOST)
        TB_TRY(come_to_rest(work));
    tb_held *held = &work->held[work->held_count++];
    held->bytes = work->matrix.bytes;
    return tb_enqueue_resident(work->stream, &step->product, &work->plan->place, held);
}

/* A pivot that is not positive ends the walk. */
static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    work *all = (work *)visitor;
    TB_TRY(take_step(all, step));
    if (step->finished.count == 0)
        return TB_OK;
    TB_TRY(wait_for_columns(all, step->finished));
    if (all->info != 0)
        return TB_UNSUPPORTED;
    return store_columns(all, step->finished);
}

static tb_status take_steps(tb_stream *stream, void *argument)
{
    work *work = argument;
    work->stream = stream;
    TB_TRY(load(work));
    return tb_walk_factor(&work->there, work->plan->block, tb_panel_order(work->factor->routine),
                          &work->visitor);
}

/* The option DEVICE_MEMORY counts the copy as well. */
static bool is_allowed(size_t bytes)
{
    const size_t limit = (size_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20;
    return limit == 0 || bytes <= limit;
}

static tb_status take_memory(work *work)
{
    const tb_factor *factor = work->factor;
    const int64_t ld = tb_pitched(factor->n, factor->a.element);
    const size_t column = (size_t)ld * tb_bytes_of(factor->a.element);
    if (work->plan->place.context || !is_allowed((size_t)factor->n * column))
        return TB_OUT_OF_MEMORY; /* our buffers belong to the primary context */
    TB_TRY(tb_take_buffer(work->plan->place.device, (size_t)factor->n * column, &work->matrix));
    TB_TRY(tb_take_buffer(work->plan->place.device, sizeof(int64_t), &work->flag));
    work->there = *factor;
    work->there.a.data = work->matrix.memory;
    work->there.a.ld = ld;
    if (is_on_device(work))
        return TB_OK;
    work->staging = tb_make((size_t)tb_smaller(work->plan->block, factor->n) * column);
    return work->staging ? TB_OK : TB_OUT_OF_MEMORY;
}

static void give_memory(work *work)
{
    give_held(work);
    tb_give_buffer(&work->matrix);
    tb_give_buffer(&work->flag);
    char *staging = work->staging;
    work->staging = NULL; /* a signal that has waited may have the caller leave as soon as it is given back */
    tb_unmake(staging);
}

static void end_use(work *work)
{
    if (work->in_use) {
        work->in_use = false;
        tb_end_use(work->plan->place.device);
    }
}

/* The device has come to rest. What was made in host memory is lost where the C library's allocator may have been left. */
static void leave(void *left)
{
    work *work = left;
    if (tb_left_in_the_middle())
        work->staging = NULL;
    if (tb_machine_device(work->plan->place.device))
        give_memory(work);
    end_use(work);
}

/* ---- What is not finished --------------------------------------------------------------------------------- */

typedef struct fetched {
    const tb_product *triangle;
    tb_matrix copy;
    bool back;
} fetched;

static tb_status carry(tb_stream *stream, void *argument)
{
    const fetched *what = argument;
    const tb_matrix *a = &what->triangle->c.matrix;
    int64_t copied;
    return what->back ? tb_copy_masked(stream, TB_HOST_TO_DEVICE, what->triangle, &what->copy, a->data, a->ld,
                                       &copied)
                      : tb_copy_masked(stream, TB_DEVICE_TO_HOST, what->triangle, a, what->copy.data,
                                       what->copy.ld, &copied);
}

/* Once more where something failed, as nothing but this can be done for the matrix. */
static tb_status carry_surely(const work *work, fetched *what)
{
    enum { ATTEMPTS = 2 };
    tb_status status = TB_UNSUPPORTED;
    for (int attempt = 0; attempt < ATTEMPTS && status != TB_OK && status != TB_DEVICE_LOST; attempt++)
        status = tb_in_callers_stream(&work->plan->place, carry, what);
    return status;
}

/* A matrix in device memory is fetched, and what the host makes of it is sent back. */
static tb_status finish_fetched(work *work, const tb_host *host)
{
    tb_factor factor = *work->factor;
    factor.a.ld = factor.n;
    factor.a.data = tb_make(tb_matrix_bytes(&factor.a));
    fetched what = {&work->triangle, factor.a, false};
    tb_status status = factor.a.data ? carry_surely(work, &what) : TB_OUT_OF_MEMORY;
    if (status == TB_OK) {
        tb_finish_factor(&factor, work->finished, host);
        what.back = true;
        status = carry_surely(work, &what);
    }
    tb_unmake(factor.a.data);
    return status;
}

static tb_outcome finish(work *work, tb_status status, const tb_host *host)
{
    if (is_on_device(work)) {
        const bool is_finished = status != TB_DEVICE_LOST && finish_fetched(work, host) == TB_OK;
        if (!is_finished && work->finished == 0)
            return TB_DECLINED;
        if (!is_finished) {
            tb_warn_once("a factorization of a matrix in device memory was left unfinished");
            *work->factor->info = TB_INFO_UNDONE;
        }
        return TB_DONE;
    }
    if (work->finished == 0 && work->info == 0)
        return TB_DECLINED;
    tb_finish_factor(work->factor, work->finished, host);
    return TB_DONE;
}

static tb_outcome run(work *work, const tb_host *host)
{
    const tb_factor *factor = work->factor;
    tb_leaving leaving;
    work->triangle = tb_rank_k(tb_gemm_routine(factor->a.element), factor->stored, false, factor->n, 0, 0,
                               NULL, factor->n, 1, factor->a.data, factor->a.ld);
    tb_when_left(&leaving, leave, work);
    work->in_use = tb_begin_use(work->plan->place.device);
    tb_status status = work->in_use ? take_memory(work) : TB_DEVICE_LOST;
    if (status == TB_OK)
        status = (is_on_device(work) ? tb_in_callers_stream : tb_in_own_stream)(&work->plan->place,
                                                                                take_steps, work);
    give_memory(work);
    if (work->in_use && status == TB_DEVICE_LOST)
        tb_machine_lose_device(work->plan->place.device, "factoring a matrix");
    end_use(work);
    tb_not_left(&leaving);
    if (status != TB_OK)
        return finish(work, status, host);
    *factor->info = 0;
    return TB_DONE;
}

tb_outcome tb_run_factor(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    work own = {.visitor.visit = visit, .factor = task.factor, .plan = plan};
    return run(&own, host);
}
