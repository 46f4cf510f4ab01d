/* What the kernels are given that multiply by a triangle, or solve with it, in C's place: the smallest steps of TRMM and TRSM.
 * Shared by C and CUDA.
 *
 * Whatever side the triangle is on, whichever is stored and however it is read, to the kernel it is a lower triangle L on the
 * left: rows and columns have steps of their own, and those of an upper one are counted from the end, with negative steps.
 */
#ifndef TB_TRIANGULAR_H
#define TB_TRIANGULAR_H

#include <stdbool.h>
#include <stdint.h>

/* A warp has so many columns of C; columns of a block lie next to each other. */
#define TB_TRIANGULAR_COLUMNS 8
#define TB_TRIANGULAR_WARPS   4
#define TB_TRIANGULAR_THREADS (32 * TB_TRIANGULAR_WARPS)
#define TB_TRIANGULAR_BLOCKS  2 /* that fit a multiprocessor */

/* Rows of L and C that are in shared memory at a time, of which the smallest one has 64 KiB. */
#define TB_TRIANGULAR_ROWS(bytes) ((bytes) > 8 ? 32 : 64)

/* Triangles of so many of these panels are not halved again when solved, and maybe larger ones, so many times as large. */
#define TB_TRIANGULAR_PANELS_SOLVED 4
#define TB_TRIANGULAR_LARGEST       2

/* A tile of L, its columns one number apart; C beside it; and inverses of L's diagonal. */
#define TB_TRIANGULAR_SHARED_BYTES(bytes)                                                                    \
    (TB_TRIANGULAR_ROWS(bytes) *                                                                             \
     (TB_TRIANGULAR_ROWS(bytes) + 2 + TB_TRIANGULAR_WARPS * TB_TRIANGULAR_COLUMNS) * (bytes))

/* Solves: a block has so many columns of C, and a warp of it so many rows at a time. All that together is in shared memory:
 * panels of C and a tile of L for each warp, their lines so many bytes apart, and inverses of L's diagonal. */
#define TB_SOLVE_COLUMNS          32
#define TB_SOLVE_ROWS(bytes)      ((bytes) > 8 ? 8 : 16)
#define TB_SOLVE_WARPS            16
#define TB_SOLVE_THREADS          (32 * TB_SOLVE_WARPS)
#define TB_SOLVE_BLOCKS           1 /* that fit a multiprocessor */
#define TB_SOLVE_PANELS           5 /* that are in shared memory */
#define TB_SOLVE_TILE_PAD         16
#define TB_SOLVE_PANEL_PAD(bytes) ((bytes) == 8 ? 32 : 16)
#define TB_SOLVE_SHARED_BYTES(bytes)                                                                         \
    (TB_SOLVE_ROWS(bytes) * (TB_SOLVE_PANELS * (TB_SOLVE_COLUMNS * (bytes) + TB_SOLVE_PANEL_PAD(bytes)) +    \
                             TB_SOLVE_WARPS * ((TB_SOLVE_ROWS(bytes) + 1) * (bytes) + TB_SOLVE_TILE_PAD)))

/* All steps are in numbers, real or complex. */
typedef struct tb_triangular_block {
    int64_t order;                 /* of L */
    int64_t columns;               /* of C, seen from L */
    const void *a;                 /* L's first element */
    int64_t row_step, column_step; /* between L's rows and between its columns */
    void *c;                       /* the element of C's first row and column, seen from L */
    int64_t c_row_step, c_column_step;
    double alpha_re, alpha_im;
    bool scaled; /* alpha is not 1 */
    bool conjugated;
    bool unit_diagonal; /* of ones, which are not read */
    bool few_blocks;    /* most multiprocessors have none: a launch behind finds room at once */
} tb_triangular_block;

#endif
