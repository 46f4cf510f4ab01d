/* A call of a routine by its arguments: letters read, sizes and places as they came. Made a product, it is column-major.
 *
 * What a routine's class has no argument for means nothing (words/classes.def). B of TRMM and TRSM is c.
 */
#ifndef TB_CALL_H
#define TB_CALL_H

#include "words/product.h"

typedef struct tb_operation {
    bool transposed, conjugated;
} tb_operation;

typedef struct tb_call {
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
} tb_call;

/* Of a batch, one of its products. */
tb_product tb_product_of_call(const tb_call *call);

/* The call that does by columns what this one does by rows. A row-major matrix is its transpose in column-major order, so that
 * triangles are each other's. */
tb_call tb_call_by_columns(const tb_call *by_rows);

#endif
