/* Helpers of the threads that copy (copy_threads.h), where a device may be another process's. */
#ifndef TB_CALL_HELPERS_H
#define TB_CALL_HELPERS_H

#include "lib/streaming/pipeline.h"

/* As tb_copy_call_helpers; a server is told which cores they leave. */
void tb_call_helpers(const tb_pipeline *pipeline, size_t bytes, int links);

#endif
