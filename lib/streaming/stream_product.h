/* A product streamed through one device's pipeline, as its tiling says. */
#ifndef TB_STREAM_PRODUCT_H
#define TB_STREAM_PRODUCT_H

#include "dispatch/plan.h"
#include "dispatch/part_schedules.h"
#include "lib/streaming/exchange.h"
#include "lib/streaming/pipeline.h"

/* What one device computes of a call. */
typedef struct tb_streamed_region {
    tb_product given;   /* by the program; what is lowered is never cut into regions */
    tb_product product; /* what is multiplied: of it, or of what it is lowered to */
    const tb_plan *plan;
    const tb_kernel *kernel;
    tb_side *side;           /* of the exchange with another region's device; NULL: there is none */
    _Atomic(uint32_t) *seen; /* the call's: numbers in C that are not finite (not_finite.h) */
    void *
        programs_stream; /* which orders the work that makes operands on the device; NULL: the legacy default stream */
} tb_streamed_region;

/* What of C holds its result: its first rows, and of those that follow, next_rows of them, so many columns from the
 * left. The rest is as it was, or anything where beta is 0. */
typedef struct tb_progress {
    int64_t rows, next_rows, columns;
} tb_progress;

/* Rows of the region's product, tiling->block_m at most; what of them is expanded comes from the product that was given. When it
 * returns, no work is in flight. */
tb_status tb_stream_product(tb_pipeline *pipeline, const tb_streamed_region *region,
                            const tb_product *product, const tb_tiling *tiling, tb_part_schedules *schedules,
                            tb_progress *done);

/* The whole region, as it is cut by the device memory that may be taken for it: with less and less, while that is what is missing and
 * nothing has been written. Says how far it has come. */
tb_status tb_stream_region(tb_pipeline *pipeline, const tb_streamed_region *region, tb_progress *done);

#endif
