/* What the kernel is given that mends a triangular product: columns of C that had numbers which are not
 * finite are computed again from a copy of C, with what the triangle stores and nothing else. The triangle is
 * a lower one on the left, L, as triangular.h sees it. Shared by C and CUDA.
 */
#ifndef TB_MEND_H
#define TB_MEND_H

#include <stdbool.h>
#include <stdint.h>

#define TB_MEND_THREADS 256
#define TB_MEND_COLUMNS 32 /* of C that a note tells of, and a block has */
#define TB_MEND_PIECES  8  /* that L's rows are dealt in, at most */

/* Its element of the first row and column, and what lies between rows and between columns, in numbers. */
typedef struct tb_mend_matrix {
    void *first;
    int64_t row_step, column_step;
} tb_mend_matrix;

typedef struct tb_mend {
    int64_t order; /* of L */
    tb_mend_matrix l, c, copy;
    double alpha_re, alpha_im;
    bool conjugated;
    bool unit_diagonal;
    const uint32_t *notes;
    int64_t notes_of_columns; /* of each TB_MEND_COLUMNS columns so many, one for each piece of L's rows */
    int64_t note_step, group_step;
    int64_t groups; /* of columns: blocks that have the same rows */
} tb_mend;

#endif
