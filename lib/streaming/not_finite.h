/* Numbers that are not finite, looked for in passing: where C has some that its operands do not explain, a
 * product has overflowed or was invalid, and the caller is told (lib/call/exceptions.h).
 */
#ifndef TB_NOT_FINITE_H
#define TB_NOT_FINITE_H

#include "words/element.h"

#include <stddef.h>
#include <stdint.h>

/* For four words of 32 bits: where (word & mask) + step has its highest bit, a number is not finite, as its
 * exponent is all ones. The lower half of a double never has it. */
typedef struct tb_exponents {
    uint32_t mask[4], step[4];
} tb_exponents;
extern const tb_exponents tb_exponents_of[TB_REAL_ELEMENTS];

enum { TB_SEEN_INFINITY = 1, TB_SEEN_NAN = 2, TB_SEEN_BOTH = TB_SEEN_INFINITY | TB_SEEN_NAN };
/* What C held before a product in its place: the same bits, shifted. */
enum { TB_SEEN_BEFORE_SHIFT = 2 };

/* Which of them are among the numbers, real ones of the element. Where there is an older number in each one's
 * place, an infinity that was one before, and whatever was NaN, are not counted; NULL: there is none. */
uint32_t tb_find_not_finite(const void *numbers, size_t bytes, tb_element element, const void *older);

#endif
