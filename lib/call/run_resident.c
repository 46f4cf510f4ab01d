/* The resident route: operands where the device can reach them, one kernel on the caller's stream. A kernel
 * that pads gets copies of the operands that miss its alignment, in pitched memory, and one for plain products gets
 * a real product of general matrices (words/lowered.h). One whose workspace does not fit into memory computes a part
 * of k at a time.
 *
 * The device works in place, so that a failure leaves C written in part. In managed memory, which the host
 * reaches too, the product is done once more: where beta is to be applied to what lay there, the call begins
 * by copying C into host memory.
 */
#include "lib/call/diagonal.h"
#include "lib/call/facts.h"
#include "lib/call/run.h"

#include "lib/device/device.h"
#include "lib/process/leaving.h"
#include "lib/machine/machine.h"
#include "lib/device/copies.h"
#include "lib/reports/options.h"
#include "lib/call/precision.h"
#include "lib/call/stream.h"
#include "dispatch/tiling.h"
#include "words/batch.h"
#include "words/folded.h"
#include "words/integers.h"
#include "words/lowered.h"

#include <stdlib.h>
#include <string.h>

/* When memory is short k is halved while it is longer than this, to a multiple of that many steps. */
#define CHUNK_LEAST 512
#define CHUNK_STEP  32

/* What one call holds, released in one place whatever happened. */
typedef struct held {
    /* Of each term, copies of A and B in pitched memory, or what they are expanded to. */
    tb_buffer pitched[2][TB_B + 1];
    tb_buffer workspaces[2], zero;
    tb_buffer sums;   /* to be folded */
    tb_buffer tables; /* of a batch's matrices that are not equally far apart: where each begins */
    void **listed;    /* the same in host memory, while they are sent */
    int64_t done;     /* of the term, steps of k that have been added to C, if what was enqueued succeeds */
    bool has_begun;   /* something has been added to C */
    bool overwrites;  /* what lay in C does not count */
    void *saved_c; /* C as the caller left it, in host memory, column after column; NULL: there is no copy */
} held;

/* Whether kernels have to be given a table of addresses: the matrices of some operand of the batch are not equally far apart. The
 * table lies in the device's memory. */
static bool needs_tables(const tb_product *product)
{
    return tb_is_batch(product) &&
           (product->c.uneven || (product->k > 0 && (product->a.uneven || product->b.uneven)));
}

static tb_status enqueue_terms_frugally(tb_stream *stream, const tb_product *product, const tb_plan *plan)
{
    const tb_machine machine = tb_machine_facts();
    const tb_chip *chip = tb_find_chip(&machine, plan->place.device);
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        const tb_kernel *kernel = chip ? tb_frugal_kernel(&one, chip, tb_wanted_accuracy()) : NULL;
        if (!kernel)
            return TB_UNSUPPORTED;
        const tb_schedule schedule = tb_device.prepare(stream, kernel, &one);
        TB_TRY(tb_device.launch(stream, kernel, &one, &schedule, NULL));
    }
    return TB_OK;
}

/* Without any memory of the device's: by kernels that need no workspace, and where there would be a table, one member of the batch
 * after the other. */
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

