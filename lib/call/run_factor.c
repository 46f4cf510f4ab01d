/* Factorizations on a device. It has a copy of the matrix, on which the sequence's steps are done (sequences/factorization.h): products as
 * the resident route does them, panels, and exchanges of rows. Of the program's matrix finished columns alone are written, in order, when
 * it is known that they are; the rest is as it was. So the host can go on from there when a device fails, and where Cholesky's pivot is
 * not positive, which the host's own routine has to say. Pivots that rows are exchanged by are known, all of them, before any column is
 * written. A matrix in host memory passes column by column (lib/streaming/passing.h).
 */
#include "lib/call/resident.h"
#include "lib/call/finish_factor.h"
#include "lib/call/run.h"
#include "lib/call/stream.h"

#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/copies.h"
#include "lib/device/memory.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"
#include "lib/machine/calls.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/process/leaving.h"
#include "lib/streaming/passing.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "sequences/factorization.h"
#include "words/integers.h"

#define FACTORING "factoring a matrix"

typedef struct work {
    tb_visitor visitor;
    const tb_factor *factor; /* the program's */
    const tb_plan *plan;
    tb_product stored; /* whose C is the program's matrix, masked */
    tb_factor there;   /* the copy */
    tb_stream *stream;
    tb_buffer matrix, beside; /* on the device */
    tb_held held;             /* what products take */
    bool in_use;              /* the device is used for it (lib/device/served_use.h) */
    tb_turn turn;
    tb_passing passing; /* of a matrix in host memory; its pipeline is NULL before and after */
    int64_t walked;     /* columns that are finished in the copy once it is at rest, where info is 0 */
    int64_t finished;   /* columns that are in the program's matrix */
    int64_t info;       /* that ends the factorization */
    int64_t result;     /* LAPACK's, of one that goes on whatever pivots there are */
} work;

/* ---- Beside the matrix ------------------------------------------------------------------------------------ */

/* On the device, one behind the other, of which all but the pivots is cleared first: infos, where the first is that which ends a
 * factorization, and others passing's; that of one which nothing ends; a part of the panels' workspace, and the rest; and pivots. */
typedef struct beside {
    int64_t infos[TB_PASSING_INFOS], result;
    _Alignas(16) char workspace[];
} beside;

/* The panels' workspace begins with flags. */
#define CLEARED_BYTES (sizeof(beside) + TB_PANEL_CLEARED_BYTES)

static bool exchanges_rows(const tb_factor *factor)
{
    return factor->pivots.data != NULL;
}

static size_t pivot_bytes(const tb_factor *factor)
{
    return exchanges_rows(factor) ? (size_t)tb_factor_order(factor) * sizeof(int32_t) : 0;
}

static bool is_on_device(const work *work)
{
    return work->plan->places[0].memory == TB_MEMORY_DEVICE;
}

/* ---- A matrix in the device's memory ---------------------------------------------------------------------- */

static tb_status load(work *work)
{
    int64_t copied;
    const tb_matrix *a = &work->stored.c.matrix;
    static const char zeros[CLEARED_BYTES];
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->beside.memory, zeros, sizeof zeros);
    TB_TRY(tb_issue_copy(work->stream, &clear));
    return tb_copy_masked(work->stream, TB_DEVICE_TO_DEVICE, &work->stored, a, work->there.a.data,
                          work->there.a.ld, &copied);
}

static tb_status come_to_rest(work *work)
{
    TB_TRY(tb_synchronize(work->stream));
    tb_give_held(&work->held);
    return TB_OK;
}

