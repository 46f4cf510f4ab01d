/* What a routine is called with: letters that have been read, sizes and places as they came. A product of it is column-major.
 *
 * What a routine's class has no argument for means nothing (words/classes.def). B of TRMM and TRSM is c.
 */
#ifndef TB_WORDS_ARGUMENTS_H
#define TB_WORDS_ARGUMENTS_H

#include "words/product.h"

typedef struct tb_operation {
    bool transposed, conjugated;
} tb_operation;

typedef struct tb_arguments {
    tb_routine routine;
    bool right; /* the matrix of which a triangle is stored stands behind the other one */
    tb_triangle triangle;
    tb_operation operation_a, operation_b; /* of real numbers nothing is conjugated */
    bool unit_diagonal;
    int64_t m, n, k;
    tb_scalar alpha;
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    tb_scalar beta;
    void *c;
    int64_t ldc;
} tb_arguments;

/* A batch's is one of its products. */
tb_product tb_product_of(const tb_arguments *given);

/* What does by columns what these do by rows. A row-major matrix is its transpose in column-major order, so that
 * triangles are each other's. */
tb_arguments tb_arguments_by_columns(const tb_arguments *by_rows);

#endif
