/* A factorization or a solve on a device, as its two routes share it (run_factor.c). */
#ifndef TB_FACTORING_H
#define TB_FACTORING_H

#include "lib/call/factoring_work.h"

/* In the stream, from the program's matrices to the copies and back again, with all that lies between; all of it is done on return, or of the
 * program's matrices what `finished` says. TB_UNSUPPORTED: there is no such factor, or the device refuses something. */
tb_status tb_factor_in_stream(tb_factoring *work);

/* The same in the turn's pipeline, through which the matrices pass. */
tb_status tb_factor_in_pipeline(tb_factoring *work, tb_pipeline *pipeline);

#endif
