/* The kernel: its workspace and its launches. */
#ifndef TB_STREAM_COMPUTE_H
#define TB_STREAM_COMPUTE_H

#include "lib/streaming/stream_run.h"

/* Before anything is loaded: memory for the kernel, enough for all launches that follow. */
tb_status tb_take_workspace(tb_stream_run *run);

/* Products that follow find loaded what has been sent so far. */
tb_status tb_follow_loading(tb_stream_run *run);

/* Launches a part of the product, behind what has been launched before. */
tb_status tb_compute(tb_stream_run *run, const tb_product *part);

#endif
