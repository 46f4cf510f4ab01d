/* The order of work. */
#ifndef TB_STREAM_STEPS_H
#define TB_STREAM_STEPS_H

#include "lib/streaming/stream_run.h"

/* Goes through the steps: all of C has been computed, or is being. */
tb_status tb_stream_steps(tb_stream_run *run);

#endif
