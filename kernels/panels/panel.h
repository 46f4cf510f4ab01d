/* Panels: the blocks of a factorization that no product does, each by one launch of one block of threads. Shared by C and CUDA.
 *
 * POTRF's is a triangle on the diagonal. Whichever is stored, to the kernel it is a lower one, L, whose rows and columns have
 * steps of their own.
 */
#ifndef TB_PANEL_H
#define TB_PANEL_H

#include <stdint.h>

#define TB_POTRF_ORDER   128 /* the most that is in a block's registers */
#define TB_POTRF_WORKERS 256

/* Beside them a warp does what they wait for, unless numbers are so large that that leaves them too few registers. */
#define TB_POTRF_THREADS(bytes_of_number) (TB_POTRF_WORKERS + ((bytes_of_number) > 8 ? 0 : 32))

typedef struct tb_potrf_panel {
    void *a;
    int64_t order;
    int64_t row_step, column_step; /* between L's rows and between its columns, in elements */
    int64_t position;              /* of its first row in the matrix that is factored */
    int64_t *
        info; /* 0, or set already: then nothing is done. Is set where a pivot is not positive: to its position, from 1 */
} tb_potrf_panel;

#endif
