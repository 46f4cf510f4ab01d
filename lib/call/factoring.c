#include "lib/call/factoring.h"

#include "dispatch/tiling.h"
#include "kernels/panels/launch_panel.h"
#include "lib/call/finish_factor.h"
#include "lib/device/copies.h"
#include "lib/machine/machine.h"
#include "lib/process/leaving.h"
#include "lib/streaming/copy_threads.h"
#include "lib/streaming/stream_run.h"
#include "lib/user/options.h"
#include "sequences/factorization.h"
#include "sequences/inversion.h"
#include "sequences/qr.h"
#include "sequences/substitution.h"
#include "words/integers.h"

#include <string.h>

/* ---- Beside the matrices ---------------------------------------------------------------------------------- */

/* On the device, one behind the other, of which all but the pivots is cleared first: infos, where the first is that which ends a
 * factorization, and others passing's; that of one which nothing ends; a part of the panels' workspace, and the rest; and pivots, or tau and
 * what QR's steps write beside it; or pivots, and a tile of I. */
typedef struct beside {
    int64_t infos[TB_PASSING_INFOS], result;
    _Alignas(16) char workspace[];
} beside;

/* The panels' workspace begins with flags. */
#define CLEARED_BYTES (sizeof(beside) + TB_PANEL_CLEARED_BYTES)

static bool exchanges_rows(const tb_factoring *work)
{
    return tb_factors_of(work->factor) == TB_LU;
}

static size_t pivot_bytes(const tb_factoring *work)
{
    return exchanges_rows(work) ? (size_t)tb_factor_order(work->factor) * sizeof(int32_t) : 0;
}

static bool reflects(const tb_factoring *work)
{
    return tb_factors_of(work->factor) == TB_QR;
}

