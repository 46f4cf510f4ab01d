/* What GETRF's panels and row exchanges are told. Shared by C and CUDA. */
#ifndef TB_GETRF_H
#define TB_GETRF_H

#include <stdint.h>

#define TB_GETRF_COLUMNS         32       /* the most of a panel */
#define TB_GETRF_THREADS         256      /* the most of a block */
#define TB_GETRF_CLUSTER_MAXIMUM 16       /* blocks */
#define TB_GETRF_GRID_MAXIMUM    128      /* blocks */
#define TB_GETRF_ROWS_MAXIMUM    0x7fffff /* of all blocks: a row's number is sent with a block's in 32 bits */

/* Lanes that have a row in registers, and rows that they have: as few as there are, up to those of a deep block, which has further ones in
 * shared memory. Of complex doubles there is no deep block, whose further rows would leave no register; of floats from 12.0 on one with
 * fewer. */
#define TB_GETRF_LANES             4
#define TB_GETRF_ROWS_FP32         16
#define TB_GETRF_ROWS_FP32_SM120   8
#define TB_GETRF_ROWS_FP64         8
#define TB_GETRF_ROWS_COMPLEX_FP32 8
#define TB_GETRF_ROWS_COMPLEX_FP64 4

typedef struct tb_getrf_panel {
    void *a;
    int64_t ld;
    int32_t rows, columns; /* at least 1 */
    int32_t blocks;        /* of the cluster, or of the grid */
    int32_t rows_of_block; /* the last blocks may have fewer, or none */
    int64_t position;      /* of its first row, and of its first column, in the matrix that is factored */
    int32_t *pivots; /* min(rows, columns): the row, from 1, of the matrix that each row is exchanged with */
    int64_t *info; /* where it is 0 it is set to the matrix's column, from 1, of the first pivot that is 0 */
    void *letters; /* a grid's: TB_GETRF_LETTERS_BYTES, in which all flags are 0, as they are left */
} tb_getrf_panel;

/* What a block tells the others of a step: a row's numbers, the candidate's reciprocal, its rank among candidates, and where it is. */
#define TB_GETRF_LETTER_BYTES(bytes_of_number) (TB_GETRF_COLUMNS * (bytes_of_number) + 32)

/* Flags, one a block and one of all, and two letters a block. */
#define TB_GETRF_FLAG_BYTES ((TB_GETRF_GRID_MAXIMUM + 4) * 4)
#define TB_GETRF_LETTERS_BYTES(bytes_of_number)                                                              \
    (TB_GETRF_FLAG_BYTES + 2 * TB_GETRF_GRID_MAXIMUM * TB_GETRF_LETTER_BYTES(bytes_of_number))

#define TB_LASWP_PIVOTS  512 /* the most of a launch */
#define TB_LASWP_THREADS 512

/* Of a panel's exchange, with a warp for a column. */
#define TB_PANEL_LASWP_PIVOTS  32
#define TB_PANEL_LASWP_THREADS 128

typedef struct tb_laswp {
    void *a;
    int64_t ld, columns;
    int64_t columns_of_block;
    /* count: the row, from 1, that each row is exchanged with. By one that a does not have nothing is exchanged. */
    const int32_t *pivots;
    int32_t rows;
    int32_t first; /* the row, from 0, that the first one is for */
    int32_t count;
    int32_t backwards; /* the last exchange comes first */
    int32_t panel;     /* of a panel's exchange: the first of `count` columns that are left out */
} tb_laswp;

#endif
