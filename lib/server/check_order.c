#include "lib/server/check_order.h"

#include "dispatch/schedule.h"
#include "kernels/launch.h"
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "words/integers.h"

#include <string.h>

/* No extent, leading dimension or diagonal is larger: sums of products of two are far from what 64 bits hold. */
#define EXTENT_MOST (INT64_C(1) << 40)

/* ---- Bytes ------------------------------------------------------------------------------------------------ */

/* Fields that have few values, by where they are and the most that they may be: what is read as another value is undefined. They are
 * looked at as bytes and words first. */
typedef struct field {
    size_t offset;
    uint32_t bytes, most;
} field;

#define IS(where)                                                                                            \
    {                                                                                                        \
        offsetof(tb_command, where), sizeof(bool), 1                                                         \
    }
#define UP_TO(where, most_)                                                                                  \
    {                                                                                                        \
        offsetof(tb_command, where), sizeof(uint32_t), (most_)                                               \
    }
#define MATRIX(where) UP_TO(where.element, TB_ELEMENTS - 1)
#define OPERAND(where)                                                                                       \
    MATRIX(where), IS(where.transposed), IS(where.conjugated), IS(where.unit_diagonal),                      \
        UP_TO(where.structure, TB_TRIANGULAR), UP_TO(where.stored, TB_UPPER)
#define BATCH(where) IS(where.members[0].uneven), IS(where.members[1].uneven), IS(where.members[2].uneven)
#define END                                                                                                  \
    {                                                                                                        \
        0, 0, 0                                                                                              \
    }

static const field of_copies[] = {UP_TO(copy.direction, TB_DEVICE_TO_DEVICE), END};
static const field of_masked_copies[] = {MATRIX(masked.source), MATRIX(masked.target),
                                         UP_TO(masked.mask, TB_UPPER), IS(masked.pairs), END};
static const field of_expansions[] = {OPERAND(expansion.source), MATRIX(expansion.target),
                                      IS(expansion.embedded), BATCH(expansion.batch), END};
static const field of_foldings[] = {MATRIX(folding.sums), OPERAND(folding.c), UP_TO(folding.mask, TB_UPPER),
                                    END};
static const field of_launches[] = {IS(launch.same_a),
                                    UP_TO(launch.product.routine, TB_ROUTINES - 1),
                                    OPERAND(launch.product.a),
                                    OPERAND(launch.product.b),
                                    OPERAND(launch.product.c),
                                    BATCH(launch.product.batch),
                                    IS(launch.product.expanded[0].embedded),
                                    IS(launch.product.expanded[1].embedded),
                                    IS(launch.product.expanded[2].embedded),
                                    UP_TO(launch.product.mask, TB_UPPER),
                                    IS(launch.product.mask_pairs),
                                    UP_TO(launch.product.terms, 2),
                                    UP_TO(launch.product.in_place, TB_SOLVES),
                                    UP_TO(launch.product.a_nonzero, TB_UPPER),
                                    UP_TO(launch.product.b_nonzero, TB_UPPER),
                                    IS(launch.product.b_nonzero_pairs),
                                    IS(launch.product.like_magnitudes),
                                    END};
static const field of_panels[] = {UP_TO(panel.block.routine, TB_ROUTINES - 1), MATRIX(panel.block.a),
                                  UP_TO(panel.block.stored, TB_UPPER), END};
static const field of_exchanges[] = {MATRIX(exchange.matrix), IS(exchange.backwards), IS(exchange.has_panel),
                                     END};
static const field *const fields[] = {
    [TB_COMMAND_COPY] = of_copies,       [TB_COMMAND_COPY_MASKED] = of_masked_copies,
    [TB_COMMAND_EXPAND] = of_expansions, [TB_COMMAND_FOLD] = of_foldings,
    [TB_COMMAND_LAUNCH] = of_launches,   [TB_COMMAND_PANEL] = of_panels,
    [TB_COMMAND_EXCHANGE] = of_exchanges};

static uint32_t kind_of(const tb_command *command)
{
    uint32_t kind;
    memcpy(&kind, &command->kind, sizeof kind);
    return kind;
}

static bool has_values(const tb_command *command)
{
    const uint32_t kind = kind_of(command);
    if (kind >= sizeof fields / sizeof *fields)
        return false;
    for (const field *field = fields[kind]; field->bytes > 0; field++) {
        uint32_t value = 0;
        memcpy(&value, (const char *)command + field->offset, field->bytes);
        if (value > field->most)
            return false;
    }
    return true;
}

