/* The resident route: operands where the device can reach them, one kernel on the caller's stream. A kernel
 * that pads gets copies of the operands that miss its alignment, in pitched memory, and one for plain products gets
 * a real product of general matrices (words/lowered.h). Where such copies and the kernel's workspace do not fit into
 * memory, or are more than the option DEVICE_MEMORY allows, a part of k is computed at a time.
 *
 * The device works in place, so that a failure leaves C written in part. In managed memory, which the host
 * reaches too, the product is done once more: where beta is to be applied to what lay there, the call begins
 * by copying C into host memory.
 */
#include "lib/call/diagonal.h"
#include "lib/call/facts.h"
#include "lib/call/launched.h"
#include "lib/call/resident.h"
#include "lib/call/run.h"

#include "lib/device/device.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/machine/machine.h"
#include "lib/device/copies.h"
#include "lib/user/options.h"
#include "lib/user/precision.h"
#include "lib/call/stream.h"
#include "dispatch/tiling.h"
#include "words/members.h"
#include "words/folded.h"
#include "words/integers.h"
#include "words/lowered.h"

#include <string.h>

/* When memory is short k is halved while it is longer than this, to a multiple of that many steps. C is read and written for each
 * chunk: of doubles that takes an H200 as long as 128 multiply-adds an element. */
#define CHUNK_LEAST 128
#define CHUNK_STEP  32

/* Whether the option DEVICE_MEMORY allows the call so much beside what it holds already. */
static bool is_allowed(const tb_held *held, size_t bytes)
{
    const size_t limit = (size_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20;
    return limit == 0 || (bytes <= limit && held->bytes <= limit - bytes);
}

/* What an earlier product in the stream had serves again where it is large enough. */
static tb_status take(tb_held *held, int device, size_t bytes, tb_buffer *buffer)
{
    if (buffer->memory && buffer->bytes >= bytes)
        return TB_OK;
    if (!is_allowed(held, bytes) || (buffer->memory && held->outgrown_count == TB_OUTGROWN_MOST))
        return TB_OUT_OF_MEMORY;
    if (buffer->memory)
        held->outgrown[held->outgrown_count++] = *buffer;
    *buffer = (tb_buffer){.memory = NULL};
    TB_TRY(tb_take_buffer(device, bytes, buffer));
    held->bytes += bytes;
    return TB_OK;
}

static void give_room(tb_held *held)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        tb_give_buffer(&held->written_out[role]);
    tb_give_buffer(&held->workspace);
}

void tb_give_held(tb_held *held)
{
    give_room(held);
    tb_give_buffer(&held->zero);
    tb_give_buffer(&held->sums);
    tb_give_buffer(&held->tables);
    while (held->outgrown_count > 0)
        tb_give_buffer(&held->outgrown[--held->outgrown_count]);
    held->is_used = false;
    held->bytes = 0;
}

/* Whether kernels have to be given a table of addresses: the matrices of some operand of the batch are not equally far apart. The
 * table lies in the device's memory. */
static bool needs_tables(const tb_product *product)
{
    const tb_members *members = product->batch.members;
    return tb_is_batch(product) &&
           (members[TB_C].uneven || (product->k > 0 && (members[TB_A].uneven || members[TB_B].uneven)));
}

static tb_status enqueue_terms_frugally(tb_stream *stream, const tb_product *product, const tb_plan *plan)
{
    tb_facts facts = {.machine = tb_machine_facts(), .accuracy = tb_wanted_accuracy()};
    memcpy(facts.places, plan->places, sizeof facts.places);
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        const tb_plan frugal = tb_decide_again(&one, &facts, TB_NO_MEMORY);
        if (frugal.route != TB_ROUTE_RESIDENT)
            return TB_UNSUPPORTED;
        TB_TRY(tb_enqueue_launch(stream, frugal.kernel, &one, &frugal.schedule, NULL, false));
    }
    return TB_OK;
}

/* Without any memory of the device's: by kernels that need no workspace, and where there would be a table, one member of the
 * batch after the other. */
