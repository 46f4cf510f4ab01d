/* Products for tests of what looks at sizes and at no element: their operands lie nowhere, with columns as close as can be. */
#ifndef TB_PRODUCTS_H
#define TB_PRODUCTS_H

#include "words/integers.h"
#include "words/arguments.h"

/* C := A B, of a routine that computes a triangle the lower one; C := A A' of an update; A of SYMM, TRMM and TRSM is on the
 * left, and m is k. */
static inline tb_product product_of_routine(tb_routine routine, int64_t m, int64_t n, int64_t k)
{
    const tb_class_row *class = tb_class_of(routine);
    const int64_t rows = class->updates ? n : m, inner = class->is_symmetric ? m : k;
    return tb_product_of(&(tb_arguments){.routine = routine,
                                         .triangle = TB_LOWER,
                                         .m = m,
                                         .n = n,
                                         .k = k,
                                         .alpha = {1, 0},
                                         .lda = rows,
                                         .ldb = class->turns_b ? n : inner,
                                         .ldc = rows});
}

static inline tb_product product_sized(int64_t m, int64_t n, int64_t k)
{
    return product_of_routine(TB_SGEMM, m, n, k);
}

/* The product under a mask: number % 3 says which, full among them. offset, from 0 to m + n: how far its diagonal lies from
 * C's lower left corner. */
static inline tb_product product_masked(tb_product product, int number, int64_t offset)
{
    static const tb_triangle masks[] = {TB_FULL, TB_LOWER, TB_UPPER};
    product.mask = masks[number % 3];
    product.diagonal = product.mask == TB_FULL ? 0 : product.m - offset;
    return product;
}

/* Tiles of C that have an element of the mask: in a column of tiles, those from the first such row of any of its columns to
 * the last one. */
static inline int64_t product_tiles(const tb_product *product, int64_t tile_m, int64_t tile_n)
{
    int64_t tiles = 0;
    for (int64_t first = 0; first < product->n; first += tile_n) {
        const tb_range left = tb_masked_rows(product, first),
                       right = tb_masked_rows(product, tb_smaller(first + tile_n, product->n) - 1);
        const tb_range rows = product->mask == TB_UPPER ? right : left;
        if (rows.count > 0)
            tiles += (rows.first + rows.count - 1) / tile_m - rows.first / tile_m + 1;
    }
    return tiles;
}

static inline tb_product product_square(int64_t n)
{
    return product_sized(n, n, n);
}

#endif
