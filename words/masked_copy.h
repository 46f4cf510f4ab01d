/* Masked copies: what of a matrix lies on one side of a diagonal goes to the same place in another one, of which the rest keeps its
 * bytes. A triangle is one that has a diagonal of its own.
 */
#ifndef TB_WORDS_MASKED_COPY_H
#define TB_WORDS_MASKED_COPY_H

#include "words/matrix.h"
#include "words/structure.h"

typedef struct tb_masked_copy {
    tb_matrix source, target;
    /* Of a product's C (words/product.h): lower are elements where i - j >= diagonal, upper ones where <=. */
    tb_triangle mask;
    int64_t diagonal;
    bool pairs; /* the mask takes two rows, parts of complex numbers, for one */
} tb_masked_copy;

/* Whether it is one: of a triangle, and from a matrix to one of its kind. */
static inline bool tb_is_masked_copy(const tb_masked_copy *copy)
{
    const tb_matrix *source = &copy->source, *target = &copy->target;
    return (copy->mask == TB_LOWER || copy->mask == TB_UPPER) && (unsigned)source->element < TB_ELEMENTS &&
           source->element == target->element && source->rows >= 0 && source->rows == target->rows &&
           source->columns >= 0 && source->columns == target->columns && source->ld >= source->rows &&
           target->ld >= target->rows;
}

#endif
