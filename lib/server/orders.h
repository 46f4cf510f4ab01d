/* A client's orders, done one after the other, and what of the devices the client holds by them. By the thread of the client's session
 * alone (session.c).
 */
#ifndef TB_ORDERS_H
#define TB_ORDERS_H

#include "lib/server/berth.h"
#include "lib/server/check_order.h"
#include "lib/server/client_events.h"
#include "lib/server/client_memory.h"

typedef struct tb_client_stream {
    tb_stream *stream; /* NULL: there is none */
    const tb_chip *chip;
    tb_launch last;  /* in it */
    void *workspace; /* of panels in it; NULL: none has needed one */
    size_t workspace_bytes;
} tb_client_stream;

typedef struct tb_client {
    tb_holdings holdings; /* first: what asks of them is asked of the client */
    const tb_chip *chips;
    int chip_count;
    tb_wire *wire;
    tb_berth *berth;
    uint32_t head; /* orders that have been copied out */
    tb_client_stream streams[TB_WIRE_STREAMS];
    tb_client_events events;
    tb_client_memory memory;
} tb_client;

/* A client that holds nothing; zeroed before. Whoever begins it says what its memory's `most` and `sleeper` are. */
void tb_begin_client(tb_client *client, tb_berth *berth, const tb_chip *chips, int chip_count);

/* The client's next order, if there is any. TB_REFUSED (check_order.h): the client may not order it. */
tb_status tb_do_next_order(tb_client *client, bool *any);

/* Gives back all memory of devices that the client holds, when its streams are done with it. */
tb_status tb_give_all_blocks(tb_client *client);

/* All that the client holds. The devices have done what it has ordered before that is given back. */
void tb_free_client(tb_client *client);

#endif
