#include "lib/device/copies.h"

#include "lib/reports/counters.h"

tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy)
{
    tb_count_copy(copy);
    return tb_device.copy(stream, copy);
}

tb_status tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_operand *operand, void *target,
                          int64_t target_ld)
{
    tb_copy copy = {
        .direction = direction,
        .target = target,
        .target_pitch = (size_t)target_ld * tb_bytes_of(operand->element),
        .source = operand->data,
        .source_pitch = tb_pitch(operand),
        .row_bytes = tb_column_bytes(operand),
        .rows = (size_t)operand->columns,
    };
    return tb_issue_copy(stream, &copy);
}

tb_status tb_copy_masked(tb_stream *stream, tb_direction direction, const tb_product *product,
                         const tb_operand *from, void *target, int64_t target_ld, int64_t *columns)
{
    tb_operand to = *from;
    to.data = target;
    to.ld = target_ld;
    *columns = 0;
    if (product->mask == TB_FULL) {
        TB_TRY(tb_copy_operand(stream, direction, from, target, target_ld));
        *columns = product->n;
    }
    for (int64_t j; (j = *columns) < product->n; ++*columns) {
        const tb_range rows = tb_masked_rows(product, j);
        const tb_operand column = tb_rectangle(from, rows.first, j, rows.count, 1);
        if (rows.count > 0)
            TB_TRY(tb_copy_operand(stream, direction, &column, tb_at(&to, rows.first, j), target_ld));
    }
    return TB_OK;
}

tb_status tb_end_stream(tb_stream *stream, tb_status status)
{
    const tb_status finished = tb_device.synchronize(stream);
    tb_device.destroy_stream(stream);
    return status != TB_OK ? status : finished;
}

tb_status tb_bring_operand(tb_stream *stream, tb_direction direction, int device, tb_operand *operand,
                           tb_buffer *buffer)
{
    size_t pitch;
    TB_TRY(tb_take_pitched(device, tb_column_bytes(operand), (size_t)operand->columns, buffer, &pitch));
    const int64_t ld = (int64_t)(pitch / tb_bytes_of(operand->element));
    TB_TRY(tb_copy_operand(stream, direction, operand, buffer->memory, ld));
    operand->data = buffer->memory;
    operand->ld = ld;
    return TB_OK;
}
