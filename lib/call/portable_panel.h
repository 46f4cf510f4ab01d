/* Panels of a factorization where there is no LAPACK. */
#ifndef TB_PORTABLE_PANEL_H
#define TB_PORTABLE_PANEL_H

#include "words/factor.h"

/* The largest panel that is worth loops. */
enum { TB_PORTABLE_PANEL_ORDER = 64 };

/* Factors a matrix in its place, Cholesky's way, column by column; returns info. */
int64_t tb_factor_by_loops(const tb_factor *panel);

#endif
