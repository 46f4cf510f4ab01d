/* Room on the device for a product's operands, and for the kernel: a place for all of each operand, with what is there from earlier
 * calls, or rings of slabs and blocks.
 */
#include "lib/streaming/stream_run.h"

#include "lib/streaming/others_copies.h"
#include "lib/user/options.h"

/* A print has 16 bytes: those of shorter columns would be more than a sixteenth of the operand. */
#define CACHED_COLUMN_BYTES 256

/* An operand of less than half a slot is loaded in the time that it takes to see whether it has changed. Write-combined memory is
 * for the link alone to read, so that no prints are taken of it. */
static bool may_be_cached(const tb_stream_run *run, tb_role role)
{
    const tb_place *place = &run->plan->places[role];
    const tb_operand *operand = &run->product->operands[role];
    return role != TB_C && tb_place_of(run, role) == role && operand->structure == TB_GENERAL &&
           run->product->expanded[role].from == 0 && run->pipeline->channel == 0 &&
           tb_option_value(TB_OPTION_OPERAND_CACHE) && tb_option_value(TB_OPTION_DEVICE_MEMORY) == 0 &&
           !tb_is_on_device(place) && !place->write_combined &&
           tb_column_bytes(&operand->matrix) >= CACHED_COLUMN_BYTES &&
           2 * tb_matrix_bytes(&operand->matrix) >= run->pipeline->slot_bytes &&
           tb_fingerprints_ready_for(run->pipeline->device);
}

void tb_lay_out(tb_stream_run *run)
{
    const tb_tiling *tiling = run->tiling;
    /* C on the device is written at the very end, so that a failure leaves it as it was. */
    run->whole_c = tiling->whole || tb_returns_on_device(run) || tiling->block_n >= run->product->n;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        tb_stream_operand *there = &run->operands[role];
        const bool in_bands = tb_is_in_bands(run->product, tiling, role);
        there->ld = tb_ld_there(run->product, tiling, role);
        const tb_copy_layout layout = {
            .role = role, .ld = there->ld, .band_m = in_bands ? tiling->band_m : 0};
        if (!tiling->whole || !may_be_cached(run, role))
            continue;
        there->cached =
            tb_find_operand(&run->pipeline->operands, &run->product->operands[role].matrix, &layout);
        if (!there->cached)
            there->cached = tb_find_elsewhere(run->pipeline);
    }
}

static size_t bytes_there(const tb_stream_run *run, tb_role role)
{
    const tb_operand *c = &run->product->c;
    if (role == TB_C && run->whole_c && !run->tiling->whole)
        return (size_t)(run->operands[TB_C].ld * c->columns) * tb_bytes_of(c->element);
    return (size_t)tb_bytes_there(run->product, run->tiling, role);
}

/* In C's place there is C; the triangle comes as it is stored (stream_expand.c). */
static bool has_place(const tb_stream_run *run, tb_role role)
{
    return tb_place_of(run, role) == role && (role == TB_C || run->product->in_place == TB_OUT_OF_PLACE);
}

/* Copies that are there are taken before anything else can take their place. */
tb_status tb_take_places(tb_stream_run *run)
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
        if (!buffer->memory && has_place(run, order[i]))
            TB_TRY(tb_take_buffer(device, bytes_there(run, order[i]), buffer));
    }
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_stream_operand *there = &run->operands[role];
        if (there->cached && there->cached->name == 0)
            TB_TRY(tb_fetch_copy(run->pipeline, there->cached, &there->buffer));
    }
    const size_t workspace = run->schedules->workspace;
    return workspace > 0 ? tb_take_buffer(device, workspace, &run->workspace) : TB_OK;
}
