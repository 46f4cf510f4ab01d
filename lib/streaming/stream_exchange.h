/* Halves of what two devices bring for each other (exchange.h). */
#ifndef TB_STREAM_EXCHANGE_H
#define TB_STREAM_EXCHANGE_H

#include "lib/streaming/stream_run.h"

/* Whether another device brings half of the operand. */
bool tb_is_halved(const tb_stream_run *run, tb_role role);

/* Columns of a transfer that are exchanged at a time, from the given one on. The part has them from columns, as they lie in the
 * program's memory. */
tb_transfer tb_exchanged_part(const tb_stream_run *run, const tb_transfer *transfer, int64_t first,
                              tb_matrix *columns);

/* This side's half of such a part, which has two columns or more. */
tb_transfer tb_own_half(const tb_stream_run *run, const tb_transfer *part, tb_matrix *columns);

/* The own half is in slots, the last of which is to be sent; the other one is missing from now on. */
void tb_miss_half(tb_stream_run *run, const tb_transfer *part, const tb_transfer *own);

/* A slot is on its way, and the event comes behind it. If it completes the own half, the other side is told. */
void tb_post_half(tb_stream_run *run, tb_event *arrived);

/* Waits for what the other side tells of the missing half, and has it copied from there: the compute stream will find it. Where
 * the other side does not bring it, is_coming is false, and the exchange is over. */
tb_status tb_copy_half(tb_stream_run *run, bool *is_coming);

#endif
