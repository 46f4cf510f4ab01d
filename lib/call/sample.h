/* A look at the operands, for forecasts that depend on their numbers. */
#ifndef TB_SAMPLE_H
#define TB_SAMPLE_H

#include "words/place.h"
#include "words/product.h"

/* Whether magnitudes of A and B, in these places, are seen to be alike (tb_product.like_magnitudes); of a
 * batch, those of the first product. Two thousand numbers are read, none that the product does not. False
 * where the host reads the operands slowly or not at all, and for products in C's place, which integers do not serve. */
bool tb_has_like_magnitudes(const tb_product *product, const tb_place places[TB_ROLES]);

#endif
