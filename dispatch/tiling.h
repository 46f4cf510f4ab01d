/* How a product whose operands stream through a device is cut.
 *
 * C is cut into blocks that lie whole on the device. A block's product is summed up slab by slab: a slab is a
 * run of k, of which A's columns and B's rows are loaded while the slab before is multiplied. A block's last
 * slab is multiplied panel by panel, a panel being a run of columns, so that the first panels travel back while
 * the last are computed. Where the device has room for all of C, the blocks after the first are narrower: little is
 * left to travel when the last is computed.
 */
#ifndef TB_TILING_H
#define TB_TILING_H

#include "kernels/catalog.h"
#include "lib/problem.h"

#include <stdbool.h>
#include <stddef.h>

/* Slabs in a ring that is smaller than k: a pipeline has an event for each. Panels in a block. */
#define TB_RING_MAXIMUM   64
#define TB_PANELS_MAXIMUM 32

typedef struct tb_tiling {
    int64_t block_m, block_n;
    int64_t next_n; /* columns of the blocks after the first, at most block_n */
    int64_t slab_k;
    int64_t slabs;  /* of k */
    int64_t ring_a; /* slabs of A on the device at a time; all of them are kept for the blocks to the right */
    int64_t ring_b;
    int64_t panel_n;
    int64_t ring_c; /* blocks of C on the device at a time; 0 is all */
} tb_tiling;

/* Columns, steps of k and beta of the products that a tiling makes the kernel multiply: no others occur, and not all may.
 * Returns how many. */
typedef struct tb_part_size {
    int64_t columns, k;
    float beta; /* after the first slab, 1 */
} tb_part_size;
#define TB_PART_SIZES 28
int tb_tiling_sizes(const tb_problem *problem, const tb_tiling *tiling, tb_part_size sizes[TB_PART_SIZES]);

/* Device memory in bytes that the tiling takes, without the kernel's workspace. */
double tb_tiling_bytes(const tb_problem *problem, const tb_tiling *tiling);

/* Bytes of A and B that cross the link. */
double tb_tiling_traffic(const tb_problem *problem, const tb_tiling *tiling);

/* The tiling of least traffic that fits into so many bytes of device memory, the kernel's workspace included; false
 * when none does. Blocks have
 * at most rows_most rows and columns. */
bool tb_choose_tiling(const tb_problem *problem, const tb_kernel *kernel, int multiprocessors, double bytes,
                      int64_t rows_most, tb_tiling *tiling);

/* Distance between the columns of a matrix of so many rows in device buffers, in floats. */
int64_t tb_pitched(int64_t rows);

/* Room for a slab of an operand, outer being m or n, whichever way it is stored. */
int64_t tb_slab_floats(int64_t outer, int64_t k);

#endif