static size_t tau_bytes(const tb_factoring *work, int64_t columns)
{
    return reflects(work) ? (size_t)tb_smaller(columns, tb_factor_order(work->factor)) *
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

static bool replaces(const tb_factoring *work)
{
    return tb_replacement_of(work->factor) != TB_NOT_REPLACED;
}

static size_t tile_bytes(const tb_factoring *work)
{
    return replaces(work) ? (size_t)TB_TILE_ORDER * TB_TILE_ORDER * tb_bytes_of(work->factor->a.element) : 0;
}

static size_t tile_offset(const tb_factoring *work)
{
    return aligned((size_t)((char *)work->there.pivots.data - (char *)work->beside.memory) +
                   pivot_bytes(work));
}

/* Behind so many bytes. */
static tb_status take_beside(tb_factoring *work, size_t head)
{
    const size_t tau = aligned(head), steps = tau + aligned(tau_bytes(work, INT64_MAX)),
                 bytes = reflects(work) ? steps + tb_qr_workspace(work->factor)
                                        : aligned(head + pivot_bytes(work)) + tile_bytes(work);
    if (reflects(work) && !is_allowed(work->held.bytes + bytes))
        return TB_OUT_OF_MEMORY;
    TB_TRY(tb_take_buffer(work->plan->place.device, bytes, &work->beside));
    work->there.pivots = (tb_pivots){(char *)work->beside.memory + head, 32};
    work->there.reflectors.tau = (char *)work->beside.memory + tau;
    if (reflects(work))
        tb_place_reflectors(&work->there, (char *)work->beside.memory + steps);
    return TB_OK;
}

tb_status tb_take_factoring_memory(tb_factoring *work)
{
    const int device = work->plan->place.device;
    const tb_factor *factor = work->factor;
    if (work->plan->place.context)
        return TB_OUT_OF_MEMORY; /* our buffers belong to the primary context */
    work->there = *factor;
    if (tb_makes_factors(factor))
        work->there.routine = tb_factoring_routine(factor);
    const size_t workspace = tb_panel_workspace(work->there.routine, factor->m, tb_machine_target(device));
    if (replaces(work))
        work->there.b = (tb_matrix){.rows = factor->n, .columns = factor->n, .element = factor->a.element};
    for (int i = 0; i < (replaces(work) ? TB_FACTORED_MOST : tb_factored_count(work)); i++)
        TB_TRY(take_copy(work, i));
    return take_beside(work, CLEARED_BYTES + workspace);
}

void tb_give_factoring_memory(tb_factoring *work)
{
    tb_give_held(&work->held);
    for (int i = 0; i < TB_FACTORED_MOST; i++)
        tb_give_buffer(&work->matrices[i].memory);
    tb_give_buffer(&work->beside);
    void **const made[] = {&work->narrowed, &work->tile, &work->saved};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (*made[i])
            tb_unmake(*made[i]);
        *made[i] = NULL;
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
    for (tb_role role = TB_A; role < TB_ROLES; role++) /* a product in C's place has no B */
        if (step->product.operands[role].matrix.data)
            TB_TRY(bring(work, &step->product.operands[role].matrix));
    return TB_OK;
}

static tb_status enqueue_panel(tb_factoring *work, const tb_sequence_step *step)
{
    beside *beside = work->beside.memory;
    return tb_enqueue_panel(work->stream, &step->panel, step->position,
                            exchanges_rows(work) || reflects(work) ? &beside->result : beside->infos,
                            beside->workspace);
}

static tb_status take_step(tb_factoring *work, const tb_sequence_step *step)
{
    if (step->kind == TB_STEP_PRODUCT && (step->product.m == 0 || step->product.n == 0))
        return TB_OK;
    if (work->passes)
        TB_TRY(bring_operands(work, step));
    return step->kind == TB_STEP_PANEL      ? enqueue_panel(work, step)
           : step->kind == TB_STEP_EXCHANGE ? tb_enqueue_row_exchange(work->stream, &step->exchange)
                                            : enqueue_product(work, &step->product);
}

/* Counted from the left. */
static tb_status finish_columns(tb_factoring *work, int number, int64_t columns)
{
    tb_factored *of = &work->matrices[number];
    of->walked = columns;
    return work->passes ? tb_finish_columns(&of->passing, columns) : TB_OK;
}

/* tau of columns that are finished, which are so many, is in the program's memory before they are. */
static tb_status tell_tau(tb_factoring *work, int64_t columns)
{
    const size_t first = tau_bytes(work, work->matrices[0].walked), end = tau_bytes(work, columns);
    const tb_copy tau = tb_copy_of_bytes(TB_DEVICE_TO_HOST, (char *)work->factor->reflectors.tau + first,
                                         (const char *)work->there.reflectors.tau + first, end - first);
    if (first == end)
        return TB_OK;
    TB_TRY(tb_issue_copy(work->stream, &tau));
    return tb_synchronize(work->stream);
}

/* So often at most: the device waits for it. Not measured. */
#define TAU_TIMES 8

static tb_status finish_reflected(tb_factoring *work, int64_t columns)
{
    const int64_t all = work->factor->n, few = work->passes ? all / TAU_TIMES : all;
    if (columns < all && columns - work->matrices[0].walked < few)
        return TB_OK;
    TB_TRY(tell_tau(work, columns));
    return finish_columns(work, 0, columns);
}

/* In passing, a pivot that is not positive ends the walk; in the device's memory nobody looks before its end. */
static tb_status visit_factoring(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_factoring *work = (tb_factoring *)visitor;
    const int64_t end = step->finished.first + step->finished.count;
    TB_TRY(take_step(work, step));
    if (step->finished.count == 0)
        return TB_OK;
    return reflects(work) ? finish_reflected(work, end) : finish_columns(work, 0, end);
}

static tb_status visit_solving(tb_visitor *visitor, const tb_sequence_step *step)
{
    tb_factoring *work = (tb_factoring *)visitor;
    TB_TRY(take_step(work, step));
    return step->finished.count > 0 ? finish_columns(work, 1, step->finished.first + step->finished.count)
                                    : TB_OK;
}

/* ---- Pivots ----------------------------------------------------------------------------------------------- */

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

static tb_status tell_pivots(tb_factoring *work)
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

/* Of a solve by factors that are there. One that is no row exchanges nothing. */
static tb_status send_pivots(tb_factoring *work)
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

/* ---- All steps -------------------------------------------------------------------------------------------- */

/* Blocks before one in which a pivot is not positive are finished: no step behind them writes to them. */
static tb_status store_a(tb_factoring *work)
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

static tb_status store_b(tb_factoring *work)
{
    tb_factored *b = &work->matrices[1];
    const tb_product part = tb_columns_of(&b->stored, (tb_range){0, b->walked});
    const tb_matrix from = tb_rectangle(&b->there, 0, 0, b->there.rows, b->walked);
    TB_TRY(come_to_rest(work));
    return tb_copy_masked(work->stream,
                          b->place.memory == TB_MEMORY_DEVICE ? TB_DEVICE_TO_DEVICE : TB_DEVICE_TO_HOST,
                          &part, &from, part.c.data, part.c.ld, &b->finished);
}

/* Where rows are exchanged all columns are finished in the end. */
static tb_status walk_factors(tb_factoring *work)
{
    work->visitor.visit = visit_factoring;
    TB_TRY(
        tb_walk_factor(&work->there, work->plan->block, tb_panel_order(work->there.routine), &work->visitor));
    if (!exchanges_rows(work))
        return TB_OK;
    TB_TRY(tell_pivots(work));
    return finish_columns(work, 0, work->factor->n);
}

/* A is in the program's memory before anything is solved. */
static tb_status make_factors(tb_factoring *work)
{
    const tb_status status = walk_factors(work);
    if (status == TB_DEVICE_LOST)
        return status;
    const tb_status stored = work->passes ? tb_return_finished(&work->matrices[0].passing) : store_a(work);
    return status != TB_OK ? status : stored;
}

/* So many columns of B at a time. Not measured. */
#define SOLVED_COLUMNS 1024

static tb_status solve(tb_factoring *work)
{
    const tb_factor solved = {.routine = work->factor->routine,
                              .m = work->there.m,
                              .n = work->there.n,
                              .a = work->there.a,
                              .stored = work->there.stored,
                              .transposed = work->there.transposed,
                              .conjugated = work->there.conjugated,
                              .unit_diagonal = work->there.unit_diagonal,
                              .pivots = work->there.pivots,
                              .b = work->there.b};
    const int64_t all = solved.b.columns;
    tb_status status = TB_OK;
    work->visitor.visit = visit_solving;
    for (int64_t first = 0; first < all && status == TB_OK; first += SOLVED_COLUMNS)
        status = tb_walk_substitution(&solved, (tb_range){first, tb_smaller(SOLVED_COLUMNS, all - first)},
                                      &work->visitor);
    if (status == TB_DEVICE_LOST)
        return status;
    const tb_status stored = work->passes ? tb_return_finished(&work->matrices[1].passing) : store_b(work);
    return status != TB_OK ? status : stored;
}

/* ---- What replaces A -------------------------------------------------------------------------------------- */

static tb_status make_identity(tb_factoring *work)
{
    const tb_element element = work->factor->a.element;
    tb_matrix tile = {
        .rows = TB_TILE_ORDER, .columns = TB_TILE_ORDER, .ld = TB_TILE_ORDER, .element = element};
    work->tile = tb_make(tile_bytes(work));
    if (!work->tile)
        return TB_OUT_OF_MEMORY;
    tile.data = work->tile;
    tb_set_identity(&tile);
    tile.data = (char *)work->beside.memory + tile_offset(work);
    const tb_copy copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, tile.data, work->tile, tile_bytes(work));
    TB_TRY(tb_issue_copy(work->stream, &copy));
    return tb_walk_identity(&work->there.b, &tile, &work->visitor);
}

