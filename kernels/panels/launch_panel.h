/* Panels as the layers above see them: blocks of a factorization that are one launch.
 *
 *     POTRF   a triangle on the diagonal, with all rows below it, m x n, that it is to be solved for; of U with columns to the right
 *     GETRF   m rows of a few columns, from the diagonal down; its pivots are those of its own rows, of 32 bits
 *     GEQRF   the same, of no more columns than rows; with tau, T and V
 */
#ifndef TB_LAUNCH_PANEL_H
#define TB_LAUNCH_PANEL_H

#include "kernels/kernel.h"
#include "words/factor.h"

extern tb_entry tb_entries_potrf_panel[TB_ELEMENTS];

/* The largest order of a panel of the routine's class that is one launch, of GETRF and GEQRF its columns; 0: there is none of this routine. */
int64_t tb_panel_order(tb_routine routine);

/* Whether the block is one: of such a routine and its element, and not larger than that. */
bool tb_is_panel(const tb_factor *block);

/* The most rows of a panel on such a device; 0: there is none of this routine. */
int64_t tb_panel_rows(tb_routine routine, tb_target target);

/* Device memory that a panel of so many rows, or of POTRF's U columns, needs on such a device beside its block, and its beginning is a
 * multiple of 16; POTRF's needs it only where it is no square. The caller sets its first TB_PANEL_CLEARED_BYTES to 0 once; panels that
 * follow each other in a stream use it in turn. */
#define TB_PANEL_CLEARED_BYTES 1024
size_t tb_panel_workspace(tb_routine routine, int64_t rows, tb_target target);

/* Whether such a device takes the block: one that tb_is_panel, with no more rows than that, with a workspace (not NULL) if it needs one,
 * and of GETRF and GEQRF all of whose rows have numbers, from 1, that 32 bits hold. */
bool tb_takes_panel(tb_target target, const tb_factor *block, int64_t position, const void *workspace);

/* Factors a block, which the device takes (others are refused, TB_UNSUPPORTED) and begins at a position of the matrix, in its rows and in its
 * columns. info and pivots are in device memory; pivots are rows, from 1, of the matrix. What becomes of a block that does not have such a
 * factor:
 *
 *     POTRF   it stays as it was, and info is set to the column, from 1, of the matrix. Where info is not 0 before, nothing is done
 *     GETRF   a pivot that is 0 stops nothing, and info, where it is 0 before, is set to the column of the first one
 *     GEQRF   there always is one, and info is left alone
 */
tb_status tb_launch_panel(const tb_launcher *launcher, const tb_factor *block, int64_t position,
                          int64_t *info, void *workspace);

#endif
