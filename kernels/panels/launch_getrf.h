/* GETRF's panels: their forms, and how they are launched (kernels/panels/launch_panel.h). */
#ifndef TB_LAUNCH_GETRF_H
#define TB_LAUNCH_GETRF_H

#include "kernels/kernel.h"

typedef enum tb_getrf_form {
    TB_GETRF_NONE, /* no kernel has room for the panel */
    TB_GETRF_ALONE,
    TB_GETRF_CLUSTER,
    TB_GETRF_GRID, /* its blocks wait for each other, so that all have to run at a time: a cooperative launch */
    TB_GETRF_FORMS
} tb_getrf_form;

/* Rows that lanes have in registers; deep blocks have further ones in shared memory. */
typedef enum tb_getrf_depth {
    TB_GETRF_ROWS_4,
    TB_GETRF_ROWS_8,
    TB_GETRF_DEEP,
    TB_GETRF_DEPTHS
} tb_getrf_depth;

typedef struct tb_getrf_shape {
    tb_getrf_form form;
    tb_getrf_depth depth;
    int blocks, rows_of_block, threads, shared_bytes;
} tb_getrf_shape;

extern tb_entry tb_entries_getrf[TB_GETRF_FORMS][TB_GETRF_DEPTHS][TB_ELEMENTS];

/* The most rows that a panel may have for a form with so many blocks; 0: a device of this architecture does not run it. */
int64_t tb_getrf_rows_maximum(tb_getrf_form form, tb_element element, int architecture, int blocks);

/* The smallest form that such a device runs: a block, a cluster, or a grid. */
tb_getrf_shape tb_choose_getrf(tb_target target, tb_element element, int64_t rows);

/* The most rows for which it runs one. */
int64_t tb_getrf_rows_on(tb_target target, tb_element element);

/* So many blocks of a form; TB_GETRF_NONE where they have no room for so many rows. */
tb_getrf_shape tb_shape_getrf(tb_getrf_form form, tb_element element, int architecture, int64_t rows,
                              int blocks);

/* The same of blocks of so many threads, a multiple of 32 up to TB_GETRF_THREADS. */
tb_getrf_shape tb_shape_getrf_of(tb_getrf_form form, tb_element element, int architecture, int64_t rows,
                                 int blocks, int threads);

/* Device memory that a grid needs beside the panel: the caller sets all of it to 0 once, and panels that wait for each other may
 * use it in turn. */
size_t tb_getrf_workspace(tb_element element);

/* Factors a panel of at most TB_GETRF_COLUMNS columns that begins at a position of the matrix, in its rows and in its columns. pivots and
 * info are in device memory: kernels/panels/getrf.h. Refused, TB_UNSUPPORTED, are shapes that have no room for it, and grids whose blocks
 * do not run at a time. */
tb_status tb_launch_getrf(const tb_launcher *launcher, tb_getrf_shape shape, const tb_matrix *panel,
                          int64_t position, int32_t *pivots, int64_t *info, void *workspace);

#endif
