#include "lib/device/operand.h"

#include "lib/reports/counters.h"

tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy)
{
    tb_count_copy(copy);
    return tb_device.copy(stream, copy);
}

tb_status tb_copy_matrix(tb_stream *stream, tb_direction direction, const tb_matrix *matrix, void *target,
                         int64_t target_ld)
{
    tb_copy copy = {
        .direction = direction,
        .target = target,
        .target_pitch = (size_t)target_ld * sizeof(float),
        .source = matrix->data,
        .source_pitch = (size_t)matrix->ld * sizeof(float),
        .row_bytes = (size_t)matrix->rows * sizeof(float),
        .rows = (size_t)matrix->columns,
    };
    return tb_issue_copy(stream, &copy);
}

tb_status tb_bring_matrix(tb_stream *stream, tb_direction direction, int device, tb_matrix *matrix,
                          tb_buffer *buffer)
{
    int64_t pitched;
    TB_TRY(tb_take_matrix(device, matrix->rows, matrix->columns, buffer, &pitched));
    TB_TRY(tb_copy_matrix(stream, direction, matrix, buffer->memory, pitched));
    matrix->data = buffer->memory;
    matrix->ld = pitched;
    return TB_OK;
}
