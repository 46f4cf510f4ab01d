/* What the kernels that expand operands (words/lowered.h) are given: target = factor * op(source). Shared by C and CUDA.
 *
 * Numbers are real or complex; the target is made of reals. Of a complex number it has two in a column or, embedded, a block of
 * four:
 *
 *     re + i im    ->    re         re  -im
 *                        im   or    im   re
 */
#ifndef TB_EXPAND_H
#define TB_EXPAND_H

#include "kernels/batches.h"
#include "words/structure.h"

#define TB_EXPAND_THREADS 256
#define TB_EXPAND_TILE    32 /* rows and columns of a tile; bits of a note */

/* Bytes that a thread writes at a time, where the target's columns are aligned to them; and how many numbers these are. */
#define TB_EXPAND_VECTOR_BYTES  16
#define TB_EXPAND_VECTOR(bytes) (TB_EXPAND_VECTOR_BYTES / (bytes))

typedef struct tb_expand {
    tb_batches batches; /* sources by A's stride or table, targets by C's */
    int32_t tiles;      /* of one matrix */
    const void *source;
    void *target;
    int64_t rows, columns; /* of op(source), in numbers */
    int64_t source_ld;     /* in numbers */
    int64_t target_ld;     /* in reals */
    int64_t diagonal;      /* the source's, as an operand's */
    double re, im;         /* the factor */
    int32_t structure;     /* a tb_structure */
    int32_t stored;        /* a tb_triangle */
    bool transposed, conjugated, unit_diagonal;
    bool embedded;
    bool scaled;        /* the factor is not 1 */
    bool source_whole;  /* numbers of the source are aligned to their size */
    bool source_vector; /* its columns are to 16 bytes */
    bool target_whole;  /* numbers of the target are aligned to their size */
    bool notes_rows;    /* rather than columns */
    /* For each tile a word of bits: which of its columns have numbers that are not finite. NULL: nobody asks; nor of a batch. */
    uint32_t *notes;
} tb_expand;

#endif
