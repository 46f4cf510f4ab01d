/* One slot on the way in, and what it is filled with. */
#ifndef TB_STREAM_LOAD_H
#define TB_STREAM_LOAD_H

#include "lib/streaming/stream_run.h"

/* How a rectangle of an operand gets to device memory by the load stream. Where it is not a part of a higher one there, what lies
 * between its columns may be overwritten. */
tb_transfer tb_make_transfer(const tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                             int64_t target_ld, bool is_part);

/* Whether the link reads it where it lies, in the program's memory: nothing is remembered of it then, and nobody has looked at
 * it. */
bool tb_goes_straight(const tb_stream_run *run, tb_role role, const tb_transfer *transfer);

/* Columns that a slot takes. */
int64_t tb_columns_in_slot(const tb_stream_run *run, const tb_transfer *transfer);

/* Has the host's threads fill the slot with so many columns; columns whose prints are known are compared with them instead. */
void tb_fill_slot(const tb_stream_run *run, const tb_transfer *transfer, tb_slot *slot, tb_range columns);

/* Waits until it is full, and has the link read it; nothing is sent where the same is on the device already. */
tb_status tb_send_slot(const tb_stream_run *run, tb_slot *slot, bool *is_sent);

#endif
