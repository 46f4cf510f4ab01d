/* The tiles of a product that touch its mask: their numbers mean every tile that has an element of the mask once and no other
 * tile; tiles with close numbers share rows and columns; and what of a tile belongs to the mask.
 */
#include "kernels/mask.h"
#include "tests/check.h"
#include "words/integers.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 20000, LARGE = 100, NEIGHBOURS = 64 };

typedef struct masked {
    int64_t m, n;
    int32_t tile_m, tile_n, mask;
    int64_t diagonal;
    int32_t group, step;
} masked;

static bool has(const masked *c, int64_t row, int64_t column)
{
    const int64_t below = row / c->step - column;
    return c->mask == TB_LOWER ? below >= c->diagonal : below <= c->diagonal;
}

/* Answers by all elements of a tile; only the corner that lies deepest in the mask matters, where there are many. */
static bool touches(const masked *c, int64_t row, int64_t column, bool by_corner)
{
    const int64_t first_row = row * c->tile_m, end_row = tb_smaller(first_row + c->tile_m, c->m);
    const int64_t first_column = column * c->tile_n, end_column = tb_smaller(first_column + c->tile_n, c->n);
    if (by_corner)
        return c->mask == TB_LOWER ? has(c, end_row - 1, first_column) : has(c, first_row, end_column - 1);
    for (int64_t j = first_column; j < end_column; j++)
        for (int64_t i = first_row; i < end_row; i++)
            if (has(c, i, j))
                return true;
    return false;
}

static void every_touching_tile_has_one_number(const masked *c, bool by_corner)
{
    const int64_t rows = tb_ceil_div(c->m, c->tile_m), columns = tb_ceil_div(c->n, c->tile_n);
    const tb_product product = {.m = c->m,
                                .n = c->n,
                                .mask = (tb_triangle)c->mask,
                                .mask_pairs = c->step == 2,
                                .diagonal = c->diagonal};
    const tb_masked_tiles tiles = tb_masked_tiles_of(&product, c->tile_m, c->tile_n, c->group);
    unsigned char *times = calloc((size_t)(rows * columns), 1);
    int64_t touching = 0, outside = 0;
    for (int32_t number = 0; number < tiles.count; number++) {
        const tb_tile_place at = tb_mask_locate(&tiles, number);
        if (at.row < 0 || at.row >= rows || at.column < 0 || at.column >= columns)
            outside++;
        else
            times[at.row * columns + at.column]++;
    }
    int64_t wrong = 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const bool is_touched = touches(c, row, column, by_corner);
            touching += is_touched;
            wrong += times[row * columns + column] != is_touched;
        }
    CHECK(wrong == 0 && outside == 0 && tiles.count == touching,
          "%lld x %lld, tiles %d x %d in groups of %d, mask %d from %lld: %lld of %lld tiles, %lld wrong, "
          "%lld outside",
          (long long)c->m, (long long)c->n, c->tile_m, c->tile_n, c->group, c->mask, (long long)c->diagonal,
          (long long)tiles.count, (long long)touching, (long long)wrong, (long long)outside);
    free(times);
}

/* Tiles with neighbouring numbers, as many as blocks in flight have, lie in few rows and columns. A square of them would
 * have 8 of each; a group has 8 rows. */
static void neighbours_share_panels(int32_t mask)
{
    const masked c = {8192, 8192, 64, 64, mask, 0, 8, 1};
    const tb_masked_tiles tiles = tb_mask_tiles(c.m, c.n, c.tile_m, c.tile_n, c.group, c.mask, c.diagonal);
    double panels = 0;
    int32_t pieces = 0;
    for (int32_t first = 0; first + NEIGHBOURS <= tiles.count; first += NEIGHBOURS, pieces++) {
        bool rows[128] = {false}, columns[128] = {false};
        for (int32_t number = first; number < first + NEIGHBOURS; number++) {
            const tb_tile_place at = tb_mask_locate(&tiles, number);
            panels += !rows[at.row] + !columns[at.column];
            rows[at.row] = columns[at.column] = true;
        }
    }
    CHECK(panels / pieces < 20, "mask %d: %d tiles read %g panels", mask, NEIGHBOURS, panels / pieces);
}