static tb_status enqueue_frugally(tb_stream *stream, const tb_product *product, const tb_plan *plan)
{
    if (!needs_tables(product))
        return enqueue_terms_frugally(stream, product, plan);
    for (int64_t i = 0; i < tb_members_of(product); i++) {
        const tb_product member = tb_member_of(product, i);
        TB_TRY(enqueue_terms_frugally(stream, &member, plan));
    }
    return TB_OK;
}

/* Sends the tables that kernels need as one piece, one operand's after the other, and has operands point to them. */
static tb_status send_tables(tb_stream *stream, tb_product *product, int device, tb_held *held)
{
    const size_t each = (size_t)tb_members_of(product), bytes = TB_ROLES * each * sizeof(void *);
    size_t listed = 0;
    if (!needs_tables(product))
        return TB_OK;
    held->listed = tb_make(bytes);
    if (!held->listed)
        return TB_OUT_OF_MEMORY;
    TB_TRY(take(held, device, bytes, &held->tables));
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_members *members = &product->batch.members[role];
        if (!members->uneven || (role != TB_C && product->k == 0))
            continue;
        memcpy(held->listed + listed, members->starts, each * sizeof(void *));
        members->starts = (void **)held->tables.memory + listed;
        listed += each;
    }
    const tb_copy copy =
        tb_copy_of_bytes(TB_HOST_TO_DEVICE, held->tables.memory, held->listed, listed * sizeof(void *));
    return tb_issue_copy(stream, &copy);
}

static tb_status take_all(const tb_room *room, int device, tb_held *held)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (room->written_out[role] > 0)
            TB_TRY(take(held, device, room->written_out[role], &held->written_out[role]));
    return room->workspace > 0 ? take(held, device, room->workspace, &held->workspace) : TB_OK;
}

/* For as much of k as there is memory for: all of it, or a half, a quarter and so on. All terms have it in turn. */
static tb_status take_room(const tb_product *product, const tb_plan *plan, tb_held *held)
{
    const size_t others = held->bytes;
    size_t before = SIZE_MAX;
    for (held->chunk = product->k;; held->chunk = tb_round_up(held->chunk / 2, CHUNK_STEP)) {
        const tb_room room = tb_room_for_chunks(product, plan, held->chunk);
        const size_t bytes = room.written_out[TB_A] + room.written_out[TB_B] + room.workspace;
        if (bytes >= before) /* it does not depend on k */
            return TB_OUT_OF_MEMORY;
        const tb_status status =
            is_allowed(held, bytes) ? take_all(&room, plan->place.device, held) : TB_OUT_OF_MEMORY;
        if (status != TB_OUT_OF_MEMORY || held->is_used || held->chunk <= CHUNK_LEAST ||
            product->in_place != TB_OUT_OF_PLACE || tb_is_batch(product))
            return status;
        give_room(held);
        held->bytes = others;
        before = bytes;
    }
}

/* ---- Launching -------------------------------------------------------------------------------------------- */

/* Whether a product that failed can be begun again: nothing has been written to C, or that does not matter. */
static bool is_repeatable(const tb_held *held)
{
    return !held->has_begun || held->saved_c || held->overwrites;
}

static tb_status launch(tb_stream *stream, const tb_product *part, const tb_plan *plan, int term,
                        bool planned, const tb_held *held)
{
    tb_launched launched;
    tb_launch *launch = &launched.command.launch;
    tb_prepare_launch(part, plan, term, held->written_out, &launched);
    TB_TRY(tb_write_out(stream, part, &launched));
    launch->schedule = tb_schedule_of(&launch->product, plan, planned);
    launch->workspace = held->workspace.memory;
    return tb_enqueue(stream, &launched.command);
}

/* A term, one chunk of k after the other, or all terms where the kernel adds them up. Where one fails and the product cannot be
 * begun again, the steps of k that are left are added frugally. */
