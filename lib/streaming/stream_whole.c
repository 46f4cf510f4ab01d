/* Products of which everything has its place on the device: step by step, as the tiling has them. */
#include "lib/reports/options.h"
#include "lib/streaming/stream_run.h"
#include "words/integers.h"

/* Rows of a band, where it has its place, or of the whole operand. */
static int64_t rows_there(const tb_stream_run *run, tb_role role, int64_t row)
{
    const int64_t band_m = run->tiling->band_m, rows = run->product->operands[role].rows;
    return tb_is_in_bands(run, role) ? tb_smaller(band_m, rows - row / band_m * band_m) : rows;
}

/* What the step's product finds of the operand, on the device or on its way there. C is always computed in a buffer, so that a
 * failure leaves the program's as it was. */
static tb_status bring(tb_stream_run *run, tb_role role, const tb_step *step, tb_product *part)
{
    const tb_operand *operand = &run->product->operands[role];
    tb_range k, rows, columns;
    if (role != TB_C && tb_is_on_device(&run->plan->places[role]) && !run->plan->pads[role])
        return TB_OK;
    tb_stored_ranges(run->product, role, step->rows, step->columns, step->k, &rows, &columns);
    part->operands[role].data = tb_on_device(run, role, rows.first, columns.first);
    part->operands[role].ld = run->operands[role].ld;
    if (!tb_step_brings(step, run->product, role, &k))
        return TB_OK;
    tb_stored_ranges(run->product, role, step->rows, step->columns, k, &rows, &columns);
    const tb_operand from = tb_rectangle(operand, rows.first, columns.first, rows.count, columns.count);
    if (role == TB_A)
        run->multiplied.a.data = NULL;
    return tb_load(run, role, &from, tb_on_device(run, role, rows.first, columns.first),
                   run->operands[role].ld, rows.count < rows_there(run, role, rows.first));
}

static tb_status take_step(tb_stream_run *run, const tb_step *step)
{
    tb_product part = tb_subproduct(run->product, step->rows, step->columns, step->k);
    for (int i = 0; i < TB_ROLES; i++)
        TB_TRY(bring(run, tb_bringing_order[i], step, &part));
    return tb_compute(run, &part, step->panel_n, step->completes);
}

tb_status tb_stream_whole(tb_stream_run *run)
{
    const int64_t count = tb_step_count(run->product, run->tiling);
    for (int64_t i = 0; i < count; i++) {
        const tb_step step = tb_step_at(run->product, run->tiling, i);
        TB_TRY(take_step(run, &step));
    }
    return TB_OK;
}

/* ---- Places ----------------------------------------------------------------------------------------------- */

/* In columns of fewer bytes prints would be more than a sixteenth of what they are of. */
#define CACHED_COLUMN_BYTES 256

/* Of less than half a slot it takes as long to see that it has not changed as to load it. What is write-combined only the link
 * reads. */
static bool may_be_cached(const tb_stream_run *run, tb_role role)
{
    const tb_place *place = &run->plan->places[role];
    const tb_operand *operand = &run->product->operands[role];
    return role != TB_C && run->pipeline->channel == 0 && tb_option_value(TB_OPTION_OPERAND_CACHE) &&
           tb_option_value(TB_OPTION_DEVICE_MEMORY) == 0 && !tb_is_on_device(place) &&
           !place->write_combined && tb_column_bytes(operand) >= CACHED_COLUMN_BYTES &&
           2 * tb_operand_bytes(operand) >= run->pipeline->slot_bytes && tb_fingerprints_ready();
}

/* In a band's place as many rows as a band has. */
static int64_t ld_of(const tb_stream_run *run, tb_role role)
{
    const tb_operand *operand = &run->product->operands[role];
    return tb_pitched(tb_is_in_bands(run, role) ? run->tiling->band_m : tb_larger(operand->rows, 1),
                      operand->element);
}

void tb_lay_out_whole(tb_stream_run *run)
{
    run->whole_c = true;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_stream_operand *there = &run->operands[role];
        there->ld = ld_of(run, role);
        const tb_copy_layout layout = {
            .role = role, .ld = there->ld, .band_m = tb_is_in_bands(run, role) ? run->tiling->band_m : 0};
        if (may_be_cached(run, role))
            there->cached = tb_find_operand(&run->pipeline->operands, &run->product->operands[role], &layout);
    }
}

static size_t bytes_there(const tb_stream_run *run, tb_role role)
{
    const tb_operand *operand = &run->product->operands[role];
    const int64_t bands = tb_is_in_bands(run, role) ? tb_pieces(operand->rows, run->tiling->band_m) : 1;
    const int64_t columns = bands * tb_larger(operand->columns, 1);
    return (size_t)(run->operands[role].ld * columns) * tb_bytes_of(operand->element);
}

/* Copies that are there are taken before anything else can take their place. */
tb_status tb_take_whole(tb_stream_run *run)
{
    const int device = run->pipeline->device;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_stream_operand *there = &run->operands[role];
        if (there->cached)
            tb_take_copy(there->cached, device, bytes_there(run, role), &there->buffer);
    }
    for (int i = 0; i < TB_ROLES; i++) {
        static const tb_role order[TB_ROLES] = {TB_C, TB_A, TB_B};
        tb_buffer *buffer = &run->operands[order[i]].buffer;
        if (!buffer->memory)
            TB_TRY(tb_take_buffer(device, bytes_there(run, order[i]), buffer));
    }
    return TB_OK;
}