/* ---- Footprints ------------------------------------------------------------------------------------------- */

static bool is_extent(int64_t extent)
{
    return extent >= 0 && extent <= EXTENT_MOST;
}

static bool is_diagonal(int64_t diagonal)
{
    return diagonal >= -EXTENT_MOST && diagonal <= EXTENT_MOST;
}

/* Rows of so many bytes, so far apart: all that lies between the first and the last byte. False where that is too much to be true. */
static bool span_of(uint64_t rows, uint64_t row_bytes, uint64_t pitch, uint64_t *bytes)
{
    uint64_t between;
    if (rows == 0 || row_bytes == 0) {
        *bytes = 0;
        return true;
    }
    return (rows == 1 || pitch >= row_bytes) &&
           !__builtin_mul_overflow(rows - 1, rows == 1 ? 0 : pitch, &between) &&
           !__builtin_add_overflow(between, row_bytes, bytes);
}

static bool span_of_matrix(const tb_matrix *matrix, uint64_t *bytes)
{
    const uint64_t size = tb_bytes_of(matrix->element);
    return is_extent(matrix->rows) && is_extent(matrix->columns) && is_extent(matrix->ld) &&
           (uintptr_t)matrix->data % tb_bytes_of(tb_real_of(matrix->element)) == 0 &&
           span_of((uint64_t)matrix->columns, (uint64_t)matrix->rows * size, (uint64_t)matrix->ld * size,
                   bytes);
}

static bool holds_matrix(const tb_holdings *holdings, int device, const tb_matrix *matrix)
{
    uint64_t bytes;
    return span_of_matrix(matrix, &bytes) &&
           (bytes == 0 || holdings->holds(holdings, device, (uintptr_t)matrix->data, bytes));
}

/* Where the mirror images lie of the numbers of a rectangle that are not stored: what is read instead of them. Such a number at row i
 * and column j of the rectangle, whose first number lies `d` rows below the diagonal, is the one at row j - d and column i + d. Of
 * rows and of columns the first and the last one that occur. False: all are stored. */
typedef struct images {
    int64_t first_row, last_row, first_column, last_column;
} images;

static bool find_images(const tb_operand *operand, images *found)
{
    const int64_t d = operand->diagonal, i_last = operand->rows - 1, j_last = operand->columns - 1;
    int64_t i[2], j[2];
    if (operand->stored == TB_LOWER) { /* above the diagonal: j > i + d */
        i[0] = 0, j[0] = tb_larger(0, d + 1);
        i[1] = tb_smaller(i_last, j_last - d - 1), j[1] = j_last;
    } else {
        i[0] = tb_larger(0, 1 - d), j[0] = 0;
        i[1] = i_last, j[1] = tb_smaller(j_last, i_last + d - 1);
    }
    *found = (images){j[0] - d, j[1] - d, i[0] + d, i[1] + d};
    return i[0] <= i[1] && j[0] <= j[1];
}

/* With what is read in the place of numbers that are not stored; the diagonal is one. It is all of one matrix, and so lies in one
 * piece of memory. */
static bool holds_operand(const tb_holdings *holdings, int device, const tb_operand *operand)
{
    const bool mirrors = operand->structure == TB_SYMMETRIC || operand->structure == TB_HERMITIAN;
    const __int128 base = (__int128)(uintptr_t)operand->data;
    uint64_t bytes;
    images images;
    if (!holds_matrix(holdings, device, &operand->matrix) || !span_of_matrix(&operand->matrix, &bytes))
        return false;
    if (!mirrors || bytes == 0 || !find_images(operand, &images))
        return true;
    const int64_t size = (int64_t)tb_bytes_of(operand->element);
    const __int128 first = base + ((__int128)images.first_column * operand->ld + images.first_row) * size,
                   last = base + ((__int128)images.last_column * operand->ld + images.last_row) * size + size,
                   low = first < base ? first : base, high = last > base + bytes ? last : base + bytes;
    return low > 0 && high <= INT64_MAX &&
           holdings->holds(holdings, device, (uint64_t)low, (uint64_t)(high - low));
}

/* The bytes from there on in the first part of the slots, or in one step. */
static uint64_t bytes_together(const tb_holdings *holdings, uint64_t first)
{
    uint32_t step = 0;
    while (step < holdings->steps && first >= tb_slots_after(holdings->extent, step))
        step++;
    const uint64_t end = tb_slots_after(holdings->extent, step);
    return first < end ? end - first : 0;
}

