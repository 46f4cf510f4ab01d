/* Exchanges of rows as the layers above see them. */
#ifndef TB_LAUNCH_LASWP_H
#define TB_LAUNCH_LASWP_H

#include "kernels/kernel.h"
#include "words/factor.h"

extern tb_entry tb_entries_laswp[TB_ELEMENTS], tb_entries_panel_laswp[TB_ELEMENTS];

/* Whether it can be launched: all rows that pivots are for are the matrix's, and pivots are of 32 bits; and a panel is
 * one. */
bool tb_is_row_exchange(const tb_row_exchange *exchange);

/* Carries out an exchange, which tb_is_row_exchange (others are refused, TB_UNSUPPORTED), of pivots in device memory. By one that is no
 * row of the matrix nothing is exchanged. */
tb_status tb_launch_laswp(const tb_launcher *launcher, const tb_row_exchange *exchange);

#endif
