/* What a client will share with the server, made before it comes: the wire, and slots that devices reach. */
#ifndef TB_BERTH_H
#define TB_BERTH_H

#include "lib/serving/wire.h"

typedef struct tb_berth {
    tb_wire *wire;
    char *slots;
    uint64_t slots_bytes;
    bool hears_devices; /* they reach the wire, too */
    int wire_file, slots_file;
} tb_berth;

/* False: there is no memory for it. */
bool tb_make_berth(tb_berth *berth, uint64_t slots_bytes);

/* After a client that has ended, so that nobody writes to it any more: as if it were new. */
void tb_clean_berth(tb_berth *berth);

void tb_unmake_berth(tb_berth *berth);

#endif
