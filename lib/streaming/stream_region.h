/* One device's region of a streamed product: how it is cut, by the device memory that may be taken for it, and streamed. */
#ifndef TB_STREAM_REGION_H
#define TB_STREAM_REGION_H

#include "lib/streaming/stream_product.h"

/* With less and less memory, while that is what is missing and nothing has been written. Says how far it has come. */
tb_status tb_stream_region(tb_pipeline *pipeline, const tb_streamed_region *region, tb_progress *done);

#endif
