/* The calling thread's CUDA stream, as tileblas_set_stream left it. */
#ifndef TB_STREAM_H
#define TB_STREAM_H

/* NULL is the legacy default stream. */
void *tb_callers_stream(void);

#endif