/* A diagonal that counts as ones keeps what it holds. */
static tb_status keep_diagonal(const tb_factoring *work)
{
    const tb_matrix *a = &work->there.a, *b = &work->there.b;
    const size_t element = tb_bytes_of(a->element);
    const tb_copy copy = {.direction = TB_DEVICE_TO_DEVICE,
                          .target = b->data,
                          .target_pitch = (size_t)(b->ld + 1) * element,
                          .source = a->data,
                          .source_pitch = (size_t)(a->ld + 1) * element,
                          .row_bytes = element,
                          .rows = (size_t)a->rows};
    return work->factor->unit_diagonal ? tb_issue_copy(work->stream, &copy) : TB_OK;
}

/* Between the program's A and what is saved of it: what is stored. */
static void copy_saved(tb_factoring *work, bool back)
{
    const tb_matrix *a = &work->factor->a;
    const size_t column = tb_column_bytes(a);
    const tb_host_copy copy = {.target = back ? a->data : work->saved,
                               .target_pitch = back ? tb_pitch(a) : column,
                               .source = back ? work->saved : a->data,
                               .source_pitch = back ? column : tb_pitch(a),
                               .row_bytes = column,
                               .rows = (size_t)a->columns,
                               .stairs = tb_stairs_in(&work->matrices[0].stored, 0, 0)};
    tb_copy_begin(&work->saving, &copy);
    tb_copy_end(&work->saving);
}

void tb_restore_saved(tb_factoring *work)
{
    tb_copy_leave(&work->saving);
    if (work->is_saved)
        copy_saved(work, true);
    work->matrices[0].finished = work->matrices[0].passing.returned = 0;
}

/* The device is at work meanwhile. */
static tb_status save(tb_factoring *work)
{
    void *const saved = tb_make(tb_column_bytes(&work->factor->a) * (size_t)work->factor->n);
    if (!saved)
        return TB_OUT_OF_MEMORY;
    work->saved = saved;
    copy_saved(work, false);
    work->is_saved = true;
    return TB_OK;
}

