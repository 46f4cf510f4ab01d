/* The events that one client has recorded, by numbers that the client chooses, and telling it that they have passed. By the thread of the
 * client's session alone (orders.c).
 *
 * A device that reaches the wire tells the client itself, by a word that it writes behind what the event follows. That spares the client
 * the server's way, and the driver, whose calls of all threads take turns, a question every few microseconds. The word is the client's
 * to write, too, so what depends on a device's having come somewhere waits for the event or the stream.
 */
#ifndef TB_CLIENT_EVENTS_H
#define TB_CLIENT_EVENTS_H

#include "lib/serving/wire.h"

typedef struct tb_client_event {
    tb_event *event; /* NULL: there is none */
    int device;
    uint32_t number; /* of the last record */
    uint8_t stream;  /* in which that is */
    bool is_told;    /* by the device */
    bool is_pending; /* it has not been seen to have passed */
} tb_client_event;

typedef struct tb_client_events {
    tb_client_event events[TB_WIRE_EVENTS];
    uint16_t pending[TB_WIRE_EVENTS]; /* in the order of their records */
    int pending_count;
    tb_wire *wire;
    bool hears_devices; /* the wire */
} tb_client_events;

/* Whether clients have ordered something that the device has not come to the end of. */
bool tb_is_at_work(int device);

/* An order's event in its stream, which is one of the device's. TB_REFUSED (check_order.h) where the client may not. */
tb_status tb_record_client_event(tb_client_events *events, const tb_order *order, int device,
                                 tb_stream *stream);

/* For an event that has no record nobody waits. TB_REFUSED as above. */
tb_status tb_wait_client_event(const tb_client_events *events, uint32_t number, tb_stream *stream);
tb_status tb_destroy_client_event(tb_client_events *events, uint32_t number);

/* Sees which records have passed since, and tells the client of those that no device has told it of; whether any have. What devices tell
 * themselves the driver is asked about only where `asks`, which is how a failed device is noticed. */
tb_status tb_tell_passed(tb_client_events *events, bool asks, bool *any);

/* The streams have been destroyed, and the client is told of nothing more. */
void tb_free_client_events(tb_client_events *events);

#endif
