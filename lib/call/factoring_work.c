#include "lib/call/factoring_work.h"

#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/copies.h"
#include "lib/machine/machine.h"
#include "lib/process/leaving.h"
#include "lib/user/options.h"
#include "sequences/generate.h"
#include "sequences/inversion.h"
#include "sequences/qr.h"
#include "words/integers.h"

#include <string.h>

/* ---- Beside the matrices ---------------------------------------------------------------------------------- */

/* On the device, one behind the other, of which all but the pivots is cleared first: infos, where the first is that which ends a
 * factorization, and others passing's; that of one which nothing ends; a part of the panels' workspace, and the rest; and pivots, or tau and
 * what QR's steps write beside it; or what replaces A is made of. */
typedef struct beside {
    int64_t infos[TB_PASSING_INFOS], result;
    _Alignas(16) char workspace[];
} beside;

/* The panels' workspace begins with flags. */
#define CLEARED_BYTES (sizeof(beside) + TB_PANEL_CLEARED_BYTES)

bool tb_exchanges_rows(const tb_factoring *work)
{
    return tb_factors_of(work->factor) == TB_LU;
}

static size_t pivot_bytes(const tb_factoring *work)
{
    return tb_exchanges_rows(work) ? (size_t)tb_factor_order(work->factor) * sizeof(int32_t) : 0;
}

bool tb_reflects(const tb_factoring *work)
{
    return tb_makes_factors(work->factor) && tb_factors_of(work->factor) == TB_QR;
}

/* Of so many columns. */
static size_t tau_bytes(const tb_factoring *work, int64_t columns)
{
    return tb_reflects(work) ? (size_t)tb_smaller(columns, tb_factor_order(work->factor)) *
                                   tb_bytes_of(work->factor->a.element)
                             : 0;
}

/* The option DEVICE_MEMORY counts the copies as well. */
static bool is_allowed(size_t bytes)
{
    const size_t limit = (size_t)tb_option_value(TB_OPTION_DEVICE_MEMORY) << 20;
    return limit == 0 || bytes <= limit;
}

static tb_status take_copy(tb_factoring *work, int number)
{
    tb_factored *of = &work->matrices[number];
    tb_matrix *there = number == 0 ? &work->there.a : &work->there.b;
    there->ld = tb_pitched(there->rows, there->element);
    const size_t bytes = (size_t)(there->ld * tb_larger(there->columns, 1)) * tb_bytes_of(there->element);
    if (!is_allowed(work->held.bytes + bytes))
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_take_buffer(work->plan->place.device, bytes, &of->memory));
    work->held.bytes += bytes;
    there->data = of->memory.memory;
    of->there = *there;
    return TB_OK;
}

static size_t aligned(size_t bytes)
{
    enum { ALIGNMENT = 256 };
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Where QR's steps write, or what replaces A is made of: behind pivots and tau. */
static size_t further_bytes(const tb_factoring *work)
{
    const tb_factor *factor = work->factor;
    return tb_reflects(work)             ? tb_qr_workspace(factor)
           : tb_reads_reflectors(factor) ? tb_q_workspace(factor)
           : tb_replacement_of(factor)   ? TB_TILE_ORDER * TB_TILE_ORDER * tb_bytes_of(factor->a.element)
                                         : 0;
}

/* Behind so many bytes. */
static tb_status take_beside(tb_factoring *work, size_t head)
{
    const size_t tau = head + pivot_bytes(work), further = aligned(aligned(tau) + tau_bytes(work, INT64_MAX)),
                 bytes = further + further_bytes(work);
    if (further_bytes(work) > 0 && !is_allowed(work->held.bytes + bytes))
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_take_buffer(work->plan->place.device, bytes, &work->beside));
    char *const beside = work->beside.memory;
    work->there.pivots = (tb_pivots){beside + head, 32};
    work->there.reflectors.tau = beside + aligned(tau);
    work->further = beside + further;
    if (tb_reflects(work))
        tb_place_reflectors(&work->there, work->further);
    return TB_OK;
}

