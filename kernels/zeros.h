/* What zeros beyond a triangle leave of k: where op(A) is a triangle, the rows of a tile of C need the steps of k before their
 * last one (lower) or from their first one on (upper); where op(B) is, the columns those from their first one on (lower) or
 * before their last one (upper). Shared by C and CUDA.
 *
 *   op(A) lower         op(A) upper            A line is a row of tiles of C, or a column where op(B) is the triangle; the lines'
 *   +--------------+    +--------------+       tiles differ in what they need. Tiles are numbered in groups of neighbours
 *   |##            |    |##############|       along a line, so that blocks in flight share panels of A and B in L2: in a
 *   |####          |    |  ############|       group line by line. The last group goes from the line that needs the most of k to
 *   |######        |    |    ##########|       that which needs the least, so that no multiprocessor begins with a long tile at
 *   |########      |    |      ########|       the end; the group before it the other way, and so on by turns, so that
 *   |##########    |    |        ######|       neighbours in number need about the same everywhere.
 *   +--------------+    +--------------+       Few tiles are a single group.
 *      k                   k
 */
#ifndef TB_ZEROS_H
#define TB_ZEROS_H

#include "kernels/mask.h"

/* Which steps are left out: those behind a tile, or those before it; by rows, or by columns. 0: none. */
enum {
    TB_ZEROS_BEHIND = 1, /* k ends with a tile's last row or column */
    TB_ZEROS_BEFORE = 2, /* k begins with its first one */
    TB_ZEROS_BY_COLUMN = 4,
    TB_ZEROS_BY_PAIRS = 8, /* columns of complex numbers, of which each has two steps of k */
};

/* Where a product has zeros. A mask leaves out whole tiles instead; and places are counted in int. */
#ifndef __CUDACC__
#define TB_ZEROS_EXTENT_MOST INT64_C(0x7fff0000)

static inline int32_t tb_zeros_of(const tb_product *product)
{
    if (product->mask != TB_FULL || product->m > TB_ZEROS_EXTENT_MOST || product->n > TB_ZEROS_EXTENT_MOST)
        return 0;
    if (product->a_nonzero != TB_FULL)
        return product->a_nonzero == TB_LOWER ? TB_ZEROS_BEHIND : TB_ZEROS_BEFORE;
    if (product->b_nonzero != TB_FULL)
        return TB_ZEROS_BY_COLUMN | (product->b_nonzero_pairs ? TB_ZEROS_BY_PAIRS : 0) |
               (product->b_nonzero == TB_LOWER ? TB_ZEROS_BEFORE : TB_ZEROS_BEHIND);
    return 0;
}
#endif

/* Steps of tile_k that a tile needs: from `first` on, before `end`. There is one at least. */
typedef struct tb_needed {
    int32_t first, end;
} tb_needed;

/* The steps that a tile of so many rows and columns needs, of so many if none is left out. Tiles have even numbers of rows and columns, and
 * steps of k, so that blocks of 2 x 2 on the diagonal are not cut. */
TB_HOST_DEVICE_INLINE tb_needed tb_needed_steps(int32_t zeros, tb_tile_place tile, int32_t rows,
                                                int32_t columns, int32_t tile_k, int32_t steps)
{
    const bool by_column = (zeros & TB_ZEROS_BY_COLUMN) != 0;
    const uint32_t extent = (uint32_t)(by_column ? columns : rows) * (zeros & TB_ZEROS_BY_PAIRS ? 2 : 1),
                   outer = extent * (uint32_t)(by_column ? tile.column : tile.row);
    tb_needed needed;
    needed.first = 0;
    needed.end = steps;
    if (zeros & TB_ZEROS_BEFORE) {
        const uint32_t first = outer / (uint32_t)tile_k;
        needed.first = first < (uint32_t)steps ? (int32_t)first : steps - 1;
    }
    if (zeros & TB_ZEROS_BEHIND) {
        const uint32_t end = (outer + extent + (uint32_t)tile_k - 1) / (uint32_t)tile_k;
        needed.end = end < (uint32_t)steps ? (int32_t)end : steps;
    }
    return needed;
}

/* How tiles are numbered. */
typedef struct tb_tile_order {
    int32_t zeros;
    uint32_t lines, length; /* tiles of a line */
    uint32_t group;      /* neighbours on a line that are numbered together; the last group may have fewer */
    uint32_t group_size; /* tiles of a group */
} tb_tile_order;

/* With fewer waves of tiles there are no groups but whole lines: the tiles' sizes come in their order, and what blocks in flight share
 * in L2 matters less. */
#define TB_ZEROS_WAVES 16

/* Without zeros rows are lines. So many tiles are in flight at a time. */
TB_HOST_DEVICE_INLINE tb_tile_order tb_order_tiles(int32_t zeros, int64_t tiles_m, int64_t tiles_n,
                                                   uint32_t group, int64_t at_a_time)
{
    const bool are_few = zeros && tiles_m * tiles_n < TB_ZEROS_WAVES * at_a_time;
    const bool by_column = (zeros & TB_ZEROS_BY_COLUMN) != 0;
    tb_tile_order order;
    order.zeros = zeros;
    order.lines = (uint32_t)(by_column ? tiles_n : tiles_m);
    order.length = (uint32_t)(by_column ? tiles_m : tiles_n);
    order.group = are_few || group > order.length ? order.length : group;
    order.group_size = order.group * order.lines;
    return order;
}

/* Where the tile with a number lies. Without zeros no group goes the other way. */
TB_HOST_DEVICE_INLINE tb_tile_place tb_locate_tile(const tb_tile_order *order, uint32_t number)
{
    const uint32_t first = number / order->group_size * order->group, within = number % order->group_size;
    const uint32_t left = order->length - first, width = left < order->group ? left : order->group;
    const uint32_t along = first + within % width;
    uint32_t line = within / width;
    if (order->zeros) {
        const bool most_first = (left - 1) / order->group % 2 == 0;
        if (most_first == ((order->zeros & TB_ZEROS_BEHIND) != 0))
            line = order->lines - 1 - line;
    }
    tb_tile_place place;
    place.row = (int32_t)(order->zeros & TB_ZEROS_BY_COLUMN ? along : line);
    place.column = (int32_t)(order->zeros & TB_ZEROS_BY_COLUMN ? line : along);
    return place;
}

/* What of all steps of k a tile needs, on average, where the lines cover k. */
TB_HOST_DEVICE_INLINE double tb_needed_share(const tb_tile_order *order)
{
    return order->zeros && order->lines > 0 ? (order->lines + 1.0) / (2.0 * order->lines) : 1;
}

#endif
