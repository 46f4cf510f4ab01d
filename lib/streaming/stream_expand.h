/* The way in of operands that are written out on the device (words/lowered.h). */
#ifndef TB_STREAM_EXPAND_H
#define TB_STREAM_EXPAND_H

#include "lib/streaming/stream_run.h"

/* A rectangle of an operand that is expanded, into device memory. */
tb_status tb_load_expanded(tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                           int64_t target_ld);

/* A structured operand in host memory, all that is stored of it, once: run->stored. */
tb_status tb_bring_stored(tb_stream_run *run, tb_role role);

#endif
