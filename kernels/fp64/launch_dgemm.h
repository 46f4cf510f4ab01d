/* Launching dgemm_mma. */
#ifndef TB_LAUNCH_DGEMM_H
#define TB_LAUNCH_DGEMM_H

#include "kernels/fp64/dgemm_mma.h"
#include "kernels/kernel.h"

/* Position in a row's entries of the kernels that copy 16 bytes at a time; those before take any operand. */
#define TB_DGEMM_VECTOR 4

/* The largest k: steps of it are counted in int. */
#define TB_DGEMM_K_LIMIT INT64_C(0x7fffff00)

/* How a product's tiles are dealt to blocks: see dgemm_mma.h. */
typedef struct tb_dgemm_schedule {
    int64_t tiles_m, tiles_n; /* of one product */
    int64_t tiles;            /* of all products, that touch the mask */
    int64_t whole, steps, pieces;
    int cluster;                      /* pieces of a tile that are a cluster, or 1 */
    int32_t tile_pieces, piece_steps; /* where steps are left out; 0: none are */
    double clocks;                    /* forecast of both launches together, once they run */
} tb_dgemm_schedule;

/* The second launch, which adds up what the pieces of tiles left in the workspace. */
extern tb_entry tb_entry_dgemm_mma_reduce;

/* The catalog's callbacks. */
void tb_dgemm_mma_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                          tb_schedule *schedule);
tb_status tb_launch_dgemm_mma(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                              const tb_schedule *schedule, void *workspace);

/* Those of rows for complex numbers that are read where they lie. */
void tb_zgemm_mma_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,
                          tb_schedule *schedule);
tb_status tb_launch_zgemm_mma(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                              const tb_schedule *schedule, void *workspace);

#endif
