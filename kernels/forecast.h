/* Constants behind the kernels' forecasts, in clocks of a multiprocessor so that they hold at any clock rate.
 * Measured on an H200 by bench/kernels. Those of memory are for its memory: tb_memory_ratio makes another chip's of them.
 */
#ifndef TB_FORECAST_H
#define TB_FORECAST_H

#include "kernels/kernel.h"
#include "words/integers.h"

#define TB_FMA_A_CLOCK 128.0

/* A second launch behind a first one, beside the bytes that it moves. */
#define TB_SECOND_LAUNCH_CLOCKS 5500.0

/* Blocks of a cluster that share a tile wait for each other, and read each other's sums one after the other, at this rate. Of the
 * SIMT family. */
#define TB_CLUSTER_CLOCKS        2250.0
#define TB_CLUSTER_BLOCK_CLOCKS  450.0
#define TB_CLUSTER_BYTES_A_CLOCK 25.0

/* The SIMT family and dgemm_mma deal a tile's steps of k to several blocks, in pieces. A piece of fewer steps than this costs
 * more to start and to add up than it gains. */
#define TB_PIECE_MINIMUM_K 128
/* Into how many pieces a tile is cut at most, unless it takes more to fill the device. */
#define TB_PARTS_MOST 8

/* Into how many pieces so many of a kernel's steps can be cut. */
static inline int64_t tb_pieces_most(int64_t steps, const tb_kernel *kernel)
{
    return steps / tb_ceil_div(TB_PIECE_MINIMUM_K, kernel->tile_k);
}

/* In a batch, whose tiles keep coming, this share of what lies beyond C's edges in a tile is not multiplied, as blocks whose
 * warps have less to do go on sooner. Measured on squares from 32 to 512. */
#define TB_BATCH_EDGES 0.8

/* A multiprocessor's share of 4.3 TB/s, at 1.65 GHz. */
#define TB_BYTES_A_CLOCK 20.0

/* The most that it gets, 4.5 TB/s at 1.6 GHz: of long runs that are only read. */
#define TB_READ_BYTES_A_CLOCK 21.7

/* An H200's by its data sheet: 4.92 TB/s, 132 multiprocessors, 1.98 GHz. */
#define TB_H200_MEMORY_BYTES_A_CLOCK 18.8

/* An H100's and an H200's (NVIDIA H100 Tensor Core GPU Architecture). A panel may lie in both halves. */
#define TB_L2_BYTES 50e6

/* The chip's memory beside an H200's, each for what its multiprocessors compute: 0.68 of an H100 with 80 GB. At most 1: what
 * multiprocessors make of a faster memory has not been measured. */
static inline double tb_memory_ratio(tb_target target)
{
    const double ratio = target.memory_bytes_a_clock / TB_H200_MEMORY_BYTES_A_CLOCK;
    return ratio > 0 && ratio < 1 ? ratio : 1;
}

/* Bytes of a tile of C. */
static inline double tb_tile_bytes(const tb_kernel *kernel)
{
    return (double)tb_bytes_of(tb_real_of(kernel->element)) * kernel->tile_m * kernel->tile_n;
}

/* The share of multiplications that is done of a batch's tiles, where a warp has so many rows and columns of C. It is 1 for a
 * product by itself, which takes as long as its longest tile. */
static inline double tb_share_of_batch(const tb_kernel *kernel, const tb_product *product, int rows,
                                       int columns)
{
    if (!tb_is_batch(product))
        return 1;
    const double all = (double)tb_round_up(product->m, kernel->tile_m) *
                       (double)tb_round_up(product->n, kernel->tile_n),
                 needed = (double)tb_round_up(product->m, tb_smaller(kernel->tile_m, rows)) *
                          (double)tb_round_up(product->n, tb_smaller(kernel->tile_n, columns));
    return 1 - TB_BATCH_EDGES * (1 - needed / all);
}

#endif
