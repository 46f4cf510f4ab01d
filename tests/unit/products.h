/* Products for tests of what looks at sizes and at no element: their operands lie nowhere, with columns as close as can be. */
#ifndef TB_PRODUCTS_H
#define TB_PRODUCTS_H

#include "words/product.h"

/* C := A B. */
static inline tb_product product_of_routine(tb_routine routine, int64_t m, int64_t n, int64_t k)
{
    return tb_gemm(routine, false, false, m, n, k, 1, NULL, m, NULL, k, 0, NULL, m);
}

static inline tb_product product_sized(int64_t m, int64_t n, int64_t k)
{
    return product_of_routine(TB_SGEMM, m, n, k);
}

static inline tb_product product_square(int64_t n)
{
    return product_sized(n, n, n);
}

#endif
