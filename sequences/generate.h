/* Q of reflectors as a sequence (generate.c): ORGQR and ORGLQ, of complex numbers UNGQR and UNGLQ. */
#ifndef TB_GENERATE_H
#define TB_GENERATE_H

#include "sequences/reflectors.h"

/* Memory for what the walk reads and writes beside A and Q, and its beginning is a multiple of 256. */
size_t tb_q_workspace(const tb_factor *factor);
void tb_place_q(tb_factor *factor, void *workspace);

/* The memory begins with so many bytes that are to be there before the walk, which overwrites them: a square of the identity, and tau, which
 * the host reads, on the diagonals of others. */
size_t tb_q_given_bytes(const tb_factor *factor);
void tb_write_q_given(const tb_factor *factor, void *given);

/* Q is made in the factor's B, which is as large as A; A is read. The last block's steps say which of its columns are finished. By rows its
 * adjoint is made in B, which is as large as A's; and last of all A is written. */
tb_status tb_walk_q(const tb_factor *factor, tb_visitor *visitor);

/* The steps of that walk by which one of its blocks' reflectors become one; and those by which it is applied to columns from its own on, of
 * which there are at most TB_QR_BEHIND. */
tb_status tb_walk_q_block(const tb_factor *factor, tb_range block, tb_visitor *visitor);
tb_status tb_walk_q_columns(const tb_factor *factor, tb_range block, tb_range columns, tb_visitor *visitor);

#endif
