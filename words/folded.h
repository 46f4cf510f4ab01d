/* Folding: rank-2k updates by one product. Their second term is the first one's transpose or, of HER2K, its conjugate:
 *
 *     P = alpha * op(A) * op(B)',  and C = P + P' + beta * C  in a triangle
 *
 * P is all of a square, with as many multiply-adds as the triangles of two terms; but A and B are read, or taken apart, once.
 */
#ifndef TB_FOLDED_H
#define TB_FOLDED_H

#include "words/lowered.h"

/* C = P + P' + beta * C in C's triangle, its diagonal real where C is Hermitian. */
typedef struct tb_folding {
    tb_matrix sums; /* P */
    tb_operand c;
    tb_scalar beta;
    tb_triangle mask;
} tb_folding;

/* More for P is not taken: of products so large A and B are a small part. */
#define TB_FOLDED_BYTES_MOST INT64_C(0x80000000)

static inline bool tb_can_be_folded(const tb_product *product)
{
    const int64_t bytes = (int64_t)tb_bytes_of(tb_element_of(product));
    return product->terms == 2 && product->mask != TB_FULL && product->diagonal == 0 &&
           product->m == product->n && product->n > 0 &&
           product->n <= TB_FOLDED_BYTES_MOST / bytes / product->n;
}

/* P's product. P itself lies nowhere yet. */
static inline tb_product tb_to_be_folded(const tb_product *product)
{
    const tb_element element = tb_element_of(product);
    tb_product sums = tb_term_of(product, 0);
    sums.routine = tb_gemm_routine(element);
    sums.beta = (tb_scalar){0, 0};
    sums.mask = TB_FULL;
    sums.mask_pairs = false;
    sums.c = (tb_operand){.rows = product->n, .columns = product->n, .ld = product->n, .element = element};
    return sums;
}

#endif
