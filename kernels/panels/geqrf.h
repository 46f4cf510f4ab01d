/* What GEQRF's panels are told. Shared by C and CUDA. */
#ifndef TB_GEQRF_H
#define TB_GEQRF_H

#include <stdint.h>

#define TB_GEQRF_COLUMNS         32 /* the most of a panel */
#define TB_GEQRF_THREADS         256
#define TB_GEQRF_CLUSTER_MAXIMUM 16  /* blocks; more than 8 have to be allowed for each kernel */
#define TB_GEQRF_GRID_MAXIMUM    128 /* blocks */

/* A block has its rows by layers, of which each warp has as many rows as a panel has columns: the panel's first ones are one warp's. */
#define TB_GEQRF_ROWS_OF_WARP  TB_GEQRF_COLUMNS
#define TB_GEQRF_ROWS_OF_LAYER (TB_GEQRF_THREADS / 32 * TB_GEQRF_ROWS_OF_WARP)

/* Layers that are in registers. A grid has more: in shared memory, as far as there is room, and others where the panel is; that costs it
 * registers. */
#define TB_GEQRF_LAYERS_FP32              5
#define TB_GEQRF_LAYERS_FP64              3
#define TB_GEQRF_LAYERS_COMPLEX_FP32      3
#define TB_GEQRF_LAYERS_COMPLEX_FP64      1
#define TB_GEQRF_GRID_LAYERS_FP32         5
#define TB_GEQRF_GRID_LAYERS_FP64         2
#define TB_GEQRF_GRID_LAYERS_COMPLEX_FP32 2
#define TB_GEQRF_GRID_LAYERS_COMPLEX_FP64 1

typedef struct tb_geqrf_panel {
    void *a;
    int64_t ld;
    int32_t rows, columns; /* at least 1 */
    int32_t blocks;        /* of the cluster, or of the grid */
    int32_t rows_of_block; /* a multiple of TB_GEQRF_ROWS_OF_WARP; the last blocks may have fewer, or none */
    int32_t layers_in_shared; /* a grid's, behind those in registers */
    void *tau;                /* steps: min(rows, columns) */
    void *t;                  /* steps x steps: the block reflector's triangle, below it zeros */
    int64_t ld_of_t;
    void *v; /* rows x steps: the reflectors with their ones and zeros; NULL: not wanted */
    int64_t ld_of_v;
    void *letters; /* a grid's: TB_GEQRF_LETTERS_BYTES, in which all flags are 0, as they are left */
} tb_geqrf_panel;

/* What warps, or blocks, tell each other in numbers: one a column. Of two steps, in turn. */
#define TB_GEQRF_LETTERS(count) (2 * (count)*TB_GEQRF_COLUMNS)

/* Numbers of shared memory: the sums of a block's warps and the row of the step; what each form has beside them; the column of the step,
 * of each warp and layer by quarters of 8 and so many bytes more; the triangle; powers of two, one a column; and what has been found of a
 * step.
 */
#define TB_GEQRF_OF_WARPS         TB_GEQRF_LETTERS(TB_GEQRF_THREADS / 32 + 1)
#define TB_GEQRF_OF_CLUSTER       TB_GEQRF_LETTERS(TB_GEQRF_CLUSTER_MAXIMUM + 1)
#define TB_GEQRF_OF_GRID          (TB_GEQRF_THREADS + TB_GEQRF_COLUMNS)
#define TB_GEQRF_LINE             (TB_GEQRF_COLUMNS + 1)
#define TB_GEQRF_TRIANGLE         (TB_GEQRF_COLUMNS * TB_GEQRF_LINE)
#define TB_GEQRF_OF_STEP          (TB_GEQRF_COLUMNS + 4)
#define TB_GEQRF_BETWEEN_QUARTERS 16

#define TB_GEQRF_OF_CLUSTER_BYTES 16 /* two barriers */

/* Bytes of the column of the step in a layer of a warp; of a layer in shared memory, whose columns are 4 numbers more apart. */
#define TB_GEQRF_STAGED_BYTES(bytes_of_number) (4 * (8 * (bytes_of_number) + TB_GEQRF_BETWEEN_QUARTERS))
#define TB_GEQRF_SHARED_COLUMN                 (TB_GEQRF_ROWS_OF_LAYER + 4)
#define TB_GEQRF_LAYER_BYTES(bytes_of_number)  (TB_GEQRF_COLUMNS * TB_GEQRF_SHARED_COLUMN * (bytes_of_number))

/* Flags, one a block and one of all, and of two steps the sums of each block and a row. */
#define TB_GEQRF_FLAG_BYTES ((TB_GEQRF_GRID_MAXIMUM + 4) * 4)
#define TB_GEQRF_LETTERS_BYTES(bytes_of_number)                                                              \
    (TB_GEQRF_FLAG_BYTES + TB_GEQRF_LETTERS(TB_GEQRF_GRID_MAXIMUM + 1) * (bytes_of_number))

#endif
