/* What the kernels that copy a part of a matrix are given. Shared by C and CUDA. */
#ifndef TB_MASKED_COPY_H
#define TB_MASKED_COPY_H

#include <stdbool.h>
#include <stdint.h>

#define TB_MASKED_ROWS    256 /* of a block, in real numbers: one a thread */
#define TB_MASKED_COLUMNS 32

/* Rows are of real numbers: a complex one has two. A column's rows from its edge on, or those before it. */
typedef struct tb_masked_arguments {
    const void *source;
    void *target;
    int64_t rows, columns;
    int64_t ld_source, ld_target; /* in real numbers */
    int64_t edge, step;           /* of column j the row edge + step * j */
    int64_t row_blocks;
    bool from_edge;
} tb_masked_arguments;

#endif
