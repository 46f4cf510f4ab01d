/* Panels of a factorization where there is no LAPACK. */
#ifndef TB_PORTABLE_PANEL_H
#define TB_PORTABLE_PANEL_H

#include "words/factor.h"

/* The largest panel that is worth loops. */
enum { TB_PORTABLE_PANEL_ORDER = 64 };

/* Factors a matrix in its place, Cholesky's way, column by column; returns info. */
int64_t tb_factor_by_loops(const tb_factor *panel);

/* Factors a block of any size in its place with partial pivoting, as the reference's GETF2 does. Returns the column, from 1, of the block's
 * first pivot that is 0, or 0. Pivots are those of the block's own rows, numbers of 32 or of 64 bits: rows, from 1, of the matrix, at
 * whose position the block begins. */
int64_t tb_eliminate_by_loops(const tb_factor *block, int64_t position);

/* Column by column; of pivots of 32 or of 64 bits. */
void tb_exchange_rows(const tb_row_exchange *exchange);

#endif
