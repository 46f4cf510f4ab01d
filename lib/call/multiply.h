/* The way into the runtime: compat/ forwards small calls whose operands are seen to be the host's
 * (residency.h), or of which tb_stays_on_host says so (small.h), and calls tb_multiply with regular products.
 */
#ifndef TB_MULTIPLY_H
#define TB_MULTIPLY_H

#include "lib/call/host.h"
#include "lib/call/small.h"
#include "words/product.h"

/* Computes the product. The product's arguments are regular, which compat/arguments.h has checked. */
void tb_multiply(const tb_product *product, const tb_host *host);

#endif
