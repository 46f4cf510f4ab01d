/* What a mask on C leaves of a product's tiles: which of them touch it, and which rows of a tile's columns belong to it. Shared
 * by C and CUDA.
 *
 *        lower                upper          A line is a row of tiles. Lines are counted from the one with the fewest tiles
 *   +--------------+    8 +--------------+   that touch the mask: of a lower mask down, of an upper one up; and tiles from
 *   |              |    7 |              |   that edge of C which all lines touch, so that both masks look alike. The sloped
 * 0 |##            |    6 |##############|   lines come first, each as wide as the one before or wider; then those that have
 * 1 |####          |    5 |##############|   as many tiles as any.
 * 2 |######        |    4 |  ############|
 * 3 |########      |    3 |    ##########|   Tiles are numbered by groups of neighbouring lines, so that blocks in flight share
 * 4 |##########    |    2 |      ########|   panels of A and B in L2: in a group down the columns that all of its lines have,
 * 5 |############  |    1 |        ######|   then along what more each line has. A group has so many lines that from one to the
 * 6 |############# |    0 |          ####|   next all of them are wider by the same number of tiles.
 *   +--------------+      +--------------+
 */
#ifndef TB_MASK_H
#define TB_MASK_H

#include "kernels/host_device.h"
#include "words/structure.h"

#ifndef __CUDACC__
#include "words/product.h"

#include <math.h>
#endif

/* ---- Elements ------------------------------------------------------------------------------------------------- */

/* step: rows that the mask takes for one, 1 or 2. */
TB_HOST_DEVICE_INLINE bool tb_mask_has(int32_t mask, int32_t step, int64_t diagonal, int64_t row,
                                       int64_t column)
{
    const int64_t below = (row >> (step - 1)) - column;
    return mask == TB_FULL || (mask == TB_LOWER ? below >= diagonal : below <= diagonal);
}

/* Rows of a tile's column 0 that belong to the mask: from `first` on, before `end`; of each column they are `step` further on
 * than of the one before. The tile may have fewer. */
typedef struct tb_tile_mask {
    int32_t first, end, step;
} tb_tile_mask;

/* The mask of a tile of so many rows and columns, whose first element is (row, column) of C. */
TB_HOST_DEVICE_INLINE tb_tile_mask tb_mask_of_tile(int32_t mask, int32_t step, int64_t diagonal, int64_t row,
                                                   int64_t column, int32_t rows, int32_t columns)
{
    const int64_t own = step * (diagonal + column) - row;
    const int32_t above = -step * columns;
    tb_tile_mask tile;
    tile.first = above;
    tile.end = rows;
    tile.step = step;
    if (mask == TB_LOWER && own > above)
        tile.first = own < rows ? (int32_t)own : rows;
    if (mask == TB_UPPER && own < rows)
        tile.end = own >= above ? (int32_t)own + step : above;
    return tile;
}

/* ---- Tiles ---------------------------------------------------------------------------------------------------- */

typedef struct tb_masked_tiles {
    int64_t count;        /* tiles that touch the mask; all else is of masks other than TB_FULL */
    int32_t mask;         /* a tb_triangle */
    int32_t lines;        /* that touch the mask */
    int32_t sloped;       /* lines that have fewer tiles than `most` */
    int32_t sloped_count; /* tiles of these lines */
    int32_t most;         /* tiles of each other line */
    int32_t most_group;   /* tiles of a group of such lines */
    int32_t group;        /* lines of a group; the last group may have fewer */
    int32_t group_wider;  /* tiles that a sloped line has more than the one a group before it */
    int32_t group_count;  /* tiles of the first group of sloped lines */
    int32_t group_more;   /* tiles that a group of sloped lines has more than the one before it */
    int32_t last_group;   /* of sloped lines */
    float linear, square; /* g groups of sloped lines have linear * g + square / 4 * g * g tiles */
    float shift;          /* linear * linear + 1 */
    int32_t narrowest;    /* tiles of line 0, if it is sloped */
    int32_t ahead;        /* columns by which line 0 reaches further than its tiles */
    int32_t wider;        /* a line reaches further than the line before it by so many tiles */
    int32_t ahead_by;     /* and columns */
    int32_t tile_n;
    int32_t first_row;    /* where line 0 lies, in tiles */
    int32_t first_column; /* where a line's first tile lies, in tiles */
} tb_masked_tiles;

