/* One device's region of a streamed product: how it is cut, by the device memory that may be taken for it, and streamed. */
#ifndef TB_STREAM_REGION_H
#define TB_STREAM_REGION_H

#include "lib/streaming/stream_product.h"

typedef struct tb_streamed_region {
    tb_product given;   /* by the program; what is lowered is never cut into regions */
    tb_product product; /* what is multiplied: of it, or of what it is lowered to */
    const tb_plan *plan;
    const tb_kernel *kernel;
} tb_streamed_region;

/* With less and less memory, while that is what is missing and nothing has been written. Says how far it has come. */
tb_status tb_stream_region(tb_pipeline *pipeline, const tb_streamed_region *region, tb_progress *done);

#endif
