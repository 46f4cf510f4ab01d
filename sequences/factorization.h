/* Factorizations as sequences: a walk for each kind of factors. A factor's routine makes such factors and does nothing else, as panels'
 * does. */
#ifndef TB_FACTORIZATION_H
#define TB_FACTORIZATION_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* Blocks of so many columns, which are finished one after the other; panels are at most of this order. */
tb_status tb_walk_factor(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);

/* The steps of that walk that one of its blocks has; of LU, which has halves of halves, those that join two halves of the columns. */
tb_status tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor);

/* The same where so many columns are finished, and the others are as they were: what is to be factored still is one panel. The pivots
 * are all known. */
tb_status tb_resume_factor(const tb_factor *factor, int64_t done, tb_visitor *visitor);

/* What a panel of Cholesky's is that has rows below its triangle, or of U columns to its right: a triangle alone, and a solve for these by its factor. */
tb_factor tb_panel_triangle(const tb_factor *panel);
tb_product tb_panel_solve(const tb_factor *panel);

#endif
