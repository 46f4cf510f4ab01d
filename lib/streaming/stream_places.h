/* Room on the device for a product's operands. */
#ifndef TB_STREAM_PLACES_H
#define TB_STREAM_PLACES_H

#include "lib/streaming/stream_run.h"

/* Says where operands have their places on the device, and looks whether they have come before. */
void tb_lay_out(tb_stream_run *run);

/* Takes the memory. */
tb_status tb_take_places(tb_stream_run *run);

#endif
