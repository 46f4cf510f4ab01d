/* Cholesky's factorization as a sequence (cholesky.c). */
#ifndef TB_CHOLESKY_H
#define TB_CHOLESKY_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* Blocks of so many columns, which are finished one after the other; panels are at most of this order, with all
 * rows below them. */
tb_status tb_walk_cholesky(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);

/* The steps of that walk that one of its blocks has. */
tb_status tb_walk_cholesky_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                 tb_visitor *visitor);

/* The same where so many columns are finished, and the others are as they were: what is to be factored still is one panel. */
tb_status tb_resume_cholesky(const tb_factor *factor, int64_t done, tb_visitor *visitor);

/* What a panel is that has rows below its triangle, or of U columns to its right: a triangle alone, and a solve for these by its factor. */
tb_factor tb_cholesky_triangle(const tb_factor *panel);
tb_product tb_cholesky_solve(const tb_factor *panel);

#endif
