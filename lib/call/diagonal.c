#include "lib/call/diagonal.h"

#include "lib/device/copies.h"

#include <string.h>

/* Imaginary parts as a row of real numbers. */
static tb_matrix imaginary_parts(const tb_matrix *c)
{
    const size_t bytes = tb_bytes_of(tb_real_of(c->element));
    return (tb_matrix){.data = (char *)c->data + bytes,
                       .rows = 1,
                       .columns = c->columns,
                       .ld = 2 * (c->ld + 1),
                       .element = tb_real_of(c->element)};
}

tb_status tb_send_zero(tb_stream *stream, const tb_buffer *zero)
{
    static const double nothing = 0;
    const tb_copy copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, zero->memory, &nothing, TB_ZERO_BYTES);
    return tb_issue_copy(stream, &copy);
}

/* By writing out, over and over again, one zero. */
tb_status tb_enqueue_real_diagonal(tb_stream *stream, const tb_matrix *c, const tb_buffer *zero)
{
    const tb_matrix parts = imaginary_parts(c);
    tb_operand source = {.matrix = parts};
    source.data = zero->memory;
    source.ld = 0;
    const tb_expansion expansion = {.source = source, .target = parts, .factor = {1, 0}};
    return tb_enqueue_expansion(stream, &expansion);
}

void tb_make_diagonal_real(const tb_matrix *c)
{
    const tb_matrix parts = imaginary_parts(c);
    for (int64_t j = 0; j < parts.columns; j++)
        memset(tb_at(&parts, 0, j), 0, tb_bytes_of(parts.element));
}