static tb_status launch_in_chunks(tb_stream *stream, const tb_product *product, const tb_plan *plan, int term,
                                  tb_held *held)
{
    int64_t done = 0;
    do {
        const int64_t left = product->k - done;
        const tb_product part = tb_steps_of(product, (tb_range){done, tb_smaller(left, held->chunk)});
        const tb_status status = launch(stream, &part, plan, term, term == 0 && part.k == product->k, held);
        if (status != TB_OK && status != TB_DEVICE_LOST && !is_repeatable(held)) {
            const tb_product rest = tb_steps_of(product, (tb_range){done, left});
            return enqueue_frugally(stream, &rest, plan);
        }
        TB_TRY(status);
        held->has_begun = true;
        done += part.k;
    } while (done < product->k);
    return TB_OK;
}

/* One term after the other: kernels read each as it lies, and to be one product both would have to be written out side by side.
 * All memory is taken before C is written. */
static tb_status enqueue(tb_stream *stream, tb_product product, const tb_plan *plan, tb_held *held)
{
    const int launches = tb_launches_of(&product, plan);
    TB_TRY(send_tables(stream, &product, plan->place.device, held));
    TB_TRY(take_room(&product, plan, held));
    for (int term = 0; term < launches; term++) {
        const tb_product one = launches > 1 ? tb_term_of(&product, term) : product;
        TB_TRY(launch_in_chunks(stream, &one, plan, term, held));
    }
    return TB_OK;
}

/* One term, all of it, and then C's triangle of it and its transpose. Until then C is as it was. */
static tb_status enqueue_to_fold(tb_stream *stream, const tb_product *product, const tb_plan *plan,
                                 tb_held *held)
{
    tb_product sums = tb_to_be_folded(product);
    sums.c.ld = tb_pitched(sums.c.rows, sums.c.element);
    TB_TRY(take(held, plan->place.device, tb_pitch(&sums.c.matrix) * (size_t)sums.c.columns, &held->sums));
    sums.c.data = held->sums.memory;
    const tb_status status = enqueue(stream, sums, plan, held);
    held->has_begun = false;
    TB_TRY(status);
    const tb_folding folding = {
        .sums = sums.c.matrix, .c = product->c, .beta = product->beta, .mask = product->mask};
    TB_TRY(tb_enqueue_folding(stream, &folding));
    held->has_begun = true;
    return TB_OK;
}

static tb_status enqueue_all(tb_stream *stream, const tb_product *product, const tb_plan *plan, tb_held *held)
{
    const bool clears = product->c.structure == TB_HERMITIAN && !tb_knows_terms(plan->kernel);
    if (plan->folds)
        return enqueue_to_fold(stream, product, plan, held);
    if (clears) {
        TB_TRY(take(held, plan->place.device, TB_ZERO_BYTES, &held->zero));
        TB_TRY(tb_send_zero(stream, &held->zero));
    }
    TB_TRY(enqueue(stream, *product, plan, held));
    return clears ? tb_enqueue_real_diagonal(stream, &product->c.matrix, &held->zero) : TB_OK;
}

tb_status tb_enqueue_resident(tb_stream *stream, const tb_product *product, const tb_place *place,
                              tb_held *held)
{
    tb_facts facts = {.places = {*place, *place, *place}};
    tb_gather_facts(tb_task_of_product(product), &facts);
    const tb_plan plan = tb_decide_remembering(tb_task_of_product(product), &facts);
    held->has_begun = held->overwrites = false;
    held->saved_c = NULL;
    held->listed = NULL;
    const tb_status status =
        plan.route == TB_ROUTE_RESIDENT ? enqueue_all(stream, product, &plan, held) : TB_UNSUPPORTED;
    held->is_used = true;
    return status;
}

/* What is enqueued in the caller's stream. */
typedef struct work {
    const tb_product *product;
    const tb_plan *plan;
    bool frugally;
    tb_held *held;
} work;

static tb_status enqueue_work(tb_stream *stream, void *argument)
{
    const work *work = argument;
    return work->frugally ? enqueue_frugally(stream, work->product, work->plan)
                          : enqueue_all(stream, work->product, work->plan, work->held);
}

/* The device has come to rest. */
static void leave(void *left)
{
    const work *work = left;
    tb_left_in_the_middle();
    if (tb_machine_device(work->plan->place.device))
        tb_give_held(work->held);
}

