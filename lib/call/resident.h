/* Products of matrices that a device reaches, as the resident route does them: for sequences of them in one stream. */
#ifndef TB_RESIDENT_H
#define TB_RESIDENT_H

#include "dispatch/plan.h"
#include "lib/device/device.h"
#include "lib/device/memory.h"

enum { TB_OUTGROWN_MOST = 16 };

/* What one product holds, or several in one stream one after the other, released in one place whatever happened. */
typedef struct tb_held {
    size_t bytes;                    /* that buffers were taken for */
    tb_buffer written_out[TB_B + 1]; /* copies of A and B in pitched memory, or what they are expanded to */
    tb_buffer workspace, zero;
    tb_buffer sums;   /* to be folded */
    tb_buffer tables; /* of a batch's matrices that are not equally far apart: where each begins */
    void **listed;    /* the same in host memory, while they are sent */
    int64_t chunk;    /* steps of k that there is room for at a time */
    tb_buffer outgrown[TB_OUTGROWN_MOST]; /* of earlier products in the stream, too small for a later one */
    int outgrown_count;
    bool is_used;    /* by what the stream holds: another product's */
    bool has_begun;  /* something has been added to C */
    bool overwrites; /* what lay in C does not count */
    void *saved_c; /* C as the caller left it, in host memory, column after column; NULL: there is no copy */
} tb_held;

/* Decides how the product is computed, whose matrices all lie at the place, and enqueues it. held->bytes is what the
 * call holds of the device's memory already. What the product holds is given back when the
 * stream has come to rest, also after a failure; or it serves the next product in the stream. TB_OUT_OF_MEMORY where other products in
 * the stream use some of it: without that there may be enough. */
tb_status tb_enqueue_resident(tb_stream *stream, const tb_product *product, const tb_place *place,
                              tb_held *held);
void tb_give_held(tb_held *held);

#endif
