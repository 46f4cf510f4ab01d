/* Factorizations and solves on a device. It has copies of the matrices, on which the sequence's steps are done (factoring.c). Of the
 * program's matrices finished columns alone are written, in order, when it is known that they are, and A's before B's; the rest is as it
 * was. So the host can go on from there when a device fails, and where Cholesky's pivot is not positive, which the host's own routine has
 * to say. Pivots that rows are exchanged by are known, all of them, before any column is written, and tau of columns before these. A matrix in host memory passes column
 * by column (lib/streaming/passing.h).
 */
#include "lib/call/factoring.h"
#include "lib/call/finish_factor.h"
#include "lib/call/replacing.h"
#include "lib/call/run.h"
#include "lib/call/scaling.h"
#include "lib/call/stream.h"

#include "lib/device/copies.h"
#include "lib/machine/calls.h"
#include "lib/device/served_use.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/process/leaving.h"
#include "lib/user/log.h"
#include "words/integers.h"

#define FACTORING "factoring a matrix"

typedef struct run {
    tb_factoring work;
    bool in_use; /* the device is used for it (lib/device/served_use.h) */
    tb_turn turn;
} run;

static bool is_on_device(const tb_factored *of)
{
    return of->place.memory == TB_MEMORY_DEVICE;
}

/* ---- In the program's stream ------------------------------------------------------------------------------ */

static tb_status take_steps(tb_stream *stream, void *argument)
{
    tb_factoring *work = argument;
    work->stream = stream;
    return tb_factor_in_stream(work);
}

static void end_use(run *run)
{
    if (run->in_use) {
        run->in_use = false;
        tb_end_use(run->work.plan->place.device);
    }
}

/* The device has come to rest. */
static void leave(void *left)
{
    run *run = left;
    tb_restore_saved(&run->work);
    tb_give_saved(&run->work);
    if (tb_machine_device(run->work.plan->place.device))
        tb_give_factoring_memory(&run->work);
    end_use(run);
}

static tb_status factor_there(run *run)
{
    tb_leaving leaving;
    tb_factoring *work = &run->work;
    tb_when_left(&leaving, leave, run);
    run->in_use = tb_begin_use(work->plan->place.device);
    tb_status status = run->in_use ? tb_take_factoring_memory(work) : TB_DEVICE_LOST;
    if (status == TB_OK)
        status = tb_in_callers_stream(&work->plan->place, take_steps, work);
    if (status != TB_OK)
        tb_restore_saved(work);
    tb_give_saved(work);
    tb_give_factoring_memory(work);
    if (run->in_use && status == TB_DEVICE_LOST)
        tb_machine_lose_device(work->plan->place.device, FACTORING);
    end_use(run);
    tb_not_left(&leaving);
    return status;
}

/* ---- Through a pipeline ----------------------------------------------------------------------------------- */

/* The first one's, which answers for both. */
static tb_passing *passing_of(run *run)
{
    return &run->work.matrices[0].passing;
}

static void leave_pipeline(void *left)
{
    run *run = left;
    const bool in_the_middle = tb_left_in_the_middle();
    if (passing_of(run)->pipeline)
        tb_leave_passing(passing_of(run), in_the_middle);
    passing_of(run)->pipeline = NULL;
    tb_restore_saved(&run->work);
    tb_give_saved(&run->work);
    if (!in_the_middle && tb_machine_device(run->work.plan->place.device))
        tb_give_factoring_memory(&run->work);
    tb_leave_turn(&run->turn);
}

static tb_status pass_and_end(run *run)
{
    tb_factoring *work = &run->work;
    tb_status status = tb_take_factoring_memory(work);
    if (status == TB_OK)
        status = tb_factor_in_pipeline(work, run->turn.pipeline);
    if (passing_of(run)->pipeline)
        tb_end_passing(passing_of(run), status);
    passing_of(run)->pipeline = NULL;
    if (status != TB_OK)
        tb_restore_saved(work);
    tb_give_saved(work);
    for (int i = 0; i < TB_FACTORED_MOST; i++)
        work->matrices[i].finished = work->matrices[i].passing.returned;
    work->info = passing_of(run)->found;
    tb_give_factoring_memory(work);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose_device(work->plan->place.device, FACTORING);
    tb_end_turn(&run->turn);
    return status;
}

