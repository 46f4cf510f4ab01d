/* Steps of k that multiply zeros alone: a tile's steps are those that have an element of the triangle, rounded outwards to whole
 * blocks of 2 x 2; every tile has one number, and tiles with neighbouring numbers need about the same; parts of a product know of
 * zeros where the whole one has them, and nowhere else.
 */
#include "kernels/zeros.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <stdlib.h>

enum { SHAPES = 1000, PARTS = 20000 };

/* Which operand is a triangle, and which one; B also of complex numbers. */
enum { KINDS = 6 };

static tb_product product_with_zeros(int kind, int64_t m, int64_t n)
{
    tb_product product = product_sized(m, n, kind < 2 ? m : kind < 4 ? n : 2 * n);
    *(kind < 2 ? &product.a_nonzero : &product.b_nonzero) = kind % 2 ? TB_UPPER : TB_LOWER;
    product.b_nonzero_pairs = kind >= 4;
    return product;
}

/* Whether element (i, j) of the triangle lies beyond it, in whole blocks of so many rows and columns: from the definition. */
static bool lies_beyond(tb_triangle nonzero, int64_t i, int64_t j, int64_t block)
{
    return nonzero == TB_LOWER ? i / block < j / block : nonzero == TB_UPPER && i / block > j / block;
}

/* Element (i, l) of op(A); (l, j) of op(B). */
static bool is_zero_of_a(const tb_product *p, int64_t i, int64_t l, int64_t block)
{
    return lies_beyond(p->a_nonzero, i, l, block);
}

static bool is_zero_of_b(const tb_product *p, int64_t l, int64_t j, int64_t block)
{
    return p->b_nonzero_pairs ? lies_beyond(p->b_nonzero, l / 2, j, 1)
                              : lies_beyond(p->b_nonzero, l, j, block);
}

/* Whether steps from `first` on, before `end`, all multiply zeros alone in a tile. */
static bool are_zeros(const tb_product *p, tb_range rows, tb_range columns, int64_t first, int64_t end)
{
    const bool of_a = p->a_nonzero != TB_FULL;
    const tb_range outer = of_a ? rows : columns;
    for (int64_t k = first; k < end && k < p->k; k++)
        for (int64_t o = outer.first; o < outer.first + outer.count; o++)
            if (of_a ? !is_zero_of_a(p, o, k, 2) : !is_zero_of_b(p, k, o, 2))
                return false;
    return true;
}

static tb_range clipped(int64_t tile, int64_t extent, int64_t end)
{
    const int64_t first = tile * extent;
    return (tb_range){first, tb_smaller(first + extent, end) - first};
}

static void tiles_have_the_steps_that_they_need(const tb_product *p, int32_t tile_m, int32_t tile_n,
                                                int32_t tile_k, uint32_t group, int64_t at_a_time)
{
    const int32_t zeros = tb_zeros_of(p), steps = (int32_t)tb_ceil_div(p->k, tile_k);
    const uint32_t tiles_m = (uint32_t)tb_ceil_div(p->m, tile_m),
                   tiles_n = (uint32_t)tb_ceil_div(p->n, tile_n);
    const tb_tile_order order = tb_order_tiles(zeros, tiles_m, tiles_n, group, at_a_time);
    const int64_t outer = zeros & TB_ZEROS_BY_COLUMN ? tile_n : tile_m;
    const int64_t nearby = /* from one line to the next */
        tb_ceil_div(outer * (p->b_nonzero_pairs ? 2 : 1), tile_k) + 1;
    unsigned char *times = calloc(tiles_m * tiles_n, 1);
    int32_t before = 0;
    double all = 0;
    for (uint32_t number = 0; number < tiles_m * tiles_n; number++) {
        const tb_tile_place at = tb_locate_tile(&order, number);
        const tb_needed needed = tb_needed_steps(zeros, at, tile_m, tile_n, tile_k, steps);
        const tb_range rows = clipped(at.row, tile_m, p->m), columns = clipped(at.column, tile_n, p->n);
        const int32_t count = needed.end - needed.first;
        const bool inside =
            at.row >= 0 && at.column >= 0 && at.row < (int32_t)tiles_m && at.column < (int32_t)tiles_n;
        CHECK(inside && times[at.row * (int32_t)tiles_n + at.column]++ == 0, "number %u is tile %d, %d",
              number, at.row, at.column);
        CHECK(needed.first >= 0 && count > 0 && needed.end <= steps &&
                  are_zeros(p, rows, columns, 0, (int64_t)needed.first * tile_k) &&
                  are_zeros(p, rows, columns, (int64_t)needed.end * tile_k, p->k),
              "zeros %d, tile %d, %d of %d x %d: steps %d to %d of %d, each %d", zeros, at.row, at.column,
              tile_m, tile_n, needed.first, needed.end, steps, tile_k);
        const bool tight =
            !are_zeros(p, rows, columns, (int64_t)needed.first * tile_k,
                       (int64_t)(needed.first + 1) * tile_k) &&
            !are_zeros(p, rows, columns, (int64_t)(needed.end - 1) * tile_k, (int64_t)needed.end * tile_k);
        CHECK(tight, "zeros %d, tile %d, %d of %d x %d: steps %d to %d of %d, each %d, are too many", zeros,
              at.row, at.column, tile_m, tile_n, needed.first, needed.end, steps, tile_k);
        CHECK(number == 0 || llabs(count - before) <= nearby,
              "zeros %d: tile %u needs %d steps, the one before %d", zeros, number, count, before);
        before = count;
        all += count;
    }
    CHECK(before <= nearby, "zeros %d: the last tile needs %d steps", zeros, before);
    const double lines = zeros & TB_ZEROS_BY_COLUMN ? tiles_n : tiles_m,
                 share = all / ((double)steps * tiles_m * tiles_n), off = 1 / lines;
    CHECK(share < tb_needed_share(&order) + off && share > tb_needed_share(&order) - off,
          "zeros %d, %g lines: %g of all steps, not %g", zeros, lines, share, tb_needed_share(&order));
    free(times);
}

