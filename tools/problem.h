/* A product that is spoken of and not computed: its arguments as people give them, or a record has them. */
#ifndef TOOL_PROBLEM_H
#define TOOL_PROBLEM_H

#include "words/product.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct problem {
    tb_routine routine;
    tb_triangle triangle; /* TB_FULL: none was given */
    bool right, transpose_a, transpose_b, conjugate_a, conjugate_b, has_transpose_b, has_diagonal,
        unit_diagonal;
    int64_t m, n, k, lda, ldb, ldc; /* a leading dimension of 0: as small as can be */
    int64_t products;               /* of a batch; 0: not given */
    double alpha, beta;
} problem;

bool problem_is_batch(const problem *problem);

/* A is square, and on one side of a matrix of C's size. */
bool problem_has_side(const problem *problem);

/* C is a triangle, of n rows and columns. */
bool problem_has_triangle(const problem *problem);

bool problem_has_one_operand(const problem *problem);

/* TRMM and TRSM. */
bool problem_is_in_place(const problem *problem);

/* One product, also of a batch. Its operands lie at addresses that are never followed; leading dimensions that were not given are
 * 0. */
tb_product problem_product(const problem *problem);

/* Puts the least there can be for those; false where a given one is less. */
bool problem_settle_leading_dimensions(tb_product *product);

/* Whether there can be such matrices: each lies in the addresses that a process has. Forecasts count on it, as every call
 * does. */
bool problem_has_room(const tb_product *product);

/* Makes a batch of a product: as many of it as were asked for, one behind the other. False where
 * there is no room for them. */
bool problem_spread(const problem *problem, tb_product *product);

#endif
