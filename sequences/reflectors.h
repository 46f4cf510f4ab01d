/* Reflectors as steps have them, of which some are one, I - V T V': where V and T are, and what lies between products of them; and the
 * steps that QR (qr.c), LQ (lq.c) and Q (generate.c) share.
 */
#ifndef TB_REFLECTORS_H
#define TB_REFLECTORS_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* As many reflectors are one. */
#define TB_QR_BLOCK 128

/* And are applied to so many columns at a time. */
#define TB_QR_BEHIND 1024

/* Memory for V, T and what lies between products. Its beginning is a multiple of 256. */
size_t tb_qr_workspace(const tb_factor *factor);
void tb_place_reflectors(tb_factor *factor, void *workspace);

/* Parts of a block's, whose first row and column are 0. */
tb_matrix tb_part_of_v(const tb_factor *factor, int64_t row, tb_range columns, int64_t rows);
tb_matrix tb_part_of_t(const tb_factor *factor, tb_range rows, tb_range columns);

/* Of two places one, for a block's rows and at most TB_QR_BEHIND columns. */
tb_matrix tb_between(const tb_factor *factor, int which, int64_t rows, int64_t columns);

/* ---- Steps ------------------------------------------------------------------------------------------------ */

/* C := beta C + alpha A B, or A' B. */
tb_status tb_give_product(double alpha, const tb_matrix *a, bool adjoint, const tb_matrix *b, double beta,
                          const tb_matrix *c, tb_range finished, tb_visitor *visitor);

/* C := beta C + alpha A B'. */
tb_status tb_give_product_by_adjoint(double alpha, const tb_matrix *a, const tb_matrix *b, double beta,
                                     const tb_matrix *c, tb_range finished, tb_visitor *visitor);

/* C := op(A), whose numbers stay what they are: a move. */
tb_status tb_give_move(const tb_operand *a, const tb_matrix *c, tb_visitor *visitor);

/* C := A' */
tb_status tb_give_adjoint(const tb_matrix *a, const tb_matrix *c, tb_visitor *visitor);

tb_status tb_give_zeros(const tb_matrix *what, tb_visitor *visitor);

/* C -= V op(T) (V' C), with some of a block's reflectors; C's first row is the first one's. */
tb_status tb_give_reflected(const tb_factor *factor, tb_range reflectors, bool adjoint, const tb_matrix *c,
                            tb_range finished, tb_visitor *visitor);

/* C -= ((C V) op(T)) V'; C's first column is the first reflector's, and it has at most TB_QR_BEHIND rows. */
tb_status tb_give_reflected_rows(const tb_factor *factor, tb_range reflectors, bool adjoint,
                                 const tb_matrix *c, tb_range finished, tb_visitor *visitor);

#endif
