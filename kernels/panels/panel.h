/* Panels: the blocks of a factorization that no product does, each by one launch. Shared by C and CUDA.
 *
 * POTRF's is a triangle on the diagonal, with rows below it. Whichever is stored, to the kernel it is a lower one, L, whose rows and
 * columns have steps of their own.
 */
#ifndef TB_PANEL_H
#define TB_PANEL_H

#include <stdint.h>

#define TB_POTRF_ORDER   128 /* the most that is in a block's registers */
#define TB_POTRF_WORKERS 256

/* Beside them a warp does what they wait for, unless numbers are so large that that leaves them too few registers. */
#define TB_POTRF_THREADS(bytes_of_number) (TB_POTRF_WORKERS + ((bytes_of_number) > 8 ? 0 : 32))

/* Rows below the triangle that a block has. */
#define TB_POTRF_ROWS         64
#define TB_POTRF_ROWS_COMPLEX 32

/* Of a block: a square, a column of them, a column's part of rows below, and numbers of the diagonal; and a few words. */
#define TB_POTRF_SHARED_BYTES(bytes_of_number, rows)                                                         \
    ((16 * (16 + TB_POTRF_ORDER + (rows) + 3 * 2) + 2 * 16) * (bytes_of_number) + 64)

typedef struct tb_potrf_panel {
    void *a;
    int64_t order, rows;           /* rows: with those below the triangle */
    int64_t row_step, column_step; /* between L's rows and between its columns, in elements */
    int64_t position;              /* of its first row in the matrix that is factored */
    int64_t *
        info; /* 0, or set already: then nothing is done. Is set where a pivot is not positive: to its position, from 1 */
    void *letters; /* of several blocks: TB_POTRF_LETTER_BYTES, in which flags are 0, as they are left */
} tb_potrf_panel;

/* What blocks tell each other: how many have begun; of the triangle's columns of squares how many are finished, or that it has no factor;
 * and how many blocks have ended. And numbers: the diagonal's reciprocals and L. */
typedef struct tb_potrf_flags {
    uint32_t begun, finished, ended, unused;
} tb_potrf_flags;
#define TB_POTRF_NO_FACTOR UINT32_MAX
#define TB_POTRF_LETTER_BYTES(bytes_of_number)                                                               \
    (sizeof(tb_potrf_flags) + TB_POTRF_ORDER * (TB_POTRF_ORDER + 1) * (bytes_of_number))

#endif
