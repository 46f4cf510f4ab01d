/* QR as a sequence (qr.c). */
#ifndef TB_QR_H
#define TB_QR_H

#include "sequences/reflectors.h"

/* Panels have at most so many columns; blocks, which are finished at a time, are TB_QR_BLOCK. Where there is a B it becomes Q' B. */
tb_status tb_walk_qr(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);

/* The steps of that walk that one of its blocks has; none of columns beyond the square. */
tb_status tb_walk_qr_block(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor);

/* The steps by which such a block's reflectors bring columns behind it up to date, of which there are at most TB_QR_BEHIND. */
tb_status tb_walk_qr_behind(const tb_factor *factor, tb_range columns, tb_range behind, tb_visitor *visitor);

/* Where so many columns are finished, and their tau with them, and the others are as they were: their reflectors are applied to the
 * others, and what is to be factored still is one panel. */
tb_status tb_resume_qr(const tb_factor *factor, int64_t done, tb_visitor *visitor);

#endif
