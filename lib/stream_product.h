/* A product streamed through one device's pipeline, as its tiling says. */
#ifndef TB_STREAM_PRODUCT_H
#define TB_STREAM_PRODUCT_H

#include "dispatch/plan.h"
#include "dispatch/tiling.h"
#include "lib/pipeline.h"

/* The plan tells where the operands lie. problem has at most tiling->block_m rows. *columns_done says how many columns of
 * C, from the left, hold their result; the others are as they were, or anything where beta is 0. When it returns, no
 * work is in flight. */
tb_status tb_stream_product(tb_pipeline *pipeline, const tb_problem *problem, const tb_plan *plan,
                            const tb_kernel *kernel, const tb_tiling *tiling, int64_t *columns_done);

#endif