static tb_status run(const tb_product *product, const tb_plan *plan, bool frugally, tb_held *held)
{
    work work = {product, plan, frugally, held};
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &work);
    const tb_status status = tb_in_callers_stream(&plan->place, enqueue_work, &work);
    tb_not_left(&leaving);
    return status;
}

/* ---- C as the caller left it ------------------------------------------------------------------------------ */

typedef struct c_copy {
    const tb_matrix *c;
    void *copy;
} c_copy;

/* Over the link: managed memory that the host itself reads migrates to the host. */
static tb_status copy_c(tb_stream *stream, void *argument)
{
    const c_copy *what = argument;
    return tb_copy_operand(stream, TB_DEVICE_TO_HOST, what->c, what->copy, what->c->rows);
}

/* Copies C into host memory where a failure could not be made up for without it. A product that only the device can do goes on
 * without a copy where there is no memory for one. */
static tb_status save_c(const tb_product *product, const tb_plan *plan, tb_held *held)
{
    if (plan->places[TB_C].memory != TB_MEMORY_MANAGED || tb_is_zero(product->beta))
        return TB_OK;
    c_copy what = {&product->c.matrix, tb_make(tb_matrix_bytes(&product->c.matrix))};
    const tb_status status = what.copy ? tb_in_callers_stream(&plan->place, copy_c, &what) : TB_OUT_OF_MEMORY;
    if (status == TB_OK)
        held->saved_c = what.copy;
    else
        tb_unmake(what.copy);
    return status == TB_DEVICE_LOST || !plan->needs_device ? status : TB_OK;
}

/* Called when no work is in flight. Does nothing where C was not saved. */
static void restore_c(const tb_product *product, const tb_held *held)
{
    tb_matrix saved = product->c.matrix;
    if (!held->saved_c)
        return;
    saved.data = held->saved_c;
    saved.ld = saved.rows;
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        memcpy(tb_at(&product->c.matrix, rows.first, j), tb_at(&saved, rows.first, j),
               (size_t)rows.count * tb_bytes_of(saved.element));
    }
}

/* ---- The call --------------------------------------------------------------------------------------------- */

/* Where there is no memory for what is to be folded: the kernels that add one term after the other may do with less, and those
 * that need none at all take a hundred times as long where numbers are complex. */
static tb_status run_by_terms(const tb_product *product, const tb_plan *plan, tb_held *held)
{
    tb_facts facts = {0};
    memcpy(facts.places, plan->places, sizeof facts.places);
    tb_gather_facts(tb_task_of_product(product), &facts);
    const tb_plan by_terms = tb_decide_again(product, &facts, TB_NO_ROOM_TO_FOLD);
    if (by_terms.route != TB_ROUTE_RESIDENT)
        return TB_OUT_OF_MEMORY;
    const tb_status status = run(product, &by_terms, false, held);
    tb_give_held(held);
    return status;
}

static tb_status multiply(const tb_product *product, const tb_plan *plan, tb_held *held)
{
    TB_TRY(save_c(product, plan, held));
    /* Our buffers belong to the primary context; in a context of the program's own they cannot be used. */
    tb_status status = plan->place.context ? TB_OUT_OF_MEMORY : run(product, plan, false, held);
    tb_give_held(held);
    if (status == TB_OUT_OF_MEMORY && plan->folds && !plan->place.context && !held->has_begun)
        status = run_by_terms(product, plan, held);
    if (status != TB_OK && status != TB_DEVICE_LOST && is_repeatable(held)) {
        restore_c(product, held);
        status = run(product, plan, true, held);
    }
    if (status != TB_OK)
        restore_c(product, held);
    return status;
}

tb_outcome tb_run_resident(tb_task task, const tb_plan *plan, const tb_host *host, double *seconds)
{
    (void)host, (void)seconds;
    tb_held held = {.overwrites = tb_is_zero(task.product->beta)};
    const tb_status status = multiply(task.product, plan, &held);
    tb_unmake(held.saved_c);
    tb_unmake(held.listed);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in device memory");
    return status == TB_OK ? TB_DONE : TB_DECLINED;
}
