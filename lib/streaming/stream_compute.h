/* The kernel: its workspace and its launches. */
#ifndef TB_STREAM_COMPUTE_H
#define TB_STREAM_COMPUTE_H

#include "lib/streaming/stream_run.h"

/* Before anything is loaded: memory for the kernel, enough for all launches that follow. */
tb_status tb_take_workspace(tb_stream_run *run);

/* Has the product computed behind what has been sent so far, swath_n columns at a time. completes: what is computed of C is complete
 * then, in all rows of the band, and each swath is on its way as soon as it is there. */
tb_status tb_compute(tb_stream_run *run, const tb_product *part, int64_t swath_n, bool completes);

#endif
