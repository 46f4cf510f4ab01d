/* QR by reflectors where there is no LAPACK, and for what a device has begun: column by column. */
#ifndef TB_PORTABLE_QR_H
#define TB_PORTABLE_QR_H

#include "words/factor.h"

/* Factors a block of any size in its place, and tau with it, as the reference's GEQR2 does; T and V too, where there are such. */
void tb_reflect_by_loops(const tb_factor *block);

/* Makes Q in its reflectors' place, as the reference's ORG2R does. */
void tb_make_q_by_loops(const tb_factor *factor);

/* op(Q) is applied to B, as the reference's ORM2R does. */
void tb_apply_q_by_loops(const tb_factor *factor);

/* The same of what is by rows, as GELQ2 and ORGL2 do. False: there is no memory, and nothing has been written. */
bool tb_reflect_rows_by_loops(const tb_factor *factor);
bool tb_make_q_of_rows_by_loops(const tb_factor *factor);

/* As the reference's GELS does; returns info. */
int64_t tb_find_least_squares_by_loops(const tb_factor *factor);

/* B := Q' B, of the reflectors that a block's columns have, which are no more than its rows, and tau. */
void tb_apply_reflectors(const tb_factor *block);

#endif
