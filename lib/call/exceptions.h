/* The floating-point exceptions that a product on a device raises in its caller, as the host's BLAS would have: overflow and
 * invalid. No device tells of its own, so they are told from numbers in C that are not finite, and that nothing explains.
 *
 *   overflow    C has an infinity, or a NaN that is invalid by the next line, and no infinity is in alpha, beta, A or B, nor
 *               was in that place of C. A zero on the diagonal that TRSM divides by raises division by zero instead
 *   invalid     C has a NaN, and no NaN is in alpha, beta, A or B, nor was in that place of C
 *
 * Overflow is never without inexact. Of a product in C's place all that C held stands for A or B. Of an operand that lies on a
 * device, where nobody looks, anything is believed.
 */
#ifndef TB_EXCEPTIONS_H
#define TB_EXCEPTIONS_H

#include "words/place.h"
#include "words/product.h"

#include <stdint.h>

/* seen: of C (lib/streaming/not_finite.h), after the product. A and B are looked at only if that is something that has not
 * been raised already. */
void tb_raise_exceptions(const tb_product *product, const tb_place places[TB_ROLES], uint32_t seen);

#endif