/* Blocks before one in which a pivot is not positive are finished: no step behind them writes to them. */
static tb_status store(work *work)
{
    const int64_t block = work->plan->block;
    const tb_copy flag =
        tb_copy_of_bytes(TB_DEVICE_TO_HOST, &work->info, work->beside.memory, sizeof work->info);
    TB_TRY(tb_issue_copy(work->stream, &flag));
    TB_TRY(come_to_rest(work));
    const int64_t good =
        work->info == 0 ? work->walked : tb_smaller(work->walked, (work->info - 1) / block * block);
    const tb_product part = tb_columns_of(&work->stored, (tb_range){0, good});
    const tb_matrix from = tb_rectangle(&work->there.a, 0, 0, work->there.m, good);
    TB_TRY(tb_copy_masked(work->stream, TB_DEVICE_TO_DEVICE, &part, &from, part.c.data, part.c.ld,
                          &work->finished));
    return work->info == 0 ? TB_OK : TB_UNSUPPORTED;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* Where that of products before it is what is missing of memory, it is given back first. */
static tb_status enqueue_product(work *work, const tb_product *product)
{
    tb_held *held = &work->held;
    if (!held->is_used)
        held->bytes = work->matrix.bytes;
    const tb_status status = tb_enqueue_resident(work->stream, product, &work->plan->place, held);
    if (status != TB_OUT_OF_MEMORY || held->bytes == work->matrix.bytes)
        return status;
    TB_TRY(come_to_rest(work));
    held->bytes = work->matrix.bytes;
    return tb_enqueue_resident(work->stream, product, &work->plan->place, held);
}

static int64_t end_of(const work *work, const tb_matrix *matrix)
{
    const tb_matrix *all = &work->there.a;
    const int64_t offset = ((char *)matrix->data - (char *)all->data) / (int64_t)tb_bytes_of(all->element);
    return offset / all->ld + matrix->columns;
}

/* Columns, counted from the left, of which the step may read or write some. */
static int64_t columns_of(const work *work, const tb_sequence_step *step)
{
    int64_t end = 0;
    if (step->kind == TB_STEP_PANEL)
        return end_of(work, &step->panel.a);
    if (step->kind == TB_STEP_EXCHANGE)
        return end_of(work, &step->exchange.matrix);
    for (tb_role role = TB_A; role < TB_ROLES; role++) { /* a product in C's place has no B */
        const tb_matrix *operand = &step->product.operands[role].matrix;
        if (operand->data)
            end = tb_larger(end, end_of(work, operand));
    }
    return end;
}

static tb_status enqueue_panel(work *work, const tb_sequence_step *step)
{
    beside *beside = work->beside.memory;
    return tb_enqueue_panel(work->stream, &step->panel, step->position,
                            exchanges_rows(work->factor) ? &beside->result : beside->infos,
                            beside->workspace);
}

static tb_status take_step(work *work, const tb_sequence_step *step)
{
    if (step->kind == TB_STEP_PRODUCT && (step->product.m == 0 || step->product.n == 0))
        return TB_OK;
    if (work->passing.pipeline)
        TB_TRY(tb_bring_columns(&work->passing, columns_of(work, step)));
    return step->kind == TB_STEP_PANEL      ? enqueue_panel(work, step)
           : step->kind == TB_STEP_EXCHANGE ? tb_enqueue_row_exchange(work->stream, &step->exchange)
                                            : enqueue_product(work, &step->product);
}

/* Counted from the left. */
static tb_status finish_columns(work *work, int64_t columns)
{
    work->walked = columns;
    return work->passing.pipeline ? tb_finish_columns(&work->passing, columns) : TB_OK;
}

/* In passing, a pivot that is not positive ends the walk; in the device's memory nobody looks before its end. */
static tb_status visit(tb_visitor *visitor, const tb_sequence_step *step)
{
    work *all = (work *)visitor;
    TB_TRY(take_step(all, step));
    return step->finished.count > 0 ? finish_columns(all, step->finished.first + step->finished.count)
                                    : TB_OK;
}

/* Into the caller's integers. */
static void widen(const tb_factor *factor)
{
    char *pivots = factor->pivots.data;
    int32_t narrow;
    for (size_t i = pivot_bytes(factor) / sizeof narrow; factor->pivots.bits == 64 && i-- > 0;) {
        memcpy(&narrow, pivots + i * sizeof narrow, sizeof narrow);
        memcpy(pivots + i * sizeof(int64_t), &(int64_t){narrow}, sizeof(int64_t));
    }
}

static tb_status tell_pivots(work *work)
{
    const tb_factor *factor = work->factor;
    const beside *beside = work->beside.memory;
    const tb_copy pivots = tb_copy_of_bytes(TB_DEVICE_TO_HOST, factor->pivots.data, work->there.pivots.data,
                                            pivot_bytes(factor)),
                  result = tb_copy_of_bytes(TB_DEVICE_TO_HOST, &work->result, &beside->result,
                                            sizeof work->result);
    TB_TRY(tb_issue_copy(work->stream, &pivots));
    TB_TRY(tb_issue_copy(work->stream, &result));
    TB_TRY(tb_synchronize(work->stream));
    widen(factor);
    return TB_OK;
}

/* Where rows are exchanged all columns are finished in the end. */
static tb_status walk(work *work)
{
    const tb_factor *factor = work->factor;
    TB_TRY(tb_walk_factor(&work->there, work->plan->block, tb_panel_order(factor->routine), &work->visitor));
    if (!exchanges_rows(factor))
        return TB_OK;
    TB_TRY(tell_pivots(work));
    return finish_columns(work, factor->n);
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
    const int64_t ld = tb_pitched(factor->m, factor->a.element);
    const size_t column = (size_t)ld * tb_bytes_of(factor->a.element),
                 head = CLEARED_BYTES + tb_panel_workspace(factor->routine, factor->m,
                                                           tb_machine_target(work->plan->place.device));
    if (work->plan->place.context || !is_allowed((size_t)factor->n * column))
        return TB_OUT_OF_MEMORY; /* our buffers belong to the primary context */
    TB_TRY(tb_take_buffer(work->plan->place.device, (size_t)factor->n * column, &work->matrix));
    TB_TRY(tb_take_buffer(work->plan->place.device, head + pivot_bytes(factor), &work->beside));
    work->there = *factor;
    work->there.a.data = work->matrix.memory;
    work->there.a.ld = ld;
    if (exchanges_rows(factor))
        work->there.pivots = (tb_pivots){(char *)work->beside.memory + head, 32};
    return TB_OK;
}

static void give_memory(work *work)
{
    tb_give_held(&work->held);
    tb_give_buffer(&work->matrix);
    tb_give_buffer(&work->beside);
}

/* ---- In the program's stream ------------------------------------------------------------------------------ */

static tb_status take_steps(tb_stream *stream, void *argument)
{
    work *work = argument;
    work->stream = stream;
    TB_TRY(load(work));
    const tb_status status = walk(work), stored = status == TB_DEVICE_LOST ? status : store(work);
    return status != TB_OK ? status : stored;
}

static void end_use(work *work)
{
    if (work->in_use) {
        work->in_use = false;
        tb_end_use(work->plan->place.device);
    }
}

/* The device has come to rest. */
static void leave(void *left)
{
    work *work = left;
    if (tb_machine_device(work->plan->place.device))
        give_memory(work);
    end_use(work);
}

static tb_status factor_there(work *work)
{
    tb_leaving leaving;
    tb_when_left(&leaving, leave, work);
    work->in_use = tb_begin_use(work->plan->place.device);
    tb_status status = work->in_use ? take_memory(work) : TB_DEVICE_LOST;
    if (status == TB_OK)
        status = tb_in_callers_stream(&work->plan->place, take_steps, work);
    give_memory(work);
    if (work->in_use && status == TB_DEVICE_LOST)
        tb_machine_lose_device(work->plan->place.device, FACTORING);
    end_use(work);
    tb_not_left(&leaving);
    return status;
}

/* ---- Through a pipeline ----------------------------------------------------------------------------------- */

static tb_status pass(work *work)
{
    work->passing = (tb_passing){.pipeline = work->turn.pipeline,
                                 .stored = &work->stored,
                                 .there = work->there.a,
                                 .infos = ((beside *)work->beside.memory)->infos,
                                 .cleared = CLEARED_BYTES};
    work->stream = work->turn.pipeline->compute;
    TB_TRY(tb_begin_passing(&work->passing));
    const tb_status status = walk(work);
    const tb_status returned = status == TB_DEVICE_LOST ? status : tb_return_finished(&work->passing);
    return status != TB_OK ? status : returned;
}

static void leave_pipeline(void *left)
{
    work *work = left;
    const bool in_the_middle = tb_left_in_the_middle();
    if (work->passing.pipeline)
        tb_leave_passing(&work->passing, in_the_middle);
    work->passing.pipeline = NULL;
    if (!in_the_middle && tb_machine_device(work->plan->place.device))
        give_memory(work);
    tb_leave_turn(&work->turn);
}

static tb_status pass_and_end(work *work)
{
    tb_status status = take_memory(work);
    if (status == TB_OK)
        status = pass(work);
    if (work->passing.pipeline)
        tb_end_passing(&work->passing, status);
    work->passing.pipeline = NULL;
    work->finished = work->passing.returned;
    work->info = work->passing.found;
    give_memory(work);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose_device(work->plan->place.device, FACTORING);
    tb_end_turn(&work->turn);
    return status;
}

static tb_status factor_in_passing(work *work)
{
    tb_leaving leaving;
    work->turn = (tb_turn){.device = work->plan->place.device, .seconds = work->plan->device_seconds};
    tb_when_left(&leaving, leave_pipeline, work);
    tb_status status = tb_take_turn(&work->turn);
    if (status == TB_OK)
        status = pass_and_end(work);
    tb_not_left(&leaving);
    return status;
}

/* ---- What is not finished --------------------------------------------------------------------------------- */

typedef struct fetched {
    const tb_product *stored;
    tb_matrix copy;
    bool back;
} fetched;

static tb_status carry(tb_stream *stream, void *argument)
{
    const fetched *what = argument;
    const tb_matrix *a = &what->stored->c.matrix;
    int64_t copied;
    return what->back
               ? tb_copy_masked(stream, TB_HOST_TO_DEVICE, what->stored, &what->copy, a->data, a->ld, &copied)
               : tb_copy_masked(stream, TB_DEVICE_TO_HOST, what->stored, a, what->copy.data, what->copy.ld,
                                &copied);
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
    factor.a.ld = factor.m;
    factor.a.data = tb_make(tb_matrix_bytes(&factor.a));
    fetched what = {&work->stored, factor.a, false};
    tb_status status = factor.a.data ? carry_surely(work, &what) : TB_OUT_OF_MEMORY;
    if (status == TB_OK) {
        tb_finish_factor(&factor, work->finished, work->result, host);
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
    tb_finish_factor(work->factor, work->finished, work->result, host);
    return TB_DONE;
}

static tb_outcome run(work *work, const tb_host *host)
{
    const tb_factor *factor = work->factor;
    work->stored = tb_gemm(tb_gemm_routine(factor->a.element), false, false, factor->m, factor->n, 0, 0, NULL,
                           factor->m, NULL, 1, 1, factor->a.data, factor->a.ld);
    work->stored.mask = factor->stored;
    const tb_status status = is_on_device(work) ? factor_there(work) : factor_in_passing(work);
    if (status != TB_OK)
        return finish(work, status, host);
    *factor->info = work->result;
    return TB_DONE;
}

tb_outcome tb_run_factor(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    work own = {.visitor.visit = visit, .factor = task.factor, .plan = plan};
    return run(&own, host);
}
