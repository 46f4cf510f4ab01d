/* Products for tests of what looks at sizes and at no element: their operands lie nowhere, with columns as close as can be. */
#ifndef TB_PRODUCTS_H
#define TB_PRODUCTS_H

#include "words/integers.h"
#include "words/product.h"

/* C := A B, of a routine that computes a triangle the lower one; C := A A' of an update; A of SYMM, TRMM and TRSM is on the
 * left, and m is k. */
static inline tb_product product_of_routine(tb_routine routine, int64_t m, int64_t n, int64_t k)
{
    const tb_routine_class class = tb_routine_rows[routine].class;
    if (class == TB_CLASS_RANK_2K || class == TB_CLASS_HER2K)
        return tb_rank_2k(routine, TB_LOWER, false, n, k, 1, NULL, n, NULL, n, 0, NULL, n);
    if (class == TB_CLASS_RANK_K || class == TB_CLASS_HERK)
        return tb_rank_k(routine, TB_LOWER, false, n, k, 1, NULL, n, 0, NULL, n);
    if (class == TB_CLASS_SYMM || class == TB_CLASS_HEMM)
        return tb_symm(routine, true, TB_LOWER, m, n, 1, NULL, m, NULL, m, 0, NULL, m);
    tb_product product = tb_gemm(routine, false, false, m, n, k, 1, NULL, m, NULL, k, 0, NULL, m);
    if (tb_in_place_of_routine(routine) != TB_OUT_OF_PLACE) {
        product = tb_triangular(tb_in_place_of_routine(routine), tb_routine_rows[routine].element, true,
                                TB_LOWER, false, false, false, m, n, product.alpha, NULL, m, NULL, m);
        product.routine = routine;
    }
    if (class == TB_CLASS_TRIANGLE)
        product.mask = TB_LOWER;
    return product;
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
