/* How a product is dealt to the SIMT family's launches: what its schedule and its launch function both go by. */
#ifndef TB_SCHEDULE_SIMT_H
#define TB_SCHEDULE_SIMT_H

#include "kernels/kernel.h"
#include "kernels/zeros.h"

/* How a product's tiles are dealt to blocks: see simt.h. */
typedef struct tb_simt_schedule {
    int64_t tiles_m, tiles_n; /* of one product */
    int64_t tiles;            /* of all products, that touch the mask */
    int64_t whole, steps, pieces;
    int cluster;   /* pieces of a tile that are a cluster, or 1 */
    double clocks; /* forecast of all launches together, once they run */
} tb_simt_schedule;

/* One launch, also of a batch, and a second where the schedule splits tiles and there are no clusters. */
TB_DECLARE_CALLBACKS(simt);

/* The tiles of one product. */
tb_masked_tiles tb_simt_tiles_of(const tb_kernel *kernel, const tb_product *product);

tb_tile_order tb_simt_order_of(const tb_kernel *kernel, const tb_simt_schedule *schedule,
                               const tb_product *product, tb_target target);

#endif