tb_status tb_take_factoring_memory(tb_factoring *work)
{
    const int device = work->plan->place.device;
    const tb_factor *factor = work->factor;
    if (work->plan->place.context)
        return TB_OUT_OF_MEMORY; /* our buffers belong to the primary context */
    work->there = *factor;
    if (tb_makes_factors(factor) && !tb_replacement_of(factor))
        work->there.routine = tb_factoring_routine(factor);
    const size_t workspace = tb_makes_factors(factor)
                                 ? tb_panel_workspace(tb_factoring_routine(factor),
                                                      tb_reflector_length(factor), tb_machine_target(device))
                                 : 0;
    if (tb_replacement_of(factor))
        work->there.b = (tb_matrix){.rows = tb_reflector_length(factor),
                                    .columns = tb_reflected_lines(factor),
                                    .element = factor->a.element};
    for (int i = 0; i < (tb_replacement_of(factor) ? TB_FACTORED_MOST : tb_factored_count(work)); i++)
        TB_TRY(take_copy(work, i));
    return take_beside(work, CLEARED_BYTES + workspace);
}

void tb_give_factoring_memory(tb_factoring *work)
{
    tb_give_held(&work->held);
    for (int i = 0; i < TB_FACTORED_MOST; i++)
        tb_give_buffer(&work->matrices[i].memory);
    tb_give_buffer(&work->beside);
    void **const made[] = {&work->narrowed, &work->given};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        void *const memory = *made[i];
        *made[i] = NULL; /* before it is: who leaves between would free it again */
        tb_unmake(memory);
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

static tb_status come_to_rest(tb_factoring *work)
{
    TB_TRY(tb_synchronize(work->stream));
    tb_give_held(&work->held);
    return TB_OK;
}

static size_t copied_bytes(const tb_factoring *work)
{
    return work->matrices[0].memory.bytes + work->matrices[1].memory.bytes;
}

/* Where that of products before it is what is missing of memory, it is given back first. */
static tb_status enqueue_product(tb_factoring *work, const tb_product *product)
{
    tb_held *held = &work->held;
    if (!held->is_used)
        held->bytes = copied_bytes(work);
    const tb_status status = tb_enqueue_resident(work->stream, product, &work->plan->place, held);
    if (status != TB_OUT_OF_MEMORY || held->bytes == copied_bytes(work))
        return status;
    TB_TRY(come_to_rest(work));
    held->bytes = copied_bytes(work);
    return tb_enqueue_resident(work->stream, product, &work->plan->place, held);
}

/* Of a step's matrix the copy that it lies in, and how many columns of that, counted from the left, are those up to its last one. */
static tb_status bring(tb_factoring *work, const tb_matrix *matrix)
{
    for (int i = 0; i < tb_factored_count(work); i++) {
        tb_factored *of = &work->matrices[i];
        const int64_t element = (int64_t)tb_bytes_of(matrix->element),
                      offset = ((char *)matrix->data - (char *)of->there.data) / element;
        if (offset >= 0 && offset < of->there.ld * of->there.columns)
            return tb_bring_columns(&of->passing, offset / of->there.ld + matrix->columns);
    }
    return TB_OK;
}

static tb_status bring_operands(tb_factoring *work, const tb_sequence_step *step)
{
    if (step->kind == TB_STEP_PANEL)
        return bring(work, &step->panel.a);
    if (step->kind == TB_STEP_EXCHANGE)
        return bring(work, &step->exchange.matrix);
    if (step->kind == TB_STEP_MOVE) /* what it writes is made of all that there is */
        return bring(work, &step->move.source.matrix);
    for (tb_role role = TB_A; role < TB_ROLES; role++) /* a product in C's place has no B */
        if (step->product.operands[role].matrix.data)
            TB_TRY(bring(work, &step->product.operands[role].matrix));
    return TB_OK;
}

static tb_status enqueue_panel(tb_factoring *work, const tb_sequence_step *step)
{
    beside *beside = work->beside.memory;
    return tb_enqueue_panel(work->stream, &step->panel, step->position,
                            tb_exchanges_rows(work) || tb_reflects(work) ? &beside->result : beside->infos,
                            beside->workspace);
}

tb_status tb_take_factoring_step(tb_factoring *work, const tb_sequence_step *step)
{
    if (step->kind == TB_STEP_PRODUCT && (step->product.m == 0 || step->product.n == 0))
        return TB_OK;
    if (work->passes)
        TB_TRY(bring_operands(work, step));
    return step->kind == TB_STEP_PANEL      ? enqueue_panel(work, step)
           : step->kind == TB_STEP_EXCHANGE ? tb_enqueue_row_exchange(work->stream, &step->exchange)
           : step->kind == TB_STEP_MOVE     ? tb_enqueue_expansion(work->stream, &step->move)
                                            : enqueue_product(work, &step->product);
}

tb_status tb_finish_factored(tb_factoring *work, int number, int64_t columns)
{
    tb_factored *of = &work->matrices[number];
    of->walked = columns;
    return work->passes ? tb_finish_columns(&of->passing, columns) : TB_OK;
}

/* ---- Pivots and tau --------------------------------------------------------------------------------------- */

/* Into the caller's integers. */
static void widen(const tb_factor *factor)
{
    char *pivots = factor->pivots.data;
    int32_t narrow;
    for (int64_t i = tb_factor_order(factor); factor->pivots.bits == 64 && i-- > 0;) {
        memcpy(&narrow, pivots + (size_t)i * sizeof narrow, sizeof narrow);
        tb_set_pivot(factor->pivots, i, narrow);
    }
}

tb_status tb_tell_pivots(tb_factoring *work)
{
    const tb_factor *factor = work->factor;
    const beside *beside = work->beside.memory;
    const tb_copy pivots = tb_copy_of_bytes(TB_DEVICE_TO_HOST, factor->pivots.data, work->there.pivots.data,
                                            pivot_bytes(work)),
                  result = tb_copy_of_bytes(TB_DEVICE_TO_HOST, &work->result, &beside->result,
                                            sizeof work->result);
    TB_TRY(tb_issue_copy(work->stream, &pivots));
    TB_TRY(tb_issue_copy(work->stream, &result));
    TB_TRY(tb_synchronize(work->stream));
    widen(factor);
    return TB_OK;
}

tb_status tb_send_pivots(tb_factoring *work)
{
    const tb_factor *factor = work->factor;
    work->narrowed = tb_make(pivot_bytes(work));
    if (!work->narrowed)
        return TB_OUT_OF_MEMORY;
    for (int64_t i = 0; i < tb_factor_order(factor); i++) {
        const int64_t pivot = tb_pivot_at(factor->pivots, i);
        ((int32_t *)work->narrowed)[i] = pivot > 0 && pivot <= factor->n ? (int32_t)pivot : 0;
    }
    const tb_copy pivots =
        tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->there.pivots.data, work->narrowed, pivot_bytes(work));
    return tb_issue_copy(work->stream, &pivots);
}