static tb_status visit_replacing(tb_visitor *visitor, const tb_sequence_step *step)
{
    return take_step((tb_factoring *)visitor, step);
}

static tb_status replace(tb_factoring *work)
{
    tb_factored *a = &work->matrices[0];
    work->visitor.visit = visit_replacing;
    if (exchanges_rows(work))
        TB_TRY(send_pivots(work));
    TB_TRY(make_identity(work));
    TB_TRY(tb_walk_replacement(&work->there, &work->visitor));
    TB_TRY(keep_diagonal(work));
    if (tb_replacement_is_in_b(work->factor))
        a->there = a->passing.there = work->there.b;
    if (work->passes)
        TB_TRY(save(work));
    TB_TRY(finish_columns(work, 0, work->factor->n));
    return work->passes ? tb_return_finished(&a->passing) : store_a(work);
}

static tb_status walk(tb_factoring *work)
{
    const tb_factor *factor = work->factor;
    if (replaces(work))
        return work->result == 0 ? replace(work) : TB_OK;
    if (tb_makes_factors(factor))
        TB_TRY(make_factors(work));
    else if (exchanges_rows(work))
        TB_TRY(send_pivots(work));
    return tb_solves(factor) && work->result == 0 ? solve(work) : TB_OK;
}

/* ---- In the program's stream ------------------------------------------------------------------------------ */

static tb_status load(tb_factoring *work, tb_factored *of)
{
    int64_t copied;
    return tb_copy_masked(work->stream,
                          of->place.memory == TB_MEMORY_DEVICE ? TB_DEVICE_TO_DEVICE : TB_HOST_TO_DEVICE,
                          &of->stored, &of->stored.c.matrix, of->there.data, of->there.ld, &copied);
}

/* The first number on the diagonal that is 0, from 1, or 0. */
static tb_status look_at_diagonal(tb_factoring *work)
{
    const tb_matrix *a = &work->there.a;
    const size_t element = tb_bytes_of(a->element);
    tb_factor diagonal = *work->factor;
    diagonal.a.ld = 0;
    diagonal.a.data = work->narrowed = tb_make((size_t)a->rows * element);
    if (!work->narrowed)
        return TB_OUT_OF_MEMORY;
    const tb_copy copy = {.direction = TB_DEVICE_TO_HOST,
                          .target = diagonal.a.data,
                          .target_pitch = element,
                          .source = a->data,
                          .source_pitch = (size_t)(a->ld + 1) * element,
                          .row_bytes = element,
                          .rows = (size_t)a->rows};
    TB_TRY(tb_issue_copy(work->stream, &copy));
    TB_TRY(tb_synchronize(work->stream));
    work->result = tb_first_zero(&diagonal);
    return TB_OK;
}

tb_status tb_factor_in_stream(tb_factoring *work)
{
    static const char zeros[CLEARED_BYTES];
    const tb_copy clear = tb_copy_of_bytes(TB_HOST_TO_DEVICE, work->beside.memory, zeros, sizeof zeros);
    TB_TRY(tb_issue_copy(work->stream, &clear));
    for (int i = 0; i < tb_factored_count(work); i++)
        TB_TRY(load(work, &work->matrices[i]));
    if (tb_divides_by_diagonal(work->factor))
        TB_TRY(look_at_diagonal(work));
    return walk(work);
}

/* ---- Through a pipeline ----------------------------------------------------------------------------------- */

/* What passes waits for what comes back: here it would be nothing. */
static bool is_nothing(const tb_factor *factor)
{
    return tb_solves(factor) && !tb_makes_factors(factor) && factor->b.columns == 0;
}

tb_status tb_factor_in_pipeline(tb_factoring *work, tb_pipeline *pipeline)
{
    work->result = tb_first_zero(work->factor);
    if (work->result != 0 || is_nothing(work->factor))
        return TB_OK;
    work->stream = pipeline->compute;
    work->passes = true;
    for (int i = 0; i < tb_factored_count(work); i++) {
        tb_factored *of = &work->matrices[i];
        of->passing = (tb_passing){.pipeline = pipeline,
                                   .stored = &of->stored,
                                   .there = of->there,
                                   .infos = ((beside *)work->beside.memory)->infos,
                                   .cleared = CLEARED_BYTES,
                                   .bytes_behind = tb_matrix_bytes(&work->factor->b),
                                   .is_second = i > 0};
        TB_TRY(tb_begin_passing(&of->passing));
    }
    return walk(work);
}
