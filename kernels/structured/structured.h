/* What the kernels are given that read operands as they lie, whatever their structure: the product with all that it may have
 * (words/product.h), but a second term. Shared by C and CUDA.
 */
#ifndef TB_STRUCTURED_H
#define TB_STRUCTURED_H

#include "kernels/batches.h"
#include "words/structure.h"

#define TB_STRUCTURED_TILE_M  32
#define TB_STRUCTURED_TILE_N  8
#define TB_STRUCTURED_THREADS (TB_STRUCTURED_TILE_M * TB_STRUCTURED_TILE_N)
#define TB_STRUCTURED_BLOCKS  4 /* on a multiprocessor */

/* What reading an operand takes; a field means what it does in tb_operand. */
typedef struct tb_structured_operand {
    const void *data;
    int64_t ld;
    int64_t diagonal;
    int32_t structure; /* a tb_structure */
    int32_t stored;    /* a tb_triangle */
    bool transposed, conjugated, unit_diagonal;
} tb_structured_operand;

typedef struct tb_structured {
    int64_t m, n, k;
    tb_structured_operand a, b;
    void *c;
    int64_t ldc;
    double alpha_re, alpha_im, beta_re, beta_im;
    int64_t mask_diagonal; /* the product's */
    int64_t c_diagonal;    /* C's own, where its structure is Hermitian */
    int32_t mask;          /* a tb_triangle */
    int32_t mask_step;
    bool c_hermitian;
    tb_batches batches;
    int32_t tiles; /* of one product */
} tb_structured;

#endif
