/* A client's session: its orders, done one after the other by a thread of its own, and what it holds of the devices. */
#ifndef TB_SESSION_H
#define TB_SESSION_H

#include "lib/server/berth.h"

/* What became of a session, besides that it is over. */
typedef enum tb_ending {
    TB_CLIENT_LEFT,
    TB_CLIENT_REFUSED, /* it has ordered what it may not */
    TB_DEVICES_FAILED, /* the device has not done what was right to order: whoever uses it has to be told */
} tb_ending;

typedef struct tb_session_facts {
    const tb_chip *chips;
    int chip_count; /* of devices that are open */
    uint64_t
        memory_most; /* bytes of a device's memory that all clients may have together; 0: all there are */
} tb_session_facts;

/* Until the client ends, or is refused, or `stop` says so. client: a file that becomes readable when the client has ended; -1: only
 * the socket tells. All that the client held is free on return. */
tb_ending tb_hold_session(const tb_session_facts *facts, tb_berth *berth, int socket, int client,
                          const atomic_bool *stop);

#endif
