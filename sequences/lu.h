/* LU with partial pivoting as a sequence (lu.c). */
#ifndef TB_LU_H
#define TB_LU_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* All columns are finished in the end. Panels have at most so many columns. */
tb_status tb_walk_lu(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);

/* The steps that join two halves of these columns, or if there are few of them their panels, without those that factor either of them. Of columns beyond the square: the steps that
 * they have when it is factored. */
tb_status tb_walk_lu_halves(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor);

/* Where so many columns are finished, and the others are as they were: all pivots are known, and what is to be factored still is one
 * panel, whose pivots are new. */
tb_status tb_resume_lu(const tb_factor *factor, int64_t done, tb_visitor *visitor);

/* As many columns as have no halves. */
int64_t tb_lu_block(int64_t panel);

#endif
