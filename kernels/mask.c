#include "kernels/mask.h"

#include "words/integers.h"

static int64_t floor_divide(int64_t dividend, int64_t divisor)
{
    return dividend / divisor - (dividend % divisor < 0);
}

static int64_t between(int64_t value, int64_t least, int64_t most)
{
    return tb_larger(least, tb_smaller(value, most));
}

/* So many neighbouring lines are a whole number of tiles wider than as many before them. */
static int64_t period(int64_t tile_m, int64_t tile_n)
{
    int64_t divisor = tile_m, rest = tile_n;
    while (rest > 0) {
        const int64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return tile_n / divisor;
}

/* Line l reaches over reach + l * tile_m columns, or to the end of C, the first from the left or, of an upper mask, from the
 * right; l from 0 to lines - 1. Every line has a tile at least. */
typedef struct lines {
    int64_t count, most, reach, first_row, first_column;
} lines;

/* Row r of tiles touches a lower mask with its last row and as many columns as that has there. Where it is the last one of C,
 * C's last row says how many tiles any line has. */
static lines lower_lines(int64_t m, int64_t n, int64_t tile_m, int64_t tile_n, int64_t diagonal)
{
    const int64_t rows = tb_ceil_div(m, tile_m);
    const int64_t first = between(floor_divide(diagonal, tile_m), 0, rows);
    return (lines){.count = diagonal < m ? rows - first : 0,
                   .most =
                       tb_smaller(tb_ceil_div(n, tile_n), tb_ceil_div(tb_larger(m - diagonal, 0), tile_n)),
                   /* whole tiles: a column of them is touched as soon as one of theirs is */
                   .reach = (first + 1) * tile_m - diagonal + tile_n - 1,
                   .first_row = first,
                   .first_column = 0};
}

/* A row of tiles touches an upper mask with its first row. */
static lines upper_lines(int64_t m, int64_t n, int64_t tile_m, int64_t tile_n, int64_t diagonal)
{
    const int64_t rows = tb_ceil_div(m, tile_m), columns = tb_ceil_div(n, tile_n);
    const int64_t count = between(floor_divide(n - 1 + diagonal, tile_m) + 1, 0, rows);
    return (lines){.count = count,
                   .most = columns,
                   .reach = columns * tile_n - (count - 1) * tile_m + diagonal + tile_n - 1,
                   .first_row = count - 1,
                   .first_column = columns - 1};
}

static int64_t tiles_of(const lines *lines, int64_t line, int64_t tile_m, int64_t tile_n)
{
    return tb_smaller((lines->reach + line * tile_m) / tile_n, lines->most);
}

tb_masked_tiles tb_mask_tiles(int64_t m, int64_t n, int32_t tile_m, int32_t tile_n, int32_t group,
                              int32_t mask, int64_t diagonal)
{
    if (mask == TB_FULL)
        return (tb_masked_tiles){.count = tb_ceil_div(m, tile_m) * tb_ceil_div(n, tile_n)};
    diagonal = between(diagonal, -n, m); /* beyond, it changes nothing */
    const lines lines = mask == TB_LOWER ? lower_lines(m, n, tile_m, tile_n, diagonal)
                                         : upper_lines(m, n, tile_m, tile_n, diagonal);
    if (lines.count == 0 || lines.most == 0)
        return (tb_masked_tiles){.mask = mask};
    const int64_t sloped = between(tb_ceil_div(lines.most * tile_n - lines.reach, tile_m), 0, lines.count);
    const int64_t height = tb_smaller(tb_round_up(group, period(tile_m, tile_n)), lines.count);
    const int64_t narrowest = tiles_of(&lines, 0, tile_m, tile_n);
    tb_masked_tiles tiles = {
        .mask = mask,
        .lines = (int32_t)lines.count,
        .sloped = (int32_t)sloped,
        .most = (int32_t)lines.most,
        .group = (int32_t)height,
        .group_wider = (int32_t)(height * tile_m / tile_n),
        .last_group = (int32_t)(sloped / height),
        .most_group = (int32_t)(height * lines.most),
        .group_more = (int32_t)(height * (height * tile_m / tile_n)),
        .narrowest = (int32_t)narrowest,
        .ahead = (int32_t)(lines.reach % tile_n),
        .wider = tile_m / tile_n,
        .ahead_by = tile_m % tile_n,
        .tile_n = tile_n,
        .first_row = (int32_t)lines.first_row,
        .first_column = (int32_t)lines.first_column,
    };
    const int64_t groups = sloped / height, left = sloped % height;
    int64_t left_count = left * groups * tiles.group_wider;
    for (int64_t line = 0; line < tb_smaller(height, sloped); line++) {
        const int64_t wide = (lines.reach + line * tile_m) / tile_n;
        tiles.group_count += (int32_t)wide;
        left_count += line < left ? wide : 0;
    }
    const float square = (float)tiles.group_more;
    tiles.linear = (float)tiles.group_count - square / 2;
    tiles.square = 2 * square;
    tiles.shift = tiles.linear * tiles.linear + 1;
    const int64_t sloped_count = tb_mask_in_groups(&tiles, groups) + left_count;
    tiles.sloped_count = (int32_t)sloped_count;
    tiles.count = sloped_count + (lines.count - sloped) * lines.most;
    return tiles;
}

/* Rows that are taken for one are of one tile, as tiles have an even number of them. */
tb_masked_tiles tb_masked_tiles_of(const tb_product *product, int32_t tile_m, int32_t tile_n, int32_t group)
{
    const int32_t step = (int32_t)tb_mask_step(product);
    return tb_mask_tiles(product->m / step, product->n, tile_m / step, tile_n, group, (int32_t)product->mask,
                         product->diagonal);
}