/* Steps of k in chunks: the first has the caller's beta, the last may be shorter, and kernels plan by both. */
static size_t workspace_of_chunks(tb_stream *stream, const tb_kernel *kernel, const tb_product *product,
                                  int64_t chunk)
{
    const int64_t last = chunk > 0 ? (product->k - 1) / chunk * chunk : 0;
    const int64_t firsts[] = {0, tb_smaller(chunk, last), last};
    size_t most = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t left = product->k - firsts[i];
        const tb_product part = tb_steps_of(product, (tb_range){firsts[i], tb_smaller(left, chunk)});
        const size_t bytes = tb_device.prepare(stream, kernel, &part).workspace;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Takes the kernel's workspace for as much of k as there is memory for: all of it, or a half, a quarter and so on. */
static tb_status take_workspace(tb_stream *stream, const tb_product *product, const tb_plan *plan,
                                int64_t *chunk, tb_buffer *workspace)
{
    const size_t limit = (size_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20;
    size_t before = SIZE_MAX;
    for (*chunk = product->k;; *chunk = tb_round_up(*chunk / 2, CHUNK_STEP)) {
        const size_t bytes = *chunk == product->k
                                 ? plan->schedule.workspace
                                 : workspace_of_chunks(stream, plan->kernel, product, *chunk);
        if (bytes == 0)
            return TB_OK;
        if (bytes >= before) /* it does not depend on k */
            return TB_OUT_OF_MEMORY;
        tb_status status = limit > 0 && bytes > limit ? TB_OUT_OF_MEMORY
                                                      : tb_take_buffer(plan->place.device, bytes, workspace);
        if (status != TB_OUT_OF_MEMORY || *chunk <= CHUNK_LEAST || product->in_place != TB_OUT_OF_PLACE ||
            tb_is_batch(product))
            return status;
        before = bytes;
    }
}

/* Whether a product that failed can be begun again: nothing has been written to C, or that does not matter. */
static bool is_repeatable(const held *held)
{
    return !held->has_begun || held->saved_c || held->overwrites;
}

/* Launches the kernel for one chunk of k after the other. Where one fails and the product cannot be begun again, the steps of k that
 * are left are added frugally. */
static tb_status launch_in_chunks(tb_stream *stream, const tb_product *product, const tb_plan *plan,
                                  int64_t chunk, void *workspace, held *held)
{
    do {
        const int64_t left = product->k - held->done;
        const tb_product part = tb_steps_of(product, (tb_range){held->done, tb_smaller(left, chunk)});
        const tb_schedule schedule =
            part.k == product->k ? plan->schedule : tb_device.prepare(stream, plan->kernel, &part);
        const tb_status status = tb_device.launch(stream, plan->kernel, &part, &schedule, workspace);
        if (status != TB_OK && !is_repeatable(held)) {
            const tb_product rest = tb_steps_of(product, (tb_range){held->done, left});
            return enqueue_frugally(stream, &rest, plan);
        }
        TB_TRY(status);
        held->has_begun = true;
        held->done += part.k;
    } while (held->done < product->k);
    return TB_OK;
}

/* Turns the product into the real one that it is lowered to, whose expanded operands are written out into buffers. */
static tb_status expand_operands(tb_stream *stream, tb_product *product, const tb_plan *plan,
                                 tb_buffer *expanded_to)
{
    const tb_product given = *product;
    *product = tb_lowered(&given);
    for (tb_role role = TB_A; role <= TB_B; role++) {
        tb_operand *expanded = &product->operands[role];
        if (expanded->expanded_from == 0 || expanded->rows == 0 || expanded->columns == 0)
            continue;
        expanded->ld = tb_pitched(expanded->rows, expanded->element);
        expanded->stride = tb_expanded_stride(&given.operands[role], expanded);
        const size_t bytes =
            tb_pitch(expanded) * (size_t)expanded->columns * (size_t)tb_expanded_count(&given.operands[role]);
        TB_TRY(tb_take_buffer(plan->place.device, bytes, &expanded_to[role]));
        expanded->data = expanded_to[role].memory;
        const tb_expansion expansion = tb_expansion_of(&given, product, role, 0);
        TB_TRY(tb_device.expand(stream, &expansion));
    }
    return TB_OK;
}

/* Sends the tables that kernels need as one piece, one operand's after the other, and has operands point to them. */
static tb_status send_tables(tb_stream *stream, tb_product *product, int device, held *held)
{
    const size_t each = (size_t)tb_members_of(product), bytes = TB_ROLES * each * sizeof(void *);
    size_t listed = 0;
    if (!needs_tables(product))
        return TB_OK;
    held->listed = malloc(bytes);
    if (!held->listed)
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_take_buffer(device, bytes, &held->tables));
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_operand *operand = &product->operands[role];
        if (!operand->uneven || (role != TB_C && product->k == 0))
            continue;
        memcpy(held->listed + listed, operand->members, each * sizeof(void *));
        operand->members = (void **)held->tables.memory + listed;
        listed += each;
    }
    const tb_copy copy =
        tb_copy_of_bytes(TB_HOST_TO_DEVICE, held->tables.memory, held->listed, listed * sizeof(void *));
    return tb_issue_copy(stream, &copy);
}