static tb_status factor_in_passing(run *run)
{
    tb_leaving leaving;
    const tb_plan *plan = run->work.plan;
    run->turn = (tb_turn){.device = plan->place.device, .seconds = plan->device_seconds};
    tb_when_left(&leaving, leave_pipeline, run);
    tb_status status = tb_take_turn(&run->turn);
    if (status == TB_OK)
        status = pass_and_end(run);
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
static tb_status carry_surely(const tb_factoring *work, const tb_product *stored, const tb_matrix *copy,
                              bool back)
{
    enum { ATTEMPTS = 2 };
    fetched what = {stored, *copy, back};
    tb_status status = TB_UNSUPPORTED;
    for (int attempt = 0; attempt < ATTEMPTS && status != TB_OK && status != TB_DEVICE_LOST; attempt++)
        status = tb_in_callers_stream(&work->plan->place, carry, &what);
    return status;
}

static void finish_on_host(const tb_factoring *work, const tb_factor *factor, const tb_host *host)
{
    tb_finish_factor(factor, work->matrices[0].finished, work->matrices[1].finished, work->result, host);
}

/* OpenBLAS 0.3.21 reads some 800 bytes behind a matrix's end (cgemv_n). */
#define BEHIND_COPY_BYTES 4096

/* In host memory: what lies on a device is fetched. */
static tb_status fetch(const tb_factoring *work, tb_matrix *const matrices[])
{
    for (int i = 0; i < tb_factored_count(work); i++) {
        const tb_factored *of = &work->matrices[i];
        if (!is_on_device(of))
            continue;
        matrices[i]->ld = tb_larger(matrices[i]->rows, 1);
        matrices[i]->data = tb_make(tb_matrix_bytes(matrices[i]) + BEHIND_COPY_BYTES);
        if (!matrices[i]->data)
            return TB_OUT_OF_MEMORY;
        TB_TRY(carry_surely(work, &of->stored, matrices[i], false));
    }
    return TB_OK;
}

static tb_status send_back(const tb_factoring *work, tb_matrix *const matrices[])
{
    for (int i = tb_changes_a(work->factor) ? 0 : 1; i < tb_factored_count(work); i++)
        if (is_on_device(&work->matrices[i]))
            TB_TRY(carry_surely(work, &work->matrices[i].stored, matrices[i], true));
    return TB_OK;
}

/* Matrices in device memory are fetched, and what the host makes of them is sent back. */
static tb_status finish_fetched(const tb_factoring *work, const tb_host *host)
{
    tb_factor factor = *work->factor;
    tb_matrix *const matrices[] = {&factor.a, &factor.b};
    tb_status status = fetch(work, matrices);
    if (status == TB_OK) {
        finish_on_host(work, &factor, host);
        status = send_back(work, matrices);
    }
    for (int i = 0; i < tb_factored_count(work); i++)
        if (is_on_device(&work->matrices[i]) &&
            matrices[i]->data != tb_task_matrix(tb_task_of_factor(work->factor), i)->data)
            tb_unmake(matrices[i]->data);
    return status;
}

static tb_outcome finish(const tb_factoring *work, tb_status status, const tb_host *host)
{
    const bool has_begun = work->matrices[0].finished > 0 || work->matrices[1].finished > 0,
               is_spoilt = has_begun && tb_is_all_or_nothing(work->factor);
    if (is_on_device(&work->matrices[0]) || is_on_device(&work->matrices[1])) {
        const bool is_finished =
            status != TB_DEVICE_LOST && !is_spoilt && finish_fetched(work, host) == TB_OK;
        if (!is_finished && !has_begun)
            return TB_DECLINED;
        if (!is_finished) {
            tb_warn_once("a factorization of a matrix in device memory was left unfinished");
            *work->factor->info = TB_INFO_UNDONE;
        }
        return TB_DONE;
    }
    if (!has_begun && work->info == 0)
        return TB_DECLINED;
    finish_on_host(work, work->factor, host);
    return TB_DONE;
}

/* A diagonal that counts as ones is nobody's: another thread may be writing it, as that of U beside L. */
static int64_t diagonal_of(const tb_factor *factor)
{
    return !factor->unit_diagonal || factor->stored == TB_FULL ? 0 : factor->stored == TB_LOWER ? 1 : -1;
}

static void describe(tb_factoring *work)
{
    const tb_task task = tb_task_of_factor(work->factor);
    for (int i = 0; i < tb_task_matrices(task); i++) {
        const tb_matrix *matrix = tb_task_matrix(task, i);
        tb_factored *of = &work->matrices[i];
        of->place = work->plan->places[i];
        of->stored = tb_gemm(tb_gemm_routine(matrix->element), false, false, matrix->rows, matrix->columns, 0,
                             0, NULL, matrix->rows, NULL, 1, 1, matrix->data, matrix->ld);
        of->stored.mask = i == 0 ? work->factor->stored : TB_FULL;
        of->stored.diagonal = i == 0 ? diagonal_of(work->factor) : 0;
    }
}

/* Least squares of what LAPACK would scale first, which it looks at all numbers for; and those that are found in other ways. */
static bool is_the_hosts(const tb_factor *factor, bool is_there)
{
    return tb_finds_least_squares(factor) &&
           (is_there || !tb_is_overdetermined(factor) || !tb_is_within_range(&factor->a, false) ||
            !tb_is_within_range(&factor->b, true));
}

static tb_outcome perform(run *run, const tb_host *host)
{
    tb_factoring *work = &run->work;
    describe(work);
    const bool is_there = is_on_device(&work->matrices[0]) || is_on_device(&work->matrices[1]);
    const tb_status status = is_the_hosts(work->factor, is_there) ? TB_UNSUPPORTED
                             : is_there                           ? factor_there(run)
                                                                  : factor_in_passing(run);
    if (status != TB_OK)
        return finish(work, status, host);
    *work->factor->info = work->result;
    return TB_DONE;
}

static void drop(void *made)
{
    tb_unmake(made);
}

/* Which the program does not see. */
static tb_outcome perform_with_tau(run *run, tb_factor *own, const tb_host *host)
{
    tb_leaving leaving;
    void *const tau = tb_make((size_t)tb_larger(tb_factor_order(own), 1) * tb_bytes_of(own->a.element));
    if (!tau)
        return TB_DECLINED;
    own->reflectors.tau = tau;
    tb_when_left(&leaving, drop, tau);
    const tb_outcome outcome = perform(run, host);
    tb_not_left(&leaving);
    drop(tau);
    return outcome;
}

tb_outcome tb_run_factor(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)seconds;
    tb_factor own = *task.factor;
    run run = {.work = {.factor = &own, .plan = plan}};
    return tb_finds_least_squares(&own) ? perform_with_tau(&run, &own, host) : perform(&run, host);
}
