/* A triangle of a triangular product or solve, seen as the factor on the left; and what mends such a product. */
#ifndef TB_TRIANGLE_H
#define TB_TRIANGLE_H

#include "kernels/kernel.h"

/* Whether it is read as its transpose. */
static inline bool tb_is_read_transposed(const tb_product *product)
{
    return tb_triangle_of(product)->transposed == tb_is_triangle_left(product);
}

static inline bool tb_is_lower(const tb_product *product)
{
    return (tb_triangle_of(product)->stored == TB_LOWER) != tb_is_read_transposed(product);
}

/* Computes again what a triangular product made of numbers that are not finite: of C as it was there is a copy,
 * and notes tell in which of its tiles they are (tb_launch_noting_expand). */
tb_status tb_launch_mending(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                            const tb_matrix *copy, const uint32_t *notes);

#endif
