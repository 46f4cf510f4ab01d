/* Whether LAPACK's drivers would scale a matrix first. */
#ifndef TB_SCALING_H
#define TB_SCALING_H

#include "words/matrix.h"

#include <stdbool.h>

/* What is smaller than the one, or larger than the other. */
typedef struct tb_scaled_range {
    double small, large;
} tb_scaled_range;
tb_scaled_range tb_scaled_range_of(tb_element element);

/* The matrix lies in host memory. Where it is certain that its largest number is within the range; all may be 0 where that may be. */
bool tb_is_within_range(const tb_matrix *matrix, bool may_be_zero);

#endif
