/* Operands that other processes have sent: the server keeps copies of them (lib/device/others_copies.h), with the fingerprints that were
 * taken on their way. A copy that is found is looked at as the operand cache looks at its own. Used by one product at a time, as
 * its pipeline is.
 */
#ifndef TB_OTHERS_COPIES_H
#define TB_OTHERS_COPIES_H

#include "lib/streaming/pipeline.h"

/* Fingerprints, by the key that all clients of the device's server have, if there is one. False: there are none. */
bool tb_fingerprints_ready_for(int device);

/* The operand that the cache has just not found, for it is new, or others' data now, if the server knows it; else NULL, and the server is
 * told of it. */
tb_cached_operand *tb_find_elsewhere(tb_pipeline *pipeline);

/* Device memory that was taken for the copy, of which nothing is known, becomes the server's copy, by the load stream, if there is one:
 * its fingerprints are known then. */
tb_status tb_fetch_copy(tb_pipeline *pipeline, tb_cached_operand *operand, const tb_buffer *buffer);

/* After a product that has succeeded: the server may make a copy of what is in the buffer. */
void tb_offer_copy(tb_pipeline *pipeline, tb_cached_operand *operand, const tb_buffer *buffer);

#endif
