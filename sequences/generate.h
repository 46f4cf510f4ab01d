/* Q of reflectors as a sequence (generate.c): ORGQR and ORGLQ, of complex numbers UNGQR and UNGLQ; and what
 * these share with products with Q (apply.c). */
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

/* One matrix becomes another one, of at most TB_QR_BLOCK columns. */
tb_status tb_give_copy(const tb_factor *factor, const tb_matrix *from, const tb_matrix *to, tb_range finished,
                       tb_visitor *visitor);

/* A block's V and T. Its columns of A are read; of what is given its diagonal is overwritten. */
tb_status tb_make_reflectors(const tb_factor *factor, tb_range block, tb_visitor *visitor);

/* Such a block is kept in the memory of A and of its diagonal: V with its ones and zeros, and T. The factor whose V and T these are. */
tb_status tb_keep_reflectors(const tb_factor *factor, tb_range block, tb_visitor *visitor);
tb_factor tb_with_kept(const tb_factor *factor, tb_range block);

/* Where a block's diagonal is given. */
tb_matrix tb_given_diagonal(const tb_factor *factor, tb_range block);

/* Q is made in the factor's B, which is as large as A; A is read, and where there are many columns V is kept in it. The first block's steps
 * say which columns are finished. By rows its
 * adjoint is made in B, which is as large as A's; and last of all A is written. */
tb_status tb_walk_q(const tb_factor *factor, tb_visitor *visitor);

/* The steps of that walk by which one of its blocks' reflectors become one; and those by which it is applied to columns from its own on, of
 * which there are at most TB_QR_BEHIND. */
tb_status tb_walk_q_block(const tb_factor *factor, tb_range block, tb_visitor *visitor);
tb_status tb_walk_q_columns(const tb_factor *factor, tb_range block, tb_range columns, tb_visitor *visitor);

#endif
