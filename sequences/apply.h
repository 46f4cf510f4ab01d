/* Products with Q of reflectors as a sequence (apply.c): ORMQR, and UNMQR of complex numbers. */
#ifndef TB_APPLY_H
#define TB_APPLY_H

#include "sequences/generate.h"

/* B becomes op(Q) B, so many columns at a time, which the last of their steps says are finished; or B op(Q), so many rows, of which all columns
 * are finished in the end. What the walk has beside A and B is that of generate.h. A is overwritten. */
tb_status tb_walk_applied(const tb_factor *factor, tb_visitor *visitor);

/* The steps of that walk by which one of its blocks is applied, when it has been made (tb_make_reflectors), to some columns or rows, of which
 * there are at most TB_QR_BEHIND. */
tb_status tb_walk_applied_block(const tb_factor *factor, tb_range block, tb_range some, tb_visitor *visitor);

#endif
