/* A factorization or a solve on a device, as its two routes share it (run_factor.c): the matrices' copies there, and the sequence's steps
 * on them (factoring.c).
 */
#ifndef TB_FACTORING_H
#define TB_FACTORING_H

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
    tb_buffer beside; /* on the device: pivots, and what else panels have (factoring.c) */
    tb_held held;     /* what products take */
    bool passes;      /* the matrices do */
    void *narrowed;   /* the program's pivots in 32 bits */
    void *tile;       /* I, on its way */
    void *saved;      /* the program's A as it was, column by column, while what replaces it comes back */
    bool is_saved;    /* all of it */
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

/* Of what was to replace A not all has come: A is again as it was, if anything has. */
void tb_restore_saved(tb_factoring *work);

/* In the stream, from the program's matrices to the copies and back again, with all that lies between; all of it is done on return, or of the
 * program's matrices what `finished` says. TB_UNSUPPORTED: there is no such factor, or the device refuses something. */
tb_status tb_factor_in_stream(tb_factoring *work);

/* The same in the turn's pipeline, through which the matrices pass. */
tb_status tb_factor_in_pipeline(tb_factoring *work, tb_pipeline *pipeline);

#endif
