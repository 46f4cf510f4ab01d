/* The way in of operands that are expanded (words/lowered.h). A general one comes as it is stored, some columns at a time, to
 * a staging place on the device, and is written out from there to its own; a structured one comes once, all of the triangle
 * that is stored, and what products need of it is written out from that.
 */

#include "lib/device/copies.h"
#include "lib/streaming/stream_pump.h"
#include "words/integers.h"

/* Rows and columns, in the expanded operand, of a rectangle of it, whose own place is nowhere: its address is how far it is
 * from the operand's beginning. */
static void find_ranges(const tb_product *product, tb_role role, const tb_matrix *rectangle, tb_range *rows,
                        tb_range *columns)
{
    const int64_t ld = product->operands[role].ld;
    const int64_t offset = (int64_t)((uintptr_t)rectangle->data / tb_bytes_of(rectangle->element));
    *rows = (tb_range){offset % ld, rectangle->rows};
    *columns = (tb_range){offset / ld, rectangle->columns};
}

static tb_status need_staging(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    return run->staging.memory ? TB_OK
                               : tb_take_buffer(pipeline->device, tb_staging_bytes(pipeline), &run->staging);
}

/* ---- General operands ------------------------------------------------------------------------------------- */

/* Pinned memory, which the link reads itself. */
static tb_status expand_straight(tb_stream_run *run, const tb_expansion *expansion, int64_t columns_most)
{
    for (int64_t column = 0; column < expansion->source.columns; column += columns_most) {
        const int64_t count = tb_smaller(columns_most, expansion->source.columns - column);
        const tb_matrix from =
            tb_rectangle(&expansion->source.matrix, 0, column, expansion->source.rows, count);
        tb_expansion part = tb_expansion_of_columns(expansion, (tb_range){column, count});
        part.source.data = run->staging.memory;
        part.source.ld = part.source.rows;
        TB_TRY(
            tb_copy_operand(run->pipeline->load, TB_HOST_TO_DEVICE, &from, run->staging.memory, from.rows));
        TB_TRY(tb_enqueue_expansion(run->pipeline->load, &part));
    }
    return TB_OK;
}

/* The matrix has no more rows than the staging place takes. */
static tb_status expand_rows(tb_stream_run *run, tb_role from, const tb_expansion *expansion)
{
    const tb_matrix *source = &expansion->source.matrix;
    tb_expansion staged = *expansion;
    staged.source.data = run->staging.memory;
    staged.source.ld = source->rows;
    const tb_transfer transfer = {.from = source,
                                  .target = run->staging.memory,
                                  .target_pitch = tb_column_bytes(source),
                                  .in_one = true,
                                  .pitch = tb_column_bytes(source),
                                  .expansion = &staged};
    if (run->plan->places[from].memory != TB_MEMORY_PINNED)
        return tb_pump(run, &transfer);
    TB_TRY(tb_send_filled(run));
    return expand_straight(run, expansion, (int64_t)(tb_staging_bytes(run->pipeline) / transfer.pitch));
}

static tb_status expand_general(tb_stream_run *run, tb_role from, const tb_expansion *expansion)
{
    const tb_operand *source = &expansion->source;
    const int64_t most = (int64_t)(tb_staging_bytes(run->pipeline) / tb_bytes_of(source->element));
    TB_TRY(need_staging(run));
    for (int64_t row = 0; row < source->rows; row += most) {
        const int64_t each = tb_is_complex(source->element) ? 2 : 1,
                      count = tb_smaller(most, source->rows - row);
        const tb_range whole_rows = {0, expansion->target.rows},
                       whole_columns = {0, expansion->target.columns};
        const int64_t of_column = expansion->embedded ? 2 : 1;
        const tb_expansion part =
            source->transposed
                ? tb_expansion_part(expansion, whole_rows, (tb_range){of_column * row, of_column * count})
                : tb_expansion_part(expansion, (tb_range){each * row, each * count}, whole_columns);
        TB_TRY(expand_rows(run, from, &part));
    }
    return TB_OK;
}

/* ---- Structured operands ---------------------------------------------------------------------------------- */

/* Some columns of the triangle that is stored. What lies beyond it in these rows is not read, nor is a diagonal of ones. */
static tb_status bring_columns(tb_stream_run *run, const tb_operand *source, const tb_matrix *stored,
                               tb_range columns)
{
    const bool lower = source->stored == TB_LOWER;
    const int64_t ones = source->unit_diagonal;
    const tb_range rows = {lower ? columns.first : 0,
                           lower ? source->rows - columns.first : columns.first + columns.count};
    const tb_matrix from =
        tb_rectangle(&source->matrix, rows.first, columns.first, rows.count, columns.count);
    const int64_t bytes = (int64_t)tb_bytes_of(source->element);
    const tb_stairs stairs = {
        .step_bytes = bytes, .edge_bytes = (lower ? ones : columns.first + 1 - ones) * bytes, .ends = !lower};
    const tb_transfer transfer = {.from = &from,
                                  .target = tb_at(stored, rows.first, columns.first),
                                  .target_pitch = tb_pitch(stored),
                                  .pitch = tb_column_bytes(&from),
                                  .stairs = stairs};
    return tb_pump(run, &transfer);
}

