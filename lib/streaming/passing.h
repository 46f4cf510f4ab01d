/* A matrix in passing: one in the program's memory that a device changes in a copy of its own, of which columns are brought as they are
 * needed, and go back as they are finished, in order. What is not finished stays in the program's memory as it is.
 */
#ifndef TB_PASSING_H
#define TB_PASSING_H

#include "lib/streaming/pipeline.h"
#include "words/product.h"

enum { TB_PASSING_INFOS = 1 + TB_SWATHS_IN_FLIGHT };

/* Columns are counted from the left. */
typedef struct tb_passing {
    tb_pipeline *pipeline;
    const tb_product *stored; /* whose C is the program's matrix, and whose mask is what passes of it */
    tb_matrix there;          /* the copy */
    tb_matrix results;        /* from where columns go back: the copy, or another matrix as large */
    /* On the device, TB_PASSING_INFOS of them. The first is 0 as long as columns are good, or else the first that is not, from 1: it
     * does not go back, nor do those that would leave with it. The others are what it was when columns had been finished. */
    int64_t *infos;
    size_t cleared; /* bytes from there on, which begin as 0 */
    int64_t found;  /* the same, where it was seen */
    int64_t brought, finished, leaving,
        returned; /* finished: by work that has been enqueued; returned: in the program's memory */
    int64_t ends[TB_SWATHS_IN_FLIGHT]; /* of what was finished at a time, and is not all leaving */
    int first_end, end_count;
    int next_in, first_out, out_count;
    bool
        is_second; /* of two matrices that pass at a time, the first of which has the slots on the way out to itself until it has been
                         returned: begun behind it, and ended with it */
    size_t bytes_behind; /* of that second one */
    bool has_helpers;
} tb_passing;

/* Of a matrix of which the rest is filled in. Nobody else uses the pipeline until tb_end_passing. */
tb_status tb_begin_passing(tb_passing *passing);

/* Work that is enqueued from now on in the pipeline's compute stream finds so many columns. */
tb_status tb_bring_columns(tb_passing *passing, int64_t columns);

/* So many are finished by what has been enqueued there. Those that have come back by now are copied into the program's matrix. */
tb_status tb_finish_columns(tb_passing *passing, int64_t columns);

/* Waits for all that are finished. TB_UNSUPPORTED: info is no 0. */
tb_status tb_return_finished(tb_passing *passing);

/* Whatever happened: nothing is in flight any more. */
void tb_end_passing(tb_passing *passing, tb_status status);

/* The same for a thread that leaves its call (lib/process/leaving.h); in the middle of an operation of the device: of that nothing is
 * given back. */
void tb_leave_passing(tb_passing *passing, bool in_the_middle);

#endif
