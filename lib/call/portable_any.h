/* What the host route does itself with products that the loops of portable_gemm.h do not know: of complex numbers, of
 * symmetric and Hermitian operands, and of whatever part of one; triangular products and solves. Slow, and with sums in
 * double precision.
 */
#ifndef TB_PORTABLE_ANY_H
#define TB_PORTABLE_ANY_H

#include "words/product.h"

/* C := beta * C. */
void tb_scale_any(const tb_product *product);

void tb_multiply_any(const tb_product *product);

/* C := product + beta * C, the product lying in a small matrix that is full. */
void tb_merge_any(const tb_product *product, const tb_matrix *computed);

#endif