/* A column that is longer than a slot. */
static tb_status bring_long_column(tb_stream_run *run, const tb_operand *source, const tb_matrix *stored,
                                   int64_t column)
{
    const int64_t most = (int64_t)(run->pipeline->slot_bytes / tb_bytes_of(source->element));
    const int64_t ones = source->unit_diagonal, first = source->stored == TB_LOWER ? column + ones : 0,
                  end = source->stored == TB_LOWER ? source->rows : column + 1 - ones;
    for (int64_t row = first; row < end; row += most) {
        const tb_matrix from = tb_rectangle(&source->matrix, row, column, tb_smaller(most, end - row), 1);
        const tb_transfer transfer = {.from = &from,
                                      .target = tb_at(stored, row, column),
                                      .target_pitch = tb_pitch(stored),
                                      .pitch = tb_column_bytes(&from)};
        TB_TRY(tb_pump(run, &transfer));
    }
    return TB_OK;
}

static tb_status bring_triangle(tb_stream_run *run, const tb_operand *source, const tb_matrix *stored)
{
    const int64_t most = (int64_t)(run->pipeline->slot_bytes / tb_column_bytes(&source->matrix));
    for (int64_t column = 0; column < source->columns; column += tb_larger(most, 1)) {
        const tb_range columns = {column, tb_smaller(most, source->columns - column)};
        TB_TRY(most > 0 ? bring_columns(run, source, stored, columns)
                        : bring_long_column(run, source, stored, column));
    }
    return tb_send_filled(run);
}

/* What the host must not read. The link reads the other half, too. */
static tb_status bring_straight(tb_stream_run *run, const tb_operand *source, const tb_matrix *stored)
{
    return tb_copy_operand(run->pipeline->load, TB_HOST_TO_DEVICE, &source->matrix, stored->data, stored->ld);
}

tb_status tb_bring_stored(tb_stream_run *run, tb_role role)
{
    const tb_operand *source = &run->given->operands[role];
    tb_operand *stored = &run->stored[role], there = *source;
    if (stored->data)
        return TB_OK;
    there.ld = tb_pitched(source->rows, source->element);
    TB_TRY(tb_take_buffer(run->pipeline->device, tb_pitch(&there.matrix) * (size_t)there.columns,
                          &run->stored_there[role]));
    there.data = run->stored_there[role].memory;
    TB_TRY((run->plan->places[role].write_combined ? bring_straight : bring_triangle)(run, source,
                                                                                      &there.matrix));
    *stored = there;
    return TB_OK;
}

/* ---- Either ----------------------------------------------------------------------------------------------- */

/* from: the operand whose memory the source is. */
static tb_status load_part(tb_stream_run *run, tb_role from, tb_expansion whole, tb_range rows,
                           tb_range columns, const tb_matrix *target)
{
    const bool on_device = tb_is_on_device(&run->plan->places[from]);
    const bool structured = whole.source.structure != TB_GENERAL;
    if (tb_is_complex(whole.source.element) &&
        ((rows.first | rows.count) % 2 != 0 || (whole.embedded && (columns.first | columns.count) % 2 != 0)))
        return TB_UNSUPPORTED; /* half of a number */
    if (structured && !on_device) {
        TB_TRY(tb_bring_stored(run, from));
        whole.source = run->stored[from];
    }
    tb_expansion part = tb_expansion_part(&whole, rows, columns);
    part.target = *target;
    if (!structured && !on_device)
        return expand_general(run, from, &part);
    TB_TRY(tb_send_filled(run));
    return tb_enqueue_expansion(run->pipeline->load, &part);
}

/* Those of the wanted steps of k that a term has, counted from its first. */
static tb_range of_term(tb_range k, int64_t first, int64_t count)
{
    const int64_t begin = tb_larger(k.first, first), end = tb_smaller(k.first + k.count, first + count);
    return (tb_range){begin - first, tb_larger(end - begin, 0)};
}

tb_status tb_load_expanded(tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                           int64_t target_ld)
{
    tb_range ranges[2];
    find_ranges(run->product, role, rectangle, &ranges[0], &ranges[1]);
    const tb_product lowered = tb_lowered(run->given);
    const int terms = tb_terms_of(run->given), along_k = role == TB_A;
    const tb_range k = ranges[along_k];
    for (int term = 0; term < terms; term++) {
        const int64_t count = lowered.k / terms, first = term * count;
        ranges[along_k] = of_term(k, first, count);
        tb_matrix there = *rectangle;
        there.data = target;
        there.ld = target_ld;
        const int64_t from = first + ranges[along_k].first - k.first;
        there =
            tb_rectangle(&there, along_k ? 0 : from, along_k ? from : 0, ranges[0].count, ranges[1].count);
        if (ranges[along_k].count > 0)
            TB_TRY(load_part(run, term == 0 ? role : (tb_role)(TB_B - role),
                             tb_expansion_of(run->given, &lowered, role, term), ranges[0], ranges[1],
                             &there));
    }
    return TB_OK;
}