char *tb_check_slot(const tb_holdings *holdings, uint64_t first, uint64_t bytes)
{
    return first <= tb_slots_after(holdings->extent, holdings->steps) &&
                   bytes <= bytes_together(holdings, first)
               ? holdings->slots + first
               : NULL;
}

/* ---- By kind ---------------------------------------------------------------------------------------------- */

static bool check_copy(const tb_holdings *holdings, int device, tb_copy *copy)
{
    uint64_t read, written;
    if (!span_of(copy->rows, copy->row_bytes, copy->source_pitch, &read) ||
        !span_of(copy->rows, copy->row_bytes, copy->target_pitch, &written))
        return false;
    if (copy->direction == TB_HOST_TO_DEVICE) {
        copy->source = tb_check_slot(holdings, (uintptr_t)copy->source, read);
        return copy->source &&
               (written == 0 || holdings->holds(holdings, device, (uintptr_t)copy->target, written));
    }
    if (read > 0 && !holdings->holds(holdings, device, (uintptr_t)copy->source, read))
        return false;
    if (copy->direction == TB_DEVICE_TO_DEVICE)
        return written == 0 || holdings->holds(holdings, device, (uintptr_t)copy->target, written);
    copy->target = tb_check_slot(holdings, (uintptr_t)copy->target, written);
    return copy->target != NULL;
}

static bool check_masked_copy(const tb_holdings *holdings, int device, const tb_masked_copy *copy)
{
    return tb_is_masked_copy(copy) && is_diagonal(copy->diagonal) &&
           holds_matrix(holdings, device, &copy->source) && holds_matrix(holdings, device, &copy->target);
}

/* Batches of operands in host memory are computed one by one: a client has none. */
static bool is_no_batch(const tb_batch *batch)
{
    return batch->count == 0 || batch->count == 1;
}

static bool check_expansion(const tb_holdings *holdings, int device, tb_expansion *expansion)
{
    const tb_operand *source = &expansion->source;
    const tb_matrix *target = &expansion->target;
    if (!is_no_batch(&expansion->batch) || !is_diagonal(source->diagonal) ||
        !holds_operand(holdings, device, source) || !holds_matrix(holdings, device, target))
        return false;
    expansion->batch = (tb_batch){0};
    const bool turned = source->transposed, complex = tb_is_complex(source->element);
    const int64_t rows = (turned ? source->columns : source->rows) * (complex ? 2 : 1),
                  columns = (turned ? source->rows : source->columns) * (expansion->embedded ? 2 : 1);
    return target->rows == rows && target->columns == columns &&
           target->element == tb_real_of(source->element) && (!expansion->embedded || complex);
}

static bool check_folding(const tb_holdings *holdings, int device, const tb_folding *folding)
{
    const tb_matrix *sums = &folding->sums, *c = &folding->c.matrix;
    return is_diagonal(folding->c.diagonal) && folding->mask != TB_FULL && sums->rows == c->rows &&
           sums->columns == c->columns && c->rows == c->columns && sums->element == c->element &&
           holds_matrix(holdings, device, sums) && holds_matrix(holdings, device, c);
}

/* What the kernel takes for the operand's rows and columns. */
static bool has_extents(const tb_product *product, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    tb_range rows, columns;
    tb_stored_ranges(product, role, (tb_range){0, product->m}, (tb_range){0, product->n},
                     (tb_range){0, product->k}, &rows, &columns);
    return operand->rows == rows.count && operand->columns == columns.count;
}

/* In C's place one operand is C itself, and has nothing of its own: what a client says of it is left behind. */
static void empty_operand_in_place(tb_product *product)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (tb_is_in_place_of(product, role))
            product->operands[role] =
                (tb_operand){.data = product->c.data, .ld = product->c.ld, .element = product->c.element};
}

static bool check_operand(const tb_holdings *holdings, int device, const tb_product *product, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    if (operand->element != product->c.element)
        return false;
    if (tb_is_in_place_of(product, role))
        return true;
    return is_diagonal(operand->diagonal) && has_extents(product, role) &&
           (role == TB_C      ? holds_matrix(holdings, device, &operand->matrix)
            : product->k == 0 ? true
                              : holds_operand(holdings, device, operand));
}

static bool has_sound_extents(const tb_product *product)
{
    const int64_t triangle = tb_is_triangle_left(product) ? product->m : product->n;
    return is_extent(product->m) && is_extent(product->n) && is_extent(product->k) &&
           is_diagonal(product->diagonal) &&
           (product->in_place == TB_OUT_OF_PLACE || product->k == triangle) &&
           (product->terms < 2 || product->m == product->n);
}

