/* What the kernel is given that mends a triangular product: columns of C, seen from L (triangular.h), that had numbers which are
 * not finite are computed again from a copy of C, with what the triangle stores and nothing else. Shared by C and CUDA.
 */
#ifndef TB_MEND_H
#define TB_MEND_H

#include "kernels/triangular/triangular.h"

#define TB_MEND_THREADS 256
#define TB_MEND_COLUMNS 32 /* of C that a note tells of, and a block has */
#define TB_MEND_PIECES  8  /* that L's rows are dealt in, at most */

typedef struct tb_mend {
    tb_triangular_block x;
    const void *copy; /* of C: the element of its first row and column, seen from L */
    int64_t copy_row_step, copy_column_step;
    const uint32_t *notes;
    int64_t notes_of_columns; /* of each TB_MEND_COLUMNS columns, so many, one for each piece of L's rows */
    int64_t note_step, group_step;
    int64_t groups; /* of columns: blocks that have the same rows */
} tb_mend;

#endif
