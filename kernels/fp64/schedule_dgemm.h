/* How a product is dealt to dgemm_mma's blocks: what its schedule and its launch function both go by. */
#ifndef TB_SCHEDULE_DGEMM_H
#define TB_SCHEDULE_DGEMM_H

#include "kernels/fp64/dgemm_mma.h"
#include "kernels/kernel.h"

/* How a product's tiles are dealt to blocks: see dgemm_mma.h. */
typedef struct tb_dgemm_schedule {
    int64_t tiles_m, tiles_n; /* of one product */
    int64_t tiles;            /* of all products, that touch the mask */
    int64_t whole, steps, pieces;
    int cluster;                      /* pieces of a tile that are a cluster, or 1 */
    int32_t tile_pieces, piece_steps; /* where steps are left out; 0: none are */
    double clocks;                    /* forecast of both launches together, once they run */
} tb_dgemm_schedule;

/* The catalog's callbacks. */
TB_DECLARE_CALLBACKS(dgemm_mma);

/* The product with the steps of k of all its terms. */
static inline tb_product tb_dgemm_all_terms(const tb_product *product)
{
    tb_product all = *product;
    all.k *= product->terms == 2 ? 2 : 1;
    return all;
}

/* Reals that an element is stored as. Each of a complex A stands for so many of the product's: the number for a block of four. */
static inline int tb_dgemm_reals_of(const tb_kernel *kernel)
{
    return tb_is_complex(kernel->element) ? 2 : 1;
}

/* In which order blocks take a product's tiles where C has no mask; where it has one, which tiles there are. */
tb_tile_order tb_dgemm_order_of(const tb_kernel *kernel, const tb_dgemm_schedule *schedule,
                                const tb_product *product, tb_target target);
tb_masked_tiles tb_dgemm_tiles_of(const tb_kernel *kernel, const tb_product *product);

/* Into how many chains a block's steps of a tile are cut; and how many steps come before those, a chain each. */
int32_t tb_dgemm_chains_of(const tb_kernel *kernel, const tb_product *product, const tb_dgemm_schedule *own);
int32_t tb_dgemm_alone_in(const tb_kernel *kernel, const tb_product *product);

#endif
