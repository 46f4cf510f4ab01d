/* Copies of operands to and from devices. */
#ifndef TB_COPIES_H
#define TB_COPIES_H

#include "lib/device/device.h"
#include "words/product.h"

/* Every copy of operands goes through here, so that bytes moved over the link are counted. Ordinary memory goes by way of pinned
 * memory where the stream's device does not copy it (copies_pageable): then it has been read, or written, on return. */
tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy);

/* Enqueues a copy of the operand, all of which is stored, to target, whose columns lie target_ld elements apart. */
tb_status tb_copy_operand(tb_stream *stream, tb_direction direction, const tb_matrix *operand, void *target,
                          int64_t target_ld);

/* The same for what belongs to the product's mask of a matrix like its C: within the device by one command, over the link column by
 * column where that is not all of it. Says for how many columns that has been done, also when the next one fails. */
tb_status tb_copy_masked(tb_stream *stream, tb_direction direction, const tb_product *product,
                         const tb_matrix *from, void *target, int64_t target_ld, int64_t *columns);

/* Bytes that the calling thread's copies have moved over the link, or another one's on behalf of its call, since it was last
 * asked. */
void tb_add_link_bytes(double bytes);
double tb_take_link_bytes(void);

#endif
