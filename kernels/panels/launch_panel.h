/* Panels as the layers above see them. */
#ifndef TB_LAUNCH_PANEL_H
#define TB_LAUNCH_PANEL_H

#include "kernels/kernel.h"
#include "words/factor.h"

extern tb_entry tb_entries_potrf_panel[TB_ELEMENTS];

/* The largest order of a panel of the routine's class that is one launch; 0: there is none of this routine. */
int64_t tb_panel_order(tb_routine routine);

/* Whether the block is one: of such a routine and its element, square, and not larger than that. */
bool tb_is_panel(const tb_factor *block);

/* Factors a block, which tb_is_panel (others are refused, TB_UNSUPPORTED) and begins at a position of the matrix. info is in device memory:
 * where it is not 0 nothing is done, and it is set where the block has no such factor, which leaves that as it was. */
tb_status tb_launch_panel(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                          int64_t *info);

#endif
