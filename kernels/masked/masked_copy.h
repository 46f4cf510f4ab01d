/* What the kernels that make masked copies (words/masked_copy.h) are given. Shared by C and CUDA. */
#ifndef TB_MASKED_COPY_H
#define TB_MASKED_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Of a block's tile; a row is a thread's, which has all of its columns on their way at a time. */
#define TB_MASKED_ROWS    256
#define TB_MASKED_COLUMNS 8

/* Rows are of real numbers: a row of complex ones is two. */
typedef struct tb_masked_arguments {
    const void *source;
    void *target;
    int64_t rows, columns;
    int64_t ld_source, ld_target;
    int64_t diagonal;
    int32_t row_bits; /* to the mask, 1 << row_bits rows are one */
    bool lower;
    uint32_t blocks_of_rows;
} tb_masked_arguments;

#endif
