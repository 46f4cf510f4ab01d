/* Transfers of an operand that another device needs, too: one half comes over this device's link, the other from that device
 * (exchange.h). The copies from there have a stream of their own, so that the link is not idle meanwhile.
 */
#include "lib/streaming/stream_run.h"

#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "words/integers.h"

/* A transfer is exchanged in so many parts, or fewer: while one is on its way from device to device, the next comes over the
 * links. */
#define PARTS 4

bool tb_is_halved(const tb_stream_run *run, tb_role role)
{
    return tb_is_exchanging(run->side) && run->side->exchange->role == role;
}

static tb_transfer columns_of(const tb_transfer *transfer, int64_t first, const tb_matrix *columns)
{
    tb_transfer part = *transfer;
    part.from = columns;
    part.target += (size_t)first * transfer->target_pitch;
    part.first_column += first;
    return part;
}

static tb_post post_of(const tb_transfer *transfer)
{
    return (tb_post){.from = transfer->from->data,
                     .columns = transfer->from->columns,
                     .column_bytes = tb_column_bytes(transfer->from),
                     .there = transfer->target,
                     .pitch = transfer->target_pitch,
                     .in_one = transfer->in_one};
}

/* Halves have whole slots where there are enough columns. */
tb_transfer tb_exchanged_part(const tb_stream_run *run, const tb_transfer *transfer, int64_t first,
                              tb_matrix *columns)
{
    const int64_t all = transfer->from->columns,
                  in_slot = (int64_t)(run->pipeline->slot_bytes / transfer->pitch),
                  most = tb_round_up(tb_ceil_div(all, PARTS), 2 * tb_larger(in_slot, 1));
    *columns = tb_rectangle(transfer->from, 0, first, transfer->from->rows, tb_smaller(most, all - first));
    return columns_of(transfer, first, columns);
}

/* Side 0 brings the first half. */
static tb_range half_of(const tb_matrix *from, int side)
{
    const int64_t half = from->columns / 2;
    return side == 0 ? (tb_range){0, half} : (tb_range){half, from->columns - half};
}

tb_transfer tb_own_half(const tb_stream_run *run, const tb_transfer *part, tb_matrix *columns)
{
    const tb_range own = half_of(part->from, run->side->number);
    *columns = tb_rectangle(part->from, 0, own.first, part->from->rows, own.count);
    return columns_of(part, own.first, columns);
}

void tb_miss_half(tb_stream_run *run, const tb_transfer *part, const tb_transfer *own)
{
    const tb_range others = half_of(part->from, 1 - run->side->number);
    tb_halves *halves = &run->halves;
    halves->own = post_of(own);
    halves->missing = tb_rectangle(part->from, 0, others.first, part->from->rows, others.count);
    halves->others = columns_of(part, others.first, &halves->missing);
}

void tb_post_half(tb_stream_run *run, tb_event *arrived)
{
    tb_post *own = &run->halves.own;
    if (own->columns == 0)
        return;
    own->arrived = arrived;
    if (tb_is_exchanging(run->side))
        tb_post_columns(run->side, own);
    own->columns = 0;
}

/* The other device may have cut the product in another way. */
static bool is_it(const tb_post *post, const tb_transfer *transfer)
{
    return post->from == transfer->from->data && post->columns == transfer->from->columns &&
           post->column_bytes == tb_column_bytes(transfer->from);
}

static tb_copy copy_of(const tb_post *post, const tb_transfer *transfer)
{
    const bool in_one = post->in_one && transfer->in_one && post->pitch == transfer->target_pitch;
    const size_t columns = (size_t)post->columns;
    return (tb_copy){.direction = TB_DEVICE_TO_DEVICE,
                     .target = transfer->target,
                     .target_pitch = transfer->target_pitch,
                     .source = post->there,
                     .source_pitch = post->pitch,
                     .row_bytes =
                         in_one ? (columns - 1) * post->pitch + post->column_bytes : post->column_bytes,
                     .rows = in_one ? 1 : columns};
}

static tb_status copy_across(tb_stream_run *run, const tb_post *post)
{
    tb_pipeline *pipeline = run->pipeline;
    const tb_copy copy = copy_of(post, &run->halves.others);
    if (!pipeline->across)
        TB_TRY(tb_create_stream(pipeline->device, &pipeline->across));
    TB_TRY(tb_stream_wait(pipeline->across, post->arrived));
    TB_TRY(tb_issue_copy(pipeline->across, &copy));
    TB_TRY(tb_mark(run, &pipeline->crossed, pipeline->across));
    return tb_stream_wait(pipeline->compute, pipeline->crossed);
}

tb_status tb_copy_half(tb_stream_run *run, bool *is_coming)
{
    const tb_post *post = tb_take_post(run->side);
    *is_coming = post && is_it(post, &run->halves.others);
    if (*is_coming)
        return copy_across(run, post);
    tb_quit_exchange(run->side);
    return TB_OK;
}