/* Whether the kernel adds up the terms of a product, and makes the diagonal of a Hermitian one real. */
static bool knows_terms(const tb_kernel *kernel)
{
    return kernel->reads == TB_READS_STRUCTURED;
}

/* Whether operands are written out for the kernel. A structured one reads them as they lie, but may also be that of the real batch which
 * a complex one is lowered to. */
static bool needs_expansion(const tb_kernel *kernel, const tb_product *product)
{
    const bool as_given = kernel->reads != TB_READS_PLAIN && kernel->element == tb_element_of(product);
    return !tb_is_plain(product) && product->in_place == TB_OUT_OF_PLACE && !as_given;
}

/* The product is one term, or all terms where the kernel knows them. */
static tb_status enqueue(tb_stream *stream, tb_product product, const tb_plan *plan, int term, held *held)
{
    int64_t chunk;
    tb_plan own = *plan;
    held->done = 0;
    TB_TRY(send_tables(stream, &product, plan->place.device, held));
    if (needs_expansion(plan->kernel, &product))
        TB_TRY(expand_operands(stream, &product, plan, held->pitched[term]));
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (plan->pads[term == 0 ? role : TB_B - role] && product.operands[role].expanded_from == 0)
            TB_TRY(tb_bring_operand(stream, TB_DEVICE_TO_DEVICE, plan->place.device, &product.operands[role],
                                    &held->pitched[term][role]));
    if (term > 0)
        own.schedule = tb_device.prepare(stream, plan->kernel, &product);
    TB_TRY(take_workspace(stream, &product, &own, &chunk, &held->workspaces[term]));
    return launch_in_chunks(stream, &product, &own, chunk, held->workspaces[term].memory, held);
}

/* One term, all of it, and then C's triangle of it and its transpose. Until then C is as it was. */
static tb_status enqueue_to_fold(tb_stream *stream, const tb_product *product, const tb_plan *plan,
                                 held *held)
{
    tb_product sums = tb_to_be_folded(product);
    sums.c.ld = tb_pitched(sums.c.rows, sums.c.element);
    TB_TRY(tb_take_buffer(plan->place.device, tb_pitch(&sums.c) * (size_t)sums.c.columns, &held->sums));
    sums.c.data = held->sums.memory;
    const tb_status status = enqueue(stream, sums, plan, 0, held);
    held->has_begun = false;
    TB_TRY(status);
    const tb_folding folding = {
        .sums = sums.c, .c = product->c, .beta = product->beta, .mask = product->mask};
    TB_TRY(tb_device.fold(stream, &folding));
    held->has_begun = true;
    return TB_OK;
}

/* One term after the other: kernels read each as it lies, and to be one product both would have to be written out side by side. A term
 * that fails when the product cannot be begun again is added frugally. */
static tb_status enqueue_terms(tb_stream *stream, const tb_product *product, const tb_plan *plan, held *held)
{
    if (plan->folds)
        return enqueue_to_fold(stream, product, plan, held);
    if (knows_terms(plan->kernel))
        return enqueue(stream, *product, plan, 0, held);
    /* What is needed at the end is there before C is written. */
    if (product->c.structure == TB_HERMITIAN)
        TB_TRY(tb_take_zero(stream, plan->place.device, &held->zero));
    for (int term = 0; term < tb_terms_of(product); term++) {
        const tb_product one = tb_term_of(product, term);
        const tb_status status = enqueue(stream, one, plan, term, held);
        if (status == TB_OK)
            continue;
        if (status == TB_DEVICE_LOST || held->done > 0 || is_repeatable(held))
            return status;
        TB_TRY(enqueue_frugally(stream, &one, plan));
    }
    return product->c.structure == TB_HERMITIAN ? tb_enqueue_real_diagonal(stream, &product->c, &held->zero)
                                                : TB_OK;
}

