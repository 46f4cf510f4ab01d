/* What a client will share with the server, made before it comes: the wire, and slots that devices reach. */
#ifndef TB_BERTH_H
#define TB_BERTH_H

#include "lib/serving/wire.h"

typedef struct tb_berth {
    tb_wire *wire;
    char *slots;
    tb_slots_extent extent;
    _Atomic(uint32_t) steps; /* by which the slots have grown; what is beyond is no memory yet */
    bool hears_devices;      /* they reach the wire, too */
    int wire_file, slots_file;
} tb_berth;

/* False: there is no memory for it. */
bool tb_make_berth(tb_berth *berth, const tb_slots_extent *extent);

/* The slots grow by a step, while the client uses the others; false: they cannot. */
bool tb_grow_berth(tb_berth *berth);

/* After a client that has ended, so that nobody writes to it any more: as if it were new. */
void tb_clean_berth(tb_berth *berth);

void tb_unmake_berth(tb_berth *berth);

#endif