static void rows_of_a_tile_are_those_of_the_mask(const masked *c, int64_t row, int64_t column)
{
    const tb_tile_mask tile =
        tb_mask_of_tile(c->mask, c->step, c->diagonal, row, column, c->tile_m, c->tile_n);
    int wrong = 0;
    for (int32_t j = 0; j < c->tile_n; j++)
        for (int32_t i = 0; i < c->tile_m; i++) {
            const bool belongs = has(c, row + i, column + j);
            wrong += belongs != tb_mask_has(c->mask, c->step, c->diagonal, row + i, column + j);
            wrong += belongs != (i >= tile.first + c->step * j && i < tile.end + c->step * j);
        }
    CHECK(wrong == 0, "tile %d x %d at %lld, %lld, mask %d from %lld: %d elements wrong", c->tile_m,
          c->tile_n, (long long)row, (long long)column, c->mask, (long long)c->diagonal, wrong);
}

static masked draw(check_random *random, int64_t most, int32_t most_tile)
{
    static const int32_t groups[] = {1, 3, 8, 12};
    const int32_t step = (int32_t)check_between(random, 1, 2);
    masked c = {.m = step * check_between(random, 1, most / step),
                .n = check_between(random, 1, most),
                .tile_m = step * (int32_t)check_between(random, 1, (most_tile + step - 1) / step),
                .tile_n = (int32_t)check_between(random, 1, most_tile),
                .mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER,
                .group = CHECK_PICK(random, groups),
                .step = step};
    c.diagonal = check_between(random, 0, 3) ? check_between(random, -c.n - 2, c.m + 2) : 0;
    return c;
}

int main(void)
{
    check_random random = {.state = check_seed()};
    for (int i = 0; i < SMALL; i++) {
        const masked c = draw(&random, 70, i % 2 ? 40 : 6);
        every_touching_tile_has_one_number(&c, false);
        rows_of_a_tile_are_those_of_the_mask(&c, check_between(&random, 0, c.m - 1),
                                             check_between(&random, 0, c.n - 1));
    }
    for (int i = 0; i < LARGE; i++) {
        const masked c = draw(&random, 2000, i % 2 ? 3 : 1);
        every_touching_tile_has_one_number(&c, true);
    }
    static const masked families[] = {
        {65536, 65536, 128, 64, TB_LOWER, 0, 8, 1},     {65536, 32768, 128, 64, TB_LOWER, 0, 8, 2},
        {65535, 65536, 256, 192, TB_UPPER, 0, 8, 1},    {65535, 65536, 256, 192, TB_LOWER, -20000, 8, 1},
        {65536, 30000, 16, 128, TB_UPPER, 15001, 8, 1}, {65534, 32767, 256, 128, TB_UPPER, 0, 8, 2}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        every_touching_tile_has_one_number(&families[i], true);
    every_touching_tile_has_one_number(&(masked){5, 7, 2, 2, TB_LOWER, INT64_MAX / 2, 8, 1}, false);
    every_touching_tile_has_one_number(&(masked){5, 7, 2, 2, TB_LOWER, -INT64_MAX / 2, 8, 1}, false);
    every_touching_tile_has_one_number(&(masked){5, 7, 2, 2, TB_UPPER, INT64_MAX / 2, 8, 1}, false);
    every_touching_tile_has_one_number(&(masked){5, 7, 2, 2, TB_UPPER, -INT64_MAX / 2, 8, 1}, false);
    neighbours_share_panels(TB_LOWER);
    neighbours_share_panels(TB_UPPER);
    return check_result();
}