static void give_buffers(held *held)
{
    for (int term = 0; term < 2; term++) {
        for (tb_role role = TB_A; role <= TB_B; role++)
            tb_give_buffer(&held->pitched[term][role]);
        tb_give_buffer(&held->workspaces[term]);
    }
    tb_give_buffer(&held->zero);
    tb_give_buffer(&held->sums);
    tb_give_buffer(&held->tables);
}

/* What is enqueued in the caller's stream. */
typedef struct work {
    const tb_product *product;
    const tb_plan *plan;
    bool frugally;
    held *held;
} work;

static tb_status enqueue_work(tb_stream *stream, void *argument)
{
    const work *work = argument;
    return work->frugally ? enqueue_frugally(stream, work->product, work->plan)
                          : enqueue_terms(stream, work->product, work->plan, work->held);
}

/* The device has come to rest. */
static void leave(void *left)
{
    const work *work = left;
    tb_left_in_the_middle();
    if (tb_machine_device(work->plan->place.device))
        give_buffers(work->held);
}

static tb_status run(const tb_product *product, const tb_plan *plan, bool frugally, held *held)
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
    const tb_operand *c;
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
static tb_status save_c(const tb_product *product, const tb_plan *plan, held *held)
{
    if (plan->places[TB_C].memory != TB_MEMORY_MANAGED || tb_is_zero(product->beta))
        return TB_OK;
    c_copy what = {&product->c, malloc(tb_operand_bytes(&product->c))};
    const tb_status status = what.copy ? tb_in_callers_stream(&plan->place, copy_c, &what) : TB_OUT_OF_MEMORY;
    if (status == TB_OK)
        held->saved_c = what.copy;
    else
        free(what.copy);
    return status == TB_DEVICE_LOST || !plan->needs_device ? status : TB_OK;
}

/* Called when no work is in flight. Does nothing where C was not saved. */
static void restore_c(const tb_product *product, const held *held)
{
    tb_operand saved = product->c;
    if (!held->saved_c)
        return;
    saved.data = held->saved_c;
    saved.ld = saved.rows;
    for (int64_t j = 0; j < product->n; j++) {
        const tb_range rows = tb_masked_rows(product, j);
        memcpy(tb_at(&product->c, rows.first, j), tb_at(&saved, rows.first, j),
               (size_t)rows.count * tb_bytes_of(saved.element));
    }
}

/* ---- The call --------------------------------------------------------------------------------------------- */

/* What would have been decided if nothing were folded. */
static tb_plan plan_by_terms(const tb_product *product, const tb_plan *plan)
{
    tb_facts facts = {0};
    memcpy(facts.places, plan->places, sizeof facts.places);
    tb_gather_facts(product, &facts);
    facts.bytes_most = 1;
    return tb_decide(product, &facts);
}

/* Where there is no memory for what is to be folded: the kernels that add one term after the other may do with less, and those that need
 * none at all take a hundred times as long where numbers are complex. */
static tb_status run_by_terms(const tb_product *product, const tb_plan *plan, held *held)
{
    const tb_plan by_terms = plan_by_terms(product, plan);
    if (by_terms.route != TB_ROUTE_RESIDENT)
        return TB_OUT_OF_MEMORY;
    const tb_status status = run(product, &by_terms, false, held);
    give_buffers(held);
    return status;
}

static tb_status multiply(const tb_product *product, const tb_plan *plan, held *held)
{
    TB_TRY(save_c(product, plan, held));
    /* Our buffers belong to the primary context; in a context of the program's own they cannot be used. */
    tb_status status = plan->place.context ? TB_OUT_OF_MEMORY : run(product, plan, false, held);
    give_buffers(held);
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

tb_outcome tb_run_resident(const tb_product *product, const tb_plan *plan, const tb_host *host,
                           double *seconds)
{
    (void)host, (void)seconds;
    held held = {.overwrites = tb_is_zero(product->beta)};
    const tb_status status = multiply(product, plan, &held);
    free(held.saved_c);
    free(held.listed);
    if (status == TB_DEVICE_LOST)
        tb_machine_lose("multiplying matrices in device memory");
    return status == TB_OK ? TB_DONE : TB_DECLINED;
}
