/* C's way back. */
#ifndef TB_STREAM_RETURN_H
#define TB_STREAM_RETURN_H

#include "lib/streaming/stream_run.h"

/* The next columns of the band are computed when the compute stream has come here. There is room for one more swath. */
tb_status tb_note_swath(tb_stream_run *run, int64_t columns);

/* Hands columns of bands to the program until so many have left the device, waiting for them as they come. */
tb_status tb_return_columns(tb_stream_run *run, int64_t columns);

/* Hands over what has left the device already. */
tb_status tb_return_ready(tb_stream_run *run);

/* Waits for the oldest slot that is being emptied. */
void tb_finish_emptying(tb_stream_run *run);

/* C lies on the device: it is written when the whole product is there. */
tb_status tb_return_on_device(tb_stream_run *run);

#endif