static void shapes_of_all_kinds(check_random *random)
{
    static const int32_t extents[] = {32, 64, 128, 192, 256}, depths[] = {8, 16, 32};
    for (int i = 0; i < SHAPES; i++) {
        /* Extents are those of complex numbers written out as real ones. */
        const int64_t m = 2 * check_between(random, 1, 500), n = 2 * check_between(random, 1, 500);
        const tb_product product = product_with_zeros(i % KINDS, m, n);
        tiles_have_the_steps_that_they_need(
            &product, extents[check_between(random, 0, 4)], extents[check_between(random, 0, 4)],
            depths[check_between(random, 0, 2)], (uint32_t)check_between(random, 1, 12),
            check_between(random, 0, 3));
    }
}

/* Tiles go as kernels forecast their reading of L2. */
static void without_zeros_tiles_go_down_groups_of_columns(void)
{
    const tb_tile_order order = tb_order_tiles(0, 5, 20, 8, 100);
    const tb_tile_place at = tb_locate_tile(&order, 8 * 5 + 8 + 3);
    CHECK(at.row == 1 && at.column == 11, "tile %d, %d", at.row, at.column);
    const tb_needed needed = tb_needed_steps(0, at, 64, 64, 16, 9);
    CHECK(needed.first == 0 && needed.end == 9, "steps %d to %d", needed.first, needed.end);
}

static tb_range some(check_random *random, int64_t extent)
{
    const int64_t first = check_between(random, 0, extent - 1) * check_between(random, 0, 1);
    return (tb_range){first, check_between(random, 1, extent - first)};
}

static void parts_know_of_no_zeros_that_are_none(check_random *random)
{
    int kept = 0;
    for (int i = 0; i < PARTS; i++) {
        const tb_product whole =
            product_with_zeros(i % KINDS, check_between(random, 1, 9), check_between(random, 1, 9));
        const tb_range rows = some(random, whole.m), columns = some(random, whole.n),
                       k = some(random, whole.k);
        const tb_product part = tb_subproduct(&whole, rows, columns, k);
        int64_t wrong = 0;
        for (int64_t p = 0; p < part.k; p++) {
            for (int64_t row = 0; row < part.m; row++)
                wrong +=
                    is_zero_of_a(&part, row, p, 1) && !is_zero_of_a(&whole, rows.first + row, k.first + p, 1);
            for (int64_t column = 0; column < part.n; column++)
                wrong += is_zero_of_b(&part, p, column, 1) &&
                         !is_zero_of_b(&whole, k.first + p, columns.first + column, 1);
        }
        CHECK(wrong == 0, "kind %d: %d elements of a part are taken for zeros", i % KINDS, (int)wrong);
        kept += tb_has_zeros(&part);
    }
    const tb_product whole = product_with_zeros(0, 9, 9), columns = tb_columns_of(&whole, (tb_range){3, 4});
    CHECK(columns.a_nonzero == TB_LOWER && kept > PARTS / 10, "%d parts of %d know of zeros", kept, PARTS);
    CHECK(tb_volume(&whole) == 9 * 9 * 9 / 2.0, "%g multiply-adds", tb_volume(&whole));
}

static void a_mask_has_tiles_of_its_own(void)
{
    tb_product product = product_with_zeros(0, 64, 64);
    CHECK(tb_zeros_of(&product) == TB_ZEROS_BEHIND, "zeros %d", tb_zeros_of(&product));
    product.mask = TB_LOWER;
    CHECK(tb_zeros_of(&product) == 0, "zeros %d beside a mask", tb_zeros_of(&product));
}

int main(void)
{
    check_random random = {.state = check_seed()};
    shapes_of_all_kinds(&random);
    without_zeros_tiles_go_down_groups_of_columns();
    parts_know_of_no_zeros_that_are_none(&random);
    a_mask_has_tiles_of_its_own();
    return check_result();
}