tb_status tb_send_reflectors(tb_factoring *work)
{
    const size_t bytes = tb_q_given_bytes(work->factor);
    work->given = tb_make(bytes);
    if (!work->given)
        return TB_OUT_OF_MEMORY;
    tb_write_q_given(work->factor, work->given);
    tb_place_q(&work->there, work->further);
    const tb_copy copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->further, work->given, bytes);
    return tb_issue_copy(work->stream, &copy);
}

tb_status tb_tell_tau(tb_factoring *work, int64_t columns)
{
    const size_t first = tau_bytes(work, work->matrices[0].walked), end = tau_bytes(work, columns);
    const tb_copy tau = tb_copy_of_bytes(TB_DEVICE_TO_HOST, (char *)work->factor->reflectors.tau + first,
                                         (const char *)work->there.reflectors.tau + first, end - first);
    if (first == end)
        return TB_OK;
    TB_TRY(tb_issue_copy(work->stream, &tau));
    return tb_synchronize(work->stream);
}

/* ---- All steps -------------------------------------------------------------------------------------------- */

tb_status tb_store_a(tb_factoring *work)
{
    tb_factored *a = &work->matrices[0];
    const beside *beside = work->beside.memory;
    const int64_t block = work->plan->block;
    const tb_copy flag = tb_copy_of_bytes(TB_DEVICE_TO_HOST, &work->info, beside->infos, sizeof work->info);
    TB_TRY(tb_issue_copy(work->stream, &flag));
    TB_TRY(come_to_rest(work));
    const int64_t good =
        work->info == 0 ? a->walked : tb_smaller(a->walked, (work->info - 1) / block * block);
    const tb_product part = tb_columns_of(&a->stored, (tb_range){0, good});
    const tb_matrix from = tb_rectangle(&a->there, 0, 0, a->there.rows, good);
    TB_TRY(tb_copy_masked(work->stream,
                          a->place.memory == TB_MEMORY_DEVICE ? TB_DEVICE_TO_DEVICE : TB_DEVICE_TO_HOST,
                          &part, &from, part.c.data, part.c.ld, &a->finished));
    return work->info == 0 ? TB_OK : TB_UNSUPPORTED;
}

