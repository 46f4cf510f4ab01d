/* Operands' way in: parts of them go through the slots to the device, or straight from where the link can
 * read them. */
#include "lib/streaming/copy_threads.h"
#include "words/integers.h"
#include "lib/device/copies.h"
#include "lib/streaming/stream_run.h"

/* Operands of no more bytes than this would still lie in the copying cores' own caches when the link reads them, which it does from
 * there at less than half of its rate: slots are filled past the caches. With larger operands a slot has moved on to the cache that
 * the cores share by the time it is sent, where it is well filled and read. On an H200's host, of 16 cores with 2 MiB each:
 * docs/lab/streaming.md. */
#define OWN_CACHES_BYTES ((size_t)24 << 20)

/* Whether what the slot stands for is on the device already. Where it is not, the slot is filled with it, and
 * prints are taken anew. */
static bool is_there(tb_cached_operand *operand, tb_slot *slot)
{
    tb_copy_job *job = &slot->job;
    const tb_host_copy copy = job->copy;
    const double bytes = (double)copy.row_bytes * (double)copy.rows;
    operand->looked_at += bytes;
    if (tb_compare_end(job)) {
        operand->same += bytes;
        return true;
    }
    tb_copy_begin(job, &copy);
    tb_copy_end(job);
    return false;
}

tb_status tb_send_filled(tb_stream_run *run)
{
    tb_slot *slot = run->filling;
    if (!slot)
        return TB_OK;
    run->filling = NULL;
    if (!slot->compared)
        tb_copy_end(&slot->job);
    else if (is_there(slot->compared, slot))
        return TB_OK;
    TB_TRY(tb_issue_copy(run->pipeline->load, &slot->upload));
    if (slot->expands)
        TB_TRY(tb_device.expand(run->pipeline->load, &slot->expansion));
    TB_TRY(tb_device.record(slot->done, run->pipeline->load));
    slot->busy = true;
    tb_post_half(run, slot->done);
    return TB_OK;
}

static tb_transfer make_transfer(tb_cached_operand *cached, const tb_matrix *from, void *target,
                                 int64_t target_ld, bool is_part)
{
    const int64_t element_bytes = (int64_t)tb_bytes_of(from->element);
    const int64_t ld = is_part ? tb_pitched(from->rows, from->element) : target_ld;
    tb_transfer transfer = {.from = from,
                            .target = target,
                            .target_pitch = (size_t)(target_ld * element_bytes),
                            .in_one = !is_part,
                            .pitch = (size_t)(ld * element_bytes),
                            .cached = cached};
    if (!cached)
        return transfer;
    const int64_t offset = ((char *)from->data - (char *)cached->operand.data) / element_bytes;
    transfer.first_column = offset / cached->operand.ld;
    transfer.strip =
        tb_find_strip(cached, offset % cached->operand.ld, from->rows, transfer.first_column, from->columns);
    return transfer;
}

/* The next slot, when nothing reads it any more. */
static tb_status take_slot(tb_stream_run *run, tb_slot **slot)
{
    tb_pipeline *pipeline = run->pipeline;
    tb_slot *next = *slot = &pipeline->in[run->next_in];
    run->next_in = (run->next_in + 1) % TB_SLOTS;
    TB_TRY(tb_need_slot(pipeline, next));
    if (next->busy && !tb_device.event_passed(next->done) && !tb_returns_on_device(run))
        TB_TRY(tb_return_ready(run));
    if (next->busy)
        TB_TRY(tb_device.event_wait(next->done));
    next->busy = false;
    return TB_OK;
}