/* The masked tiles of C, m x n, and of a product's C. A group has as many lines as asked for, or a few more. */
#ifndef __CUDACC__
tb_masked_tiles tb_mask_tiles(int64_t m, int64_t n, int32_t tile_m, int32_t tile_n, int32_t group,
                              int32_t mask, int64_t diagonal);
tb_masked_tiles tb_masked_tiles_of(const tb_product *product, int32_t tile_m, int32_t tile_n, int32_t group);
#endif

typedef struct tb_tile_place {
    int32_t row, column; /* in tiles */
} tb_tile_place;

/* Tiles of so many groups of sloped lines. */
TB_HOST_DEVICE_INLINE int64_t tb_mask_in_groups(const tb_masked_tiles *tiles, int64_t groups)
{
    return groups * tiles->group_count + groups * (groups - 1) / 2 * tiles->group_more;
}

/* The group of sloped lines that has a tile, or one near it: the root of tb_mask_in_groups(g) = number. */
TB_HOST_DEVICE_INLINE int32_t tb_mask_guess(const tb_masked_tiles *tiles, int32_t number)
{
    const float under = tiles->square * (float)number + tiles->shift;
#ifdef __CUDA_ARCH__
    const float guess = __fdividef(2 * (float)number, tiles->linear + under * rsqrtf(under));
#else
    const float guess = 2 * (float)number / (tiles->linear + sqrtf(under));
#endif
    return guess > 0 ? guess < (float)tiles->last_group ? (int32_t)guess : tiles->last_group : 0;
}

/* Neighbouring lines of a group, and the number of a tile in it. */
typedef struct tb_mask_group {
    int32_t first, height;
    int32_t narrow; /* tiles that each of the lines has */
    int32_t number;
} tb_mask_group;

TB_HOST_DEVICE_INLINE tb_mask_group tb_mask_group_of(const tb_masked_tiles *tiles, int32_t number)
{
    tb_mask_group at;
    int32_t end, index;
    if (number < tiles->sloped_count) {
        index = tb_mask_guess(tiles, number);
        while (tb_mask_in_groups(tiles, index) > number)
            index--;
        while (tb_mask_in_groups(tiles, index + 1) <= number)
            index++;
        at.first = index * tiles->group;
        at.narrow = tiles->narrowest + index * tiles->group_wider;
        at.number = number - (int32_t)tb_mask_in_groups(tiles, index);
        end = tiles->sloped;
    } else {
        number -= tiles->sloped_count;
        index = number / tiles->most_group;
        at.first = tiles->sloped + index * tiles->group;
        at.narrow = tiles->most;
        at.number = number - index * tiles->most_group;
        end = tiles->lines;
    }
    at.height = end - at.first < tiles->group ? end - at.first : tiles->group;
    return at;
}

/* Where the tile with a number, less than `count`, lies. */
TB_HOST_DEVICE_INLINE tb_tile_place tb_mask_locate(const tb_masked_tiles *tiles, int32_t number)
{
    const tb_mask_group group = tb_mask_group_of(tiles, number);
    const bool lower = tiles->mask == TB_LOWER;
    int32_t line = group.first, column = group.narrow, more = group.number - group.height * group.narrow;
    tb_tile_place place;
    if (more < 0) {
        line += group.number % group.height;
        column = group.number / group.height;
    } else {
        int32_t wider = 0, ahead = tiles->ahead;
        for (; more >= wider; line++) {
            more -= wider;
            wider += tiles->wider;
            ahead += tiles->ahead_by;
            if (ahead >= tiles->tile_n) {
                ahead -= tiles->tile_n;
                wider++;
            }
        }
        column += more;
    }
    place.row = lower ? tiles->first_row + line : tiles->first_row - line;
    place.column = lower ? column : tiles->first_column - column;
    return place;
}

#endif
