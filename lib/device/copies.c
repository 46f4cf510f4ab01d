#include "lib/device/copies.h"

#include "dispatch/tiling.h"

static _Thread_local double link_bytes;

void tb_add_link_bytes(double bytes)
{
    link_bytes += bytes;
}

double tb_take_link_bytes(void)
{
    double taken = link_bytes;
    link_bytes = 0;
    return taken;
}

tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy)
{
    if (copy->direction != TB_DEVICE_TO_DEVICE)
        tb_add_link_bytes((double)copy->row_bytes * (double)copy->rows);
    return tb_device.copy(stream, copy);
}

tb_status tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand, void *target,
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
                         const tb_matrix *from, void *target, int64_t target_ld, int64_t *columns)
{
    tb_matrix to = *from;
    to.data = target;
    to.ld = target_ld;
    *columns = 0;
    if (product->mask == TB_FULL) {
        TB_TRY(tb_copy_operand(stream, direction, from, target, target_ld));
        *columns = product->n;
    }
    for (int64_t j; (j = *columns) < product->n; ++*columns) {
        const tb_range rows = tb_masked_rows(product, j);
        const tb_matrix column = tb_rectangle(from, rows.first, j, rows.count, 1);
        if (rows.count > 0)
            TB_TRY(tb_copy_operand(stream, direction, &column, tb_at(&to, rows.first, j), target_ld));
    }
    return TB_OK;
}