/* Kernels take it for memory of its own, which begins so on every device: what they read of it at once would fault elsewhere. */
enum { WORKSPACE_ALIGNMENT = 256 };

static bool check_launch(const tb_holdings *holdings, const tb_chip *chip, tb_launch *launch)
{
    tb_product *product = &launch->product;
    if (!is_no_batch(&product->batch) || !has_sound_extents(product))
        return false;
    product->batch = (tb_batch){0};
    empty_operand_in_place(product);
    const tb_kernel *kernel = tb_kernel_of(launch, chip->architecture);
    if (!kernel || (!kernel->launch && kernel->sequence == TB_NO_SEQUENCE))
        return false;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!check_operand(holdings, chip->device, product, role))
            return false;
    launch->schedule = tb_make_schedule(kernel, product, tb_target_of(chip));
    return launch->schedule.workspace == 0 ||
           ((uintptr_t)launch->workspace % WORKSPACE_ALIGNMENT == 0 &&
            holdings->holds(holdings, chip->device, (uintptr_t)launch->workspace,
                            launch->schedule.workspace));
}

/* Of 32 bits, as all that devices take. */
static bool holds_pivots(const tb_holdings *holdings, int device, tb_pivots pivots, int64_t count)
{
    const uint64_t address = (uintptr_t)pivots.data, bytes = (uint64_t)count * sizeof(int32_t);
    return address % sizeof(int32_t) == 0 &&
           (bytes == 0 || holdings->holds(holdings, device, address, bytes));
}

static bool holds_reflectors(const tb_holdings *holdings, int device, const tb_factor *block)
{
    const tb_reflectors *reflectors = &block->reflectors;
    const int64_t order = block->n;
    const tb_element element = block->a.element;
    const tb_matrix tau = {reflectors->tau, order, 1, order, element},
                    t = {reflectors->t, order, order, reflectors->ld_of_t, element},
                    v = {reflectors->v, block->m, order, reflectors->ld_of_v, element};
    return holds_matrix(holdings, device, &tau) && holds_matrix(holdings, device, &t) &&
           holds_matrix(holdings, device, &v);
}

/* The workspace is not looked at: it becomes the server's own (lib/server/orders.c). */
static bool check_panel(const tb_holdings *holdings, const tb_chip *chip, const tb_panel *panel)
{
    const tb_factor *block = &panel->block;
    const uint64_t info = (uintptr_t)panel->info;
    const bool pivots = tb_routine_rows[block->routine].class == TB_CLASS_GETRF,
               reflectors = tb_routine_rows[block->routine].class == TB_CLASS_GEQRF;
    return tb_is_panel(block) && block->m <= tb_panel_rows(block->routine, tb_target_of(chip)) &&
           is_extent(panel->position) && holds_matrix(holdings, chip->device, &block->a) &&
           (!pivots || holds_pivots(holdings, chip->device, block->pivots, tb_smaller(block->m, block->n))) &&
           (!reflectors || holds_reflectors(holdings, chip->device, block)) &&
           info % sizeof *panel->info == 0 &&
           holdings->holds(holdings, chip->device, info, sizeof *panel->info);
}

static bool check_exchange(const tb_holdings *holdings, int device, const tb_row_exchange *exchange)
{
    return tb_is_row_exchange(exchange) && holds_matrix(holdings, device, &exchange->matrix) &&
           holds_pivots(holdings, device, exchange->pivots, exchange->count);
}

bool tb_check_command(const tb_holdings *holdings, const tb_chip *chip, tb_command *command)
{
    if (!has_values(command))
        return false;
    switch (command->kind) {
    case TB_COMMAND_COPY:
        return check_copy(holdings, chip->device, &command->copy);
    case TB_COMMAND_COPY_MASKED:
        return check_masked_copy(holdings, chip->device, &command->masked);
    case TB_COMMAND_EXPAND:
        return check_expansion(holdings, chip->device, &command->expansion);
    case TB_COMMAND_FOLD:
        return check_folding(holdings, chip->device, &command->folding);
    case TB_COMMAND_LAUNCH:
        return check_launch(holdings, chip, &command->launch);
    case TB_COMMAND_PANEL:
        return check_panel(holdings, chip, &command->panel);
    case TB_COMMAND_EXCHANGE:
        return check_exchange(holdings, chip->device, &command->exchange);
    }
    return false;
}
