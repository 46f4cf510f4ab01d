/* The ways of cutting a product, and what they share. */
#ifndef TB_CUT_ROOM_H
#define TB_CUT_ROOM_H

#include "dispatch/tiling.h"

/* Cuts a product of which everything has its place on the device; false when there is no room for it (cut_whole.c). */
bool tb_cut_whole(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

/* Cuts a product or solve in C's place; false when nothing fits (cut_in_place.c). */
bool tb_cut_in_place(const tb_product *product, const tb_budget *budget, tb_tiling *tiling);

/* The number of steps of k in a slab is a multiple of this, but for the last one's. */
#define TB_SLAB_K_MULTIPLE 128

/* Those columns of rows x columns of C that one round of blocks over the multiprocessors covers: a smaller swath
 * would leave some idle, and a short launch costs more to start than it brings forward. */
int64_t tb_choose_swath(const tb_budget *budget, int64_t rows, int64_t columns, int64_t k);

/* Blocks of threads of the kernel that run at a time. */
int64_t tb_blocks_at_a_time(const tb_budget *budget);

/* Whether there is room for it, the kernel's workspace included. */
bool tb_tiling_fits(const tb_budget *budget, const tb_product *product, const tb_tiling *tiling);

#endif
