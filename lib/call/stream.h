/* The calling thread's CUDA stream, as tileblas_set_stream left it, and work in it. */
#ifndef TB_STREAM_H
#define TB_STREAM_H

#include "lib/device/device.h"

/* NULL is the legacy default stream. */
void *tb_callers_stream(void);

/* Adopts the stream for a place, has work enqueue into it, and waits until all of it is done, also when enqueuing failed or the
 * caller leaves. */
typedef tb_status tb_stream_work(tb_stream *stream, void *argument);
tb_status tb_in_callers_stream(const tb_place *place, tb_stream_work *work, void *argument);

/* The same in a stream that is made for it, where the program's own has nothing to do with it. */
tb_status tb_in_own_stream(const tb_place *place, tb_stream_work *work, void *argument);

#endif