/* Fills the slot with so many columns; columns whose prints are known are compared with them instead. */
static void begin_filling(const tb_stream_run *run, const tb_transfer *transfer, tb_slot *slot,
                          int64_t column, size_t columns)
{
    const tb_matrix *from = transfer->from;
    tb_strip *strip = transfer->strip;
    const size_t column_bytes = tb_column_bytes(from);
    const int64_t of_operand = transfer->first_column + column;
    tb_stairs stairs = transfer->stairs;
    stairs.edge_bytes += column * stairs.step_bytes;
    const tb_host_copy copy = {
        .target = slot->pinned.memory,
        .target_pitch = transfer->pitch,
        .source = tb_at(from, 0, column),
        .source_pitch = tb_pitch(from),
        .row_bytes = column_bytes,
        .rows = columns,
        .past_caches = run->bytes_in <= OWN_CACHES_BYTES,
        .stairs = stairs,
        .seen = transfer->seen,
        .seen_shift = TB_SEEN_BEFORE_SHIFT,
        .element = tb_real_of(from->element),
        .prints = strip ? tb_prints_of_column(strip, of_operand) : NULL,
    };
    slot->upload = (tb_copy){
        .direction = TB_HOST_TO_DEVICE,
        .target = transfer->target + (transfer->expansion ? 0 : (size_t)column * transfer->target_pitch),
        .target_pitch = transfer->target_pitch,
        .source = slot->pinned.memory,
        .source_pitch = transfer->pitch,
        .row_bytes = transfer->in_one ? (columns - 1) * transfer->pitch + column_bytes : column_bytes,
        .rows = transfer->in_one ? 1 : columns,
    };
    slot->expands = transfer->expansion;
    if (slot->expands)
        slot->expansion = tb_expansion_of_columns(transfer->expansion, (tb_range){column, (int64_t)columns});
    const bool known = strip && tb_know(strip, of_operand, (int64_t)columns);
    slot->compared = known ? transfer->cached : NULL;
    (known ? tb_compare_begin : tb_copy_begin)(&slot->job, &copy);
}

tb_status tb_load_through_slots(tb_stream_run *run, const tb_transfer *transfer)
{
    const size_t bytes = transfer->expansion ? tb_staging_bytes(run->pipeline) : run->pipeline->slot_bytes;
    const size_t in_slot = bytes / transfer->pitch;
    const int64_t all = transfer->from->columns, most = tb_larger((int64_t)in_slot, 1);
    for (int64_t column = 0; column < all; column += most) {
        tb_slot *slot;
        TB_TRY(take_slot(run, &slot));
        begin_filling(run, transfer, slot, column, (size_t)tb_smaller(most, all - column));
        tb_status status = tb_send_filled(run);
        run->filling = slot;
        TB_TRY(status);
        TB_TRY(tb_compute_due(run));
    }
    return TB_OK;
}

/* Whether pinned memory has to be copied into slots all the same: what the link reads where the program may
 * be writing has no fingerprints that are certain to be its own. Where there are no slots, nothing is
 * remembered. */
static bool needs_slots(tb_stream_run *run, const tb_transfer *transfer)
{
    if (!transfer->strip)
        return false;
    if (tb_need_slot(run->pipeline, &run->pipeline->in[run->next_in]) == TB_OK)
        return true;
    tb_forget_columns(transfer->strip, transfer->first_column, transfer->from->columns);
    return false;
}

static tb_stairs stairs_of(const tb_product *product, const tb_matrix *rectangle)
{
    const tb_matrix *c = &product->c.matrix;
    const int64_t offset = ((char *)rectangle->data - (char *)c->data) / (int64_t)tb_bytes_of(c->element);
    return tb_stairs_in(product, offset % c->ld, offset / c->ld);
}

/* Nobody looks at what the link reads itself: it may explain whatever comes of it. */
static void presume_not_finite(const tb_transfer *transfer)
{
    if (transfer->seen)
        atomic_fetch_or(transfer->seen, (uint32_t)TB_SEEN_BOTH << TB_SEEN_BEFORE_SHIFT);
}

tb_status tb_load(tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                  int64_t target_ld, bool is_part)
{
    const tb_place *place = &run->plan->places[role];
    if (rectangle->rows == 0 || rectangle->columns == 0)
        return TB_OK;
    if (run->product->expanded[role].from > 0)
        return tb_load_expanded(run, role, rectangle, target, target_ld);
    if (tb_is_on_device(place))
        return tb_copy_operand(run->pipeline->load, TB_DEVICE_TO_DEVICE, rectangle, target, target_ld);
    tb_transfer transfer = make_transfer(run->operands[role].cached, rectangle, target, target_ld, is_part);
    if (role == TB_C) {
        transfer.stairs = stairs_of(run->product, rectangle);
        transfer.seen = run->product->in_place != TB_OUT_OF_PLACE ? run->seen : NULL;
    }
    if (place->memory == TB_MEMORY_PINNED && !needs_slots(run, &transfer)) {
        presume_not_finite(&transfer);
        return tb_copy_operand(run->pipeline->load, TB_HOST_TO_DEVICE, rectangle, target, target_ld);
    }
    const bool is_exchanged = tb_is_exchanging(run->side) && run->side->exchange->role == role;
    return (is_exchanged ? tb_load_in_halves : tb_load_through_slots)(run, &transfer);
}
