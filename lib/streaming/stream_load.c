/* Operands' way in, slot by slot: what a slot is filled with, and that it is sent. When that is due says stream_pump.c. */
#include "lib/streaming/stream_run.h"

#include "lib/device/copies.h"
#include "lib/streaming/copy_threads.h"
#include "words/integers.h"

/* Operands of no more bytes than this would still lie in the copying cores' own caches when the link reads them, which it
 * does from there at less than half of its rate: slots are filled past the caches. With larger operands a slot has moved on
 * to the cache that the cores share by the time it is sent, where it is well filled and read. On an H200's host, of 16
 * cores with 2 MiB each: docs/lab/streaming.md. */
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
    operand->is_unoffered = true;
    operand->is_doubted = operand->is_others && operand->same == 0;
    tb_copy_begin(job, &copy);
    tb_copy_end(job);
    return false;
}

tb_status tb_send_slot(const tb_stream_run *run, tb_slot *slot, bool *is_sent)
{
    tb_stream *load = run->pipeline->load;
    *is_sent = false;
    if (!slot->compared)
        tb_copy_end(&slot->job);
    else if (is_there(slot->compared, slot))
        return TB_OK;
    TB_TRY(tb_issue_copy(load, &slot->upload));
    if (slot->expands)
        TB_TRY(tb_enqueue_expansion(load, &slot->expansion));
    TB_TRY(tb_record(slot->done, load));
    slot->busy = *is_sent = true;
    return TB_OK;
}

static tb_stairs stairs_of(const tb_product *product, const tb_matrix *rectangle)
{
    const tb_matrix *c = &product->c.matrix;
    const int64_t offset = ((char *)rectangle->data - (char *)c->data) / (int64_t)tb_bytes_of(c->element);
    return tb_stairs_in(product, offset % c->ld, offset / c->ld);
}

static void know_strip(tb_transfer *transfer, tb_cached_operand *cached)
{
    const tb_matrix *from = transfer->from;
    const int64_t element_bytes = (int64_t)tb_bytes_of(from->element),
                  offset = ((char *)from->data - (char *)cached->operand.data) / element_bytes;
    transfer->first_column = offset / cached->operand.ld;
    transfer->strip =
        tb_find_strip(cached, offset % cached->operand.ld, from->rows, transfer->first_column, from->columns);
}

tb_transfer tb_make_transfer(const tb_stream_run *run, tb_role role, const tb_matrix *from, void *target,
                             int64_t target_ld, bool is_part)
{
    const int64_t element_bytes = (int64_t)tb_bytes_of(from->element);
    const int64_t ld = is_part ? tb_pitched(from->rows, from->element) : target_ld;
    tb_transfer transfer = {.from = from,
                            .target = target,
                            .target_pitch = (size_t)(target_ld * element_bytes),
                            .in_one = !is_part,
                            .pitch = (size_t)(ld * element_bytes),
                            .cached = run->operands[role].cached};
    if (transfer.cached)
        know_strip(&transfer, transfer.cached);
    if (role == TB_C) {
        transfer.stairs = stairs_of(run->product, from);
        transfer.seen = run->product->in_place != TB_OUT_OF_PLACE ? run->seen : NULL;
    }
    return transfer;
}

int64_t tb_columns_in_slot(const tb_stream_run *run, const tb_transfer *transfer)
{
    const size_t bytes = transfer->expansion ? tb_staging_bytes(run->pipeline) : run->pipeline->slot_bytes;
    return tb_larger((int64_t)(bytes / transfer->pitch), 1);
}

void tb_fill_slot(const tb_stream_run *run, const tb_transfer *transfer, tb_slot *slot, tb_range range)
{
    const int64_t column = range.first;
    const size_t columns = (size_t)range.count;
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
        .finds_pages = columns * transfer->pitch > slot->found,
        .stairs = stairs,
        .seen = transfer->seen,
        .seen_shift = TB_SEEN_BEFORE_SHIFT,
        .element = tb_real_of(from->element),
        .prints = strip ? tb_prints_of_column(strip, of_operand) : NULL,
    };
    if (copy.finds_pages)
        slot->found = columns * transfer->pitch;
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
    const bool known = strip && tb_know(strip, of_operand, (int64_t)columns) && !transfer->cached->is_doubted;
    if (strip && !known)
        transfer->cached->is_unoffered = true;
    slot->compared = known ? transfer->cached : NULL;
    (known ? tb_compare_begin : tb_copy_begin)(&slot->job, &copy);
}

/* Whether pinned memory has to be copied into slots all the same: what the link reads where the program may
 * be writing has no fingerprints that are certain to be its own. Where there are no slots, nothing is
 * remembered. */
static bool needs_slots(const tb_stream_run *run, const tb_transfer *transfer)
{
    if (!transfer->strip)
        return false;
    if (tb_need_slot(run->pipeline, &run->pipeline->in[run->next_in]) == TB_OK)
        return true;
    tb_forget_columns(transfer->strip, transfer->first_column, transfer->from->columns);
    return false;
}

/* Nobody looks at what the link reads itself: it may explain whatever comes of it. */
static void presume_not_finite(const tb_transfer *transfer)
{
    if (transfer->seen)
        atomic_fetch_or(transfer->seen, (uint32_t)TB_SEEN_BOTH << TB_SEEN_BEFORE_SHIFT);
}

bool tb_goes_straight(const tb_stream_run *run, tb_role role, const tb_transfer *transfer)
{
    if (run->plan->places[role].memory != TB_MEMORY_PINNED || needs_slots(run, transfer))
        return false;
    presume_not_finite(transfer);
    return true;
}
