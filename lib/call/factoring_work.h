/* What a factorization or a solve on a device works with: the matrices' copies there and what lies beside them, and the sequence's steps on
 * them.
 */
#ifndef TB_FACTORING_WORK_H
#define TB_FACTORING_WORK_H

#include "dispatch/plan.h"
#include "lib/call/resident.h"
#include "lib/streaming/copy_threads.h"
#include "lib/streaming/passing.h"
#include "sequences/sequence.h"

enum { TB_FACTORED_MOST = 2 };

/* A or B. */
typedef struct tb_factored {
    tb_product stored; /* whose C is the program's matrix, masked */
    tb_place place;    /* of that */
    tb_buffer memory;  /* of the copy */
    tb_matrix there;
    tb_passing passing; /* where it passes */
    int64_t walked;     /* columns that are finished in the copy once it is at rest, where info is 0 */
    int64_t finished;   /* columns that are in the program's matrix */
} tb_factored;

typedef struct tb_factoring {
    tb_visitor visitor;
    const tb_factor *factor; /* the program's */
    const tb_plan *plan;
    tb_factored matrices[TB_FACTORED_MOST];
    tb_factor there; /* of the copies */
    tb_stream *stream;
    tb_buffer beside; /* on the device: pivots, and what else panels have (factoring_work.c) */
    tb_held held;     /* what products take */
    bool passes;      /* the matrices do */
    void *narrowed;   /* the program's pivots in 32 bits */
    void *further;    /* of these, where QR's steps write, or what replaces A is made of */
    void *given;      /* what goes there first, on its way */
    void *saved;      /* the program's A as it was, column by column, while what replaces it comes back */
    int64_t saved_columns;
    tb_copy_job saving;
    int64_t info;   /* that ends the factorization */
    int64_t result; /* LAPACK's, where the device knows it */
} tb_factoring;

static inline int tb_factored_count(const tb_factoring *work)
{
    return tb_solves(work->factor) ? 2 : 1;
}

/* TB_OUT_OF_MEMORY: also where the option DEVICE_MEMORY allows less. */
tb_status tb_take_factoring_memory(tb_factoring *work);

/* The device has come to rest. */
void tb_give_factoring_memory(tb_factoring *work);

/* From the program's matrices to the copies, all of them; or as steps need them, through a pipeline. */
tb_status tb_load_factored(tb_factoring *work);
tb_status tb_pass_factored(tb_factoring *work, tb_pipeline *pipeline);

/* ---- Steps ------------------------------------------------------------------------------------------------ */

tb_status tb_take_factoring_step(tb_factoring *work, const tb_sequence_step *step);

/* So many columns of a matrix, counted from the left. */
tb_status tb_finish_factored(tb_factoring *work, int number, int64_t columns);

/* To the program's matrix in device memory. Blocks before one in which a pivot is not positive are finished: no step behind them writes to
 * them. */
tb_status tb_store_a(tb_factoring *work);
tb_status tb_store_b(tb_factoring *work);

/* ---- Beside the matrices ---------------------------------------------------------------------------------- */

bool tb_exchanges_rows(const tb_factoring *work);

/* Into the caller's integers; and of a solve by factors that are there: one that is no row exchanges nothing. */
tb_status tb_tell_pivots(tb_factoring *work);
tb_status tb_send_pivots(tb_factoring *work);

/* What steps by reflectors that are there are given (sequences/generate.h). */
tb_status tb_send_reflectors(tb_factoring *work);

/* Whether reflectors are made. */
bool tb_reflects(const tb_factoring *work);

/* tau of columns that are finished, which are so many, is in the program's memory before they are; or INT64_MAX: all of it. */
tb_status tb_tell_tau(tb_factoring *work, int64_t columns);

#endif
