/* What a client and the server (`tileblas serve`) share: a page of memory with a ring of orders, and the words that answer them.
 *
 * An order is plain data: a command for a device (lib/device/command.h), or one of the few other things that a device is asked. The
 * client writes orders and moves `tail`; the server copies each one out, looks at the copy, does it, and moves `head`. Nothing waits
 * for an answer but the orders that say so. That an event has passed the device writes into `passed`, or the server where the device
 * cannot: the number of its record.
 *
 * Addresses: device memory is named by what the server has answered; the host's side of a copy is an offset in the slots, which are
 * a second piece of memory that both map. The server keeps no pointer of the client's.
 */
#ifndef TB_WIRE_H
#define TB_WIRE_H

#include "dispatch/plan.h"
#include "lib/device/device.h"

#include <sched.h>
#include <stdatomic.h>

enum {
    TB_WIRE_ORDERS = 256, /* of the ring: a power of two */
    TB_WIRE_EVENTS = 1024,
    TB_WIRE_STREAMS = 64,
    TB_WIRE_DEVICES = 8,
    TB_WIRE_KEYS = 256,
    TB_WIRE_STEPS = 3,
};

/* What an order is about is named by the client: its streams and events by small numbers. */
typedef enum tb_order_kind {
    TB_ORDER_COMMAND, /* in the stream; of a copy the host's side is an offset in the slots */
    TB_ORDER_RECORD,  /* the event, in the stream; `number` will be in passed[event] */
    TB_ORDER_WAIT,    /* the stream, for the event's last record */
    TB_ORDER_CREATE_STREAM,
    TB_ORDER_DESTROY_STREAM,
    TB_ORDER_CREATE_EVENT,
    TB_ORDER_DESTROY_EVENT,
    TB_ORDER_ALLOCATE,   /* `bytes` of the device's memory; answered with where it is */
    TB_ORDER_RELEASE,    /* what is at `address`, once the streams are done with it */
    TB_ORDER_MEMORY,     /* answered with the bytes that are free, and all that the client may have */
    TB_ORDER_MORE_SLOTS, /* slots_steps moves when there are */
    /* Of copies of operands that the server keeps (lib/device/others_copies.h): */
    TB_ORDER_TELL_KEY,
    TB_ORDER_KEEP_COPY, /* of `bytes` at `address`, once the stream has come here; answered when the notes have been read */
    TB_ORDER_FIND_COPY, /* into `bytes` at `address`, in the stream; answered with the bytes of its notes: 0 where there is none */
} tb_order_kind;

/* What the last three are about. */
typedef struct tb_wire_copy {
    uint64_t key;
    uint64_t notes, notes_bytes; /* an offset in the slots, and the room there */
} tb_wire_copy;

typedef struct tb_order {
    uint32_t kind;
    uint32_t device; /* the server's ordinal */
    uint32_t stream, event;
    uint32_t number; /* of the record; of an order that is answered, the answer's */
    uint64_t bytes, address;
    union {
        tb_command command;
        tb_wire_copy copy;
    };
} tb_order;