tb_status tb_store_b(tb_factoring *work)
{
    tb_factored *b = &work->matrices[1];
    const tb_product part = tb_columns_of(&b->stored, (tb_range){0, b->walked});
    const tb_matrix from = tb_rectangle(&b->there, 0, 0, b->there.rows, b->walked);
    TB_TRY(come_to_rest(work));
    return tb_copy_masked(work->stream,
                          b->place.memory == TB_MEMORY_DEVICE ? TB_DEVICE_TO_DEVICE : TB_DEVICE_TO_HOST,
                          &part, &from, part.c.data, part.c.ld, &b->finished);
}

/* ---- From the program's matrices -------------------------------------------------------------------------- */

static tb_status load(tb_factoring *work, tb_factored *of)
{
    int64_t copied;
    return tb_copy_masked(work->stream,
                          of->place.memory == TB_MEMORY_DEVICE ? TB_DEVICE_TO_DEVICE : TB_HOST_TO_DEVICE,
                          &of->stored, &of->stored.c.matrix, of->there.data, of->there.ld, &copied);
}

tb_status tb_load_factored(tb_factoring *work)
{
    static const char zeros[CLEARED_BYTES];
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->beside.memory, zeros, sizeof zeros);
    TB_TRY(tb_issue_copy(work->stream, &clear));
    for (int i = 0; i < tb_factored_count(work); i++)
        TB_TRY(load(work, &work->matrices[i]));
    return TB_OK;
}

tb_status tb_pass_factored(tb_factoring *work, tb_pipeline *pipeline)
{
    work->stream = pipeline->compute;
    work->passes = true;
    for (int i = 0; i < tb_factored_count(work); i++) {
        tb_factored *of = &work->matrices[i];
        of->passing = (tb_passing){.pipeline = pipeline,
                                   .stored = &of->stored,
                                   .there = of->there,
                                   .results = i == 0 && tb_replacement_is_in_b(work->factor) ? work->there.b
                                                                                             : of->there,
                                   .infos = ((beside *)work->beside.memory)->infos,
                                   .cleared = CLEARED_BYTES,
                                   .bytes_behind = tb_matrix_bytes(&work->factor->b),
                                   .is_second = i > 0};
        TB_TRY(tb_begin_passing(&of->passing));
    }
    return TB_OK;
}
