/* A product streamed through one device's pipeline, as its tiling says. */
#ifndef TB_STREAM_PRODUCT_H
#define TB_STREAM_PRODUCT_H

#include "dispatch/plan.h"
#include "dispatch/tiling.h"
#include "lib/streaming/pipeline.h"

/* What of C holds its result: its first rows, and of those that follow, next_rows of them, so many columns from the
 * left. The rest is as it was, or anything where beta is 0. */
typedef struct tb_progress {
    int64_t rows, next_rows, columns;
} tb_progress;

/* The plan tells where the operands lie. product has at most tiling->block_m rows; what of it is expanded comes from
 * the product that was given. When it returns, no work is in flight. */
tb_status tb_stream_product(tb_pipeline *pipeline, const tb_product *product, const tb_product *given,
                            const tb_plan *plan, const tb_kernel *kernel, const tb_tiling *tiling,
                            tb_progress *done);

#endif