/* Each side's words lie in lines of their own. A word that is slept on is followed by what says that somebody sleeps. */
typedef struct tb_wire {
    _Alignas(64) _Atomic(uint32_t) tail; /* orders that the client has written, ever */
    _Atomic(uint32_t) server_sleeps;     /* until tail moves */
    _Alignas(64) _Atomic(uint32_t) head; /* orders that the server has copied out */
    _Atomic(uint32_t) events_passed;     /* moves with each record that has passed */
    _Atomic(uint32_t) client_sleeps;     /* threads that wait for events_passed, head or answered to move */
    _Alignas(64) _Atomic(uint32_t) use;  /* threads of the client that may give orders, or what follows */
    _Atomic(uint32_t) knows_cores;       /* that follow: where the server's thread had better run */
    cpu_set_t cores;
    _Alignas(64) _Atomic(uint32_t) heartbeat; /* moves every few milliseconds */
    _Atomic(int32_t) status; /* a tb_status: what became of the client's orders; other than TB_OK for good */
    _Atomic(uint32_t) answered;    /* the number of the last order that has been answered */
    int32_t answer;                /* a tb_status */
    _Atomic(uint32_t) slots_steps; /* by which the slots have grown */
    uint64_t answers[2];
    _Alignas(64) _Atomic(uint64_t) keys[TB_WIRE_KEYS]; /* that the server has been told of; 0: none */
    _Atomic(uint32_t) key_changes;                     /* how many there had been */
    _Alignas(64) _Atomic(uint32_t) passed[TB_WIRE_EVENTS];
    _Alignas(64) tb_order orders[TB_WIRE_ORDERS];
} tb_wire;

/* What nobody uses at the client the server may take back. `use` is a lock for that: the server has it while it is being taken back, and
 * who comes meanwhile waits. What was taken back the client forgets before it uses anything again. */
#define TB_WIRE_TAKING_BACK (UINT32_MAX - 1)
#define TB_WIRE_TAKEN_BACK  UINT32_MAX

/* Slots are there from the beginning as one pipeline of each device wants them. For each of up to so many more of them they grow by a
 * step, when the client asks for it. What a device copies lies in the first part, or in one step. */
typedef struct tb_slots_extent {
    uint64_t first, step;
    uint32_t steps_most;
} tb_slots_extent;

static inline uint64_t tb_slots_after(const tb_slots_extent *extent, uint32_t steps)
{
    return extent->first + steps * extent->step;
}

/* ---- The greeting, by the socket -------------------------------------------------------------------------- */

typedef struct tb_hello {
    uint64_t build; /* tb_wire_build() */
    uint64_t
        slot_bytes; /* of the client, which the server does not heed yet; 0: only the welcome is asked for */
} tb_hello;

/* Two files come with it for a client: the wire's and the slots'. */
typedef struct tb_welcome {
    uint64_t build;
    int32_t status;
    int32_t device_count;
    int32_t clients; /* that the server has */
    int32_t process;
    tb_slots_extent slots;
    uint64_t held_bytes[TB_WIRE_DEVICES]; /* of the devices' memory, by clients */
    uint64_t kept_bytes[TB_WIRE_DEVICES]; /* by copies of operands, for all clients */
    uint64_t found_bytes;                 /* that clients have had of those, ever */
    bool keeps_copies;                    /* if not there is no key: */
    uint64_t fingerprint_key[TB_FINGERPRINT_KEY_WORDS];
    float loads[TB_WIRE_DEVICES];   /* the share of the last second in which the device had something to do */
    double seconds;                 /* that the server has been up */
    tb_chip chips[TB_WIRE_DEVICES]; /* clusters mean nothing: */
    tb_clusters clusters[TB_WIRE_DEVICES];
    bool knows_clusters[TB_WIRE_DEVICES];
    tb_device_description descriptions[TB_WIRE_DEVICES];
} tb_welcome;

/* Tells builds apart whose orders or kernels differ. */
uint64_t tb_wire_build(void);

/* The socket's name in the user's folder. A socket that has another one has no longer one. */
enum { TB_WIRE_NAME_SIZE = 64 };
void tb_wire_socket_name(char *name, size_t size);

/* ---- Waiting across processes ----------------------------------------------------------------------------- */

/* Some hundred nanoseconds, awake. The core is not offered to others: a thread that multiplies would have it for a scheduler's slice,
 * 4 ms. Who sleeps has it back at once. */
void tb_wire_pause(void);

/* Sleeps while the word is that, until it is woken, or for so long; may return early. */
void tb_wire_wait(_Atomic(uint32_t) *word, uint32_t that, double seconds);
void tb_wire_wake(_Atomic(uint32_t) *word);

#endif
