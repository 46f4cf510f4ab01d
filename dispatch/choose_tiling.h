/* What the choices of tilings share. */
#ifndef TB_CHOOSE_TILING_H
#define TB_CHOOSE_TILING_H

#include "dispatch/tiling.h"

/* Every slab but the last one has a multiple of so many steps of k. */
#define TB_SLAB_K_MULTIPLE 128

/* How many columns of rows x columns of C one round of blocks over the multiprocessors covers: a smaller
 * swath would leave some idle, and a short launch costs more to start than it brings forward. */
int64_t tb_choose_swath(const tb_budget *budget, int64_t rows, int64_t columns, int64_t k);

/* Blocks of threads of the kernel that run at a time. */
int64_t tb_blocks_at_a_time(const tb_budget *budget);

/* Whether there is room for it, the kernel's workspace included. */
bool tb_tiling_fits(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling);

/* With everything on the device; false when that does not fit. */
bool tb_cut_whole(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

/* The cut of a product in C's place; false when nothing fits. */
bool tb_cut_in_place(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

#endif
