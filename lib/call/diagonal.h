/* The diagonal of a Hermitian result, on which rounding errors may have left imaginary parts: they become zero. */
#ifndef TB_DIAGONAL_H
#define TB_DIAGONAL_H

#include "lib/device/device.h"
#include "lib/device/memory.h"

/* In memory that the host reaches. */
void tb_make_diagonal_real(const tb_matrix *c);

/* On the device, by a buffer of so many bytes that holds a zero. It must not be given back before the stream has come there. */
#define TB_ZERO_BYTES sizeof(double)

tb_status tb_send_zero(tb_stream *stream, const tb_buffer *zero);
tb_status tb_enqueue_real_diagonal(tb_stream *stream, const tb_matrix *c, const tb_buffer *zero);

#endif
