/* GEQRF's panels as the layers above see them. */
#ifndef TB_LAUNCH_GEQRF_H
#define TB_LAUNCH_GEQRF_H

#include "kernels/kernel.h"

typedef enum tb_geqrf_form {
    TB_GEQRF_NONE, /* no kernel takes the panel */
    TB_GEQRF_ALONE,
    TB_GEQRF_CLUSTER,
    TB_GEQRF_GRID, /* its blocks wait for each other, so that all have to run at a time: a cooperative launch */
    TB_GEQRF_FORMS
} tb_geqrf_form;

typedef struct tb_geqrf_shape {
    tb_geqrf_form form;
    int blocks, rows_of_block;
    int layers_in_shared, shared_bytes; /* kernels/panels/geqrf.h */
    bool on_chip;                       /* each row is in registers or shared memory */
} tb_geqrf_shape;

extern tb_entry tb_entries_geqrf[TB_GEQRF_FORMS][TB_ELEMENTS];

/* What a panel becomes, all in device memory. */
typedef struct tb_geqrf_results {
    void *tau; /* min(rows, columns) numbers */
    void *t;   /* the triangle of the product of reflectors, I - V T V'; below it zeros */
    int64_t ld_of_t;
    void *v; /* V as a matrix, with its ones and zeros; NULL: not wanted */
    int64_t ld_of_v;
} tb_geqrf_results;

/* The most rows for which each of so many blocks of a form has its own on the chip; 0: a device of this architecture does not run it. */
int64_t tb_geqrf_rows_on_chip(tb_geqrf_form form, tb_element element, int architecture, int blocks);

/* So many blocks of a form; TB_GEQRF_NONE where the device does not run it, or where there is no room for so many rows. A grid takes any:
 * those for which there is no room on the chip it reads and writes again in each step. */
tb_geqrf_shape tb_shape_geqrf(tb_geqrf_form form, tb_element element, int architecture, int64_t rows,
                              int blocks);

/* The smallest form of those with a block, with a cluster that the device runs, and with a grid. */
tb_geqrf_shape tb_choose_geqrf(tb_target target, tb_element element, int64_t rows);

/* Device memory that a grid needs beside the panel: the caller sets all of it to 0 once, and panels that wait for each other may
 * use it in turn. */
size_t tb_geqrf_workspace(tb_element element);

/* Factors a panel of at most TB_GEQRF_COLUMNS columns. */
tb_status tb_launch_geqrf(const tb_launcher *launcher, tb_geqrf_shape shape, const tb_matrix *panel,
                          const tb_geqrf_results *results, void *workspace);

#endif
