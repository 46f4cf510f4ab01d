/* The pump: of a streamed product that is under way, it alone knows what is due. While one slot is filled the one before is
 * sent; a product is launched when the last of its operands has been sent; what has left the device is handed to the program in
 * between. The steps, and what brings expanded operands, say what is to come. What fills, sends, computes and returns does as it
 * is told.
 */
#ifndef TB_STREAM_PUMP_H
#define TB_STREAM_PUMP_H

#include "lib/streaming/stream_run.h"

/* Brings the transfer through slots. The last of them stays to be sent, by what comes next or by tb_send_filled. */
tb_status tb_pump(tb_stream_run *run, const tb_transfer *transfer);

/* The same where another device brings half of the columns. */
tb_status tb_pump_in_halves(tb_stream_run *run, const tb_transfer *transfer);

/* Sends what the last slot has been filled with. */
tb_status tb_send_filled(tb_stream_run *run);

/* A product of what has been brought, to be computed swath_n columns at a time. completes: what is computed of C is complete
 * then, in all rows of the band, and each swath is on its way as soon as it is there. While the last of its operands is in a
 * slot that is being filled, the product is due: launching it takes the calling thread half as long as a slot takes to fill, and
 * the next is to be filled meanwhile. Nothing may be loaded in place of its operands. */
tb_status tb_compute_when_sent(tb_stream_run *run, const tb_product *part, int64_t swath_n, bool completes);

/* Has the product computed that is due, if there is one, after all that slots have been filled with. */
tb_status tb_finish_due(tb_stream_run *run);

/* Before what has been brought is computed with: the compute stream will find the other half, too. */
tb_status tb_take_half(tb_stream_run *run);

#endif
