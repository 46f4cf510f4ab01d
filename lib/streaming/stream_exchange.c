/* Transfers of an operand that another device needs, too: one half comes over this device's link, the other from that device
 * (exchange.h). The copies from there have a stream of their own, so that the link is not idle meanwhile.
 */
#include "lib/device/copies.h"
#include "lib/streaming/stream_run.h"
#include "words/integers.h"

/* A transfer is exchanged in so many parts, or fewer: while one is on its way from device to device, the next comes over the links. */
#define PARTS 4

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

/* Side 0 brings the first half. */
static tb_status load_half(tb_stream_run *run, const tb_transfer *transfer)
{
    const tb_matrix *from = transfer->from;
    const int64_t half = from->columns / 2, first[] = {0, half}, count[] = {half, from->columns - half};
    const int own = run->side->number, other = 1 - own;
    const tb_matrix own_columns = tb_rectangle(from, 0, first[own], from->rows, count[own]);
    const tb_transfer own_half = columns_of(transfer, first[own], &own_columns);
    tb_halves *halves = &run->halves;
    TB_TRY(tb_load_through_slots(run, &own_half));
    TB_TRY(tb_take_half(run)); /* of what came before, if nothing has been computed with it */
    halves->own = post_of(&own_half);
    halves->missing = tb_rectangle(from, 0, first[other], from->rows, count[other]);
    halves->others = columns_of(transfer, first[other], &halves->missing);
    return TB_OK;
}

/* Halves have whole slots where there are enough columns. */
tb_status tb_load_in_halves(tb_stream_run *run, const tb_transfer *transfer)
{
    const int64_t all = transfer->from->columns,
                  in_slot = (int64_t)(run->pipeline->slot_bytes / transfer->pitch),
                  most = tb_round_up(tb_ceil_div(all, PARTS), 2 * tb_larger(in_slot, 1));
    for (int64_t column = 0; column < all; column += most) {
        const tb_matrix columns =
            tb_rectangle(transfer->from, 0, column, transfer->from->rows, tb_smaller(most, all - column));
        const tb_transfer part = columns_of(transfer, column, &columns);
        TB_TRY((columns.columns > 1 ? load_half : tb_load_through_slots)(run, &part));
    }
    return TB_OK;
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
        TB_TRY(tb_device.create_stream(pipeline->device, &pipeline->across));
    TB_TRY(tb_device.stream_wait(pipeline->across, post->arrived));
    TB_TRY(tb_issue_copy(pipeline->across, &copy));
    TB_TRY(tb_mark(run, &pipeline->crossed, pipeline->across));
    return tb_device.stream_wait(pipeline->compute, pipeline->crossed);
}

/* Over this device's own link where the other side does not bring it. */
tb_status tb_take_half(tb_stream_run *run)
{
    tb_halves *halves = &run->halves;
    if (halves->missing.columns == 0)
        return TB_OK;
    const tb_post *post = tb_take_post(run->side);
    if (post && is_it(post, &halves->others)) {
        TB_TRY(copy_across(run, post));
    } else {
        tb_quit_exchange(run->side);
        TB_TRY(tb_load_through_slots(run, &halves->others));
        TB_TRY(tb_send_filled(run));
    }
    halves->missing.columns = 0;
    return TB_OK;
}
