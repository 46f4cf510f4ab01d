#include "lib/server/session.h"

#include "lib/device/platform.h"
#include "lib/process/clock.h"
#include "lib/server/check_order.h"
#include "lib/server/cleaning.h"
#include "lib/server/kept_copies.h"
#include "lib/server/sleepers.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* How long the thread looks for orders before it sleeps, and sleeps before it looks for the client. */
#define SPIN_SECONDS  100e-6
#define SLEEP_SECONDS 10e-3

/* While a device is at work for the client: how long the thread looks without a pause, and the pause then. With more clients than a
 * quarter of the cores it pauses at once, as their own threads want these. */
#define BUSY_SECONDS  1e-3
#define PAUSE_SECONDS 20e-6
enum { CORES_OF_CLIENT = 4 };

/* Orders that are done before events are looked at again; pieces of device memory that a client may hold. */
enum { ORDERS_AT_A_TIME = 4, BLOCKS_MOST = 4096 };

typedef struct block {
    int device;
    uint32_t number; /* of the device, as clients have it */
    uint64_t address, bytes;
} block;

typedef struct held_event {
    tb_event *event; /* NULL: there is none */
    int device;
    uint32_t number; /* of the last record */
    uint8_t stream;  /* in which that is */
    bool is_pending; /* it has not been seen to have passed */
} held_event;

typedef struct session {
    tb_holdings holdings; /* first: what asks of them is asked of the session */
    const tb_session_facts *facts;
    tb_wire *wire;
    uint32_t head; /* orders that have been copied out */
    struct {
        tb_stream *stream; /* NULL: there is none */
        const tb_chip *chip;
        tb_launch last; /* in it */
    } streams[TB_WIRE_STREAMS];
    held_event events[TB_WIRE_EVENTS];
    uint16_t pending[TB_WIRE_EVENTS]; /* in the order of their records */
    int pending_count;
    block blocks[BLOCKS_MOST];
    int block_count;
    tb_sleeper sleeper; /* what other sessions see of it */
} session;

/* Bytes of each device that clients hold, and records of theirs that it has not come to. */
static _Atomic(uint64_t) held_bytes[TB_DEVICES_MAXIMUM];
static atomic_int pending_records[TB_DEVICES_MAXIMUM];

uint64_t tb_held_bytes(int device)
{
    return atomic_load(&held_bytes[device]);
}

bool tb_is_at_work(int device)
{
    return atomic_load_explicit(&pending_records[device], memory_order_relaxed) > 0;
}

static bool holds(const tb_holdings *holdings, int device, uint64_t address, uint64_t bytes)
{
    const session *session = (const void *)holdings;
    for (int i = 0; i < session->block_count; i++) {
        const block *block = &session->blocks[i];
        if (block->device == device && address >= block->address &&
            address - block->address <= block->bytes && bytes <= block->bytes - (address - block->address))
            return true;
    }
    return false;
}

static const tb_chip *chip_of(const session *session, uint32_t number)
{
    return number < (uint32_t)session->facts->chip_count ? &session->facts->chips[number] : NULL;
}

/* ---- Orders ----------------------------------------------------------------------------------------------- */

/* What an order comes to, beside TB_OK and what the device has answered: the client may not order it. */
#define REFUSED ((tb_status)-1)

static void answer(session *session, const tb_order *order, tb_status status, uint64_t first, uint64_t second)
{
    tb_wire *wire = session->wire;
    wire->answer = (int32_t)status;
    wire->answers[0] = first;
    wire->answers[1] = second;
    atomic_store(&wire->answered, order->number);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->answered);
}

static tb_stream *stream_of(const session *session, const tb_order *order)
{
    return order->stream < TB_WIRE_STREAMS ? session->streams[order->stream].stream : NULL;
}

/* Whether what the launch before has made of A serves again, where the client says so. */
static bool may_have_same_a(const tb_launch *last, const tb_launch *now)
{
    const tb_product *x = &last->product, *y = &now->product;
    return last->row == now->row && last->workspace == now->workspace && x->a.data == y->a.data &&
           x->a.ld == y->a.ld && x->m == y->m && x->k == y->k && x->a.transposed == y->a.transposed;
}

static tb_status command(session *session, tb_order *order)
{
    tb_stream *stream = stream_of(session, order);
    if (!stream ||
        !tb_check_command(&session->holdings, session->streams[order->stream].chip, &order->command))
        return REFUSED;
    if (order->command.kind == TB_COMMAND_LAUNCH) {
        tb_launch *launch = &order->command.launch, *last = &session->streams[order->stream].last;
        launch->same_a = launch->same_a && may_have_same_a(last, launch);
        *last = *launch;
    }
    return tb_enqueue(stream, &order->command);
}

/* The latest is the last. */
static void add_pending(session *session, uint32_t number, uint32_t stream)
{
    held_event *event = &session->events[number];
    int count = session->pending_count;
    if (event->is_pending) {
        int i = 0;
        while (session->pending[i] != number)
            i++;
        memmove(&session->pending[i], &session->pending[i + 1],
                (size_t)(--count - i) * sizeof *session->pending);
    } else {
        atomic_fetch_add(&pending_records[event->device], 1);
    }
    session->pending[count] = (uint16_t)number;
    session->pending_count = count + 1;
    event->stream = (uint8_t)stream;
    event->is_pending = true;
}

static tb_status record(session *session, const tb_order *order)
{
    tb_stream *stream = stream_of(session, order);
    if (!stream || order->event >= TB_WIRE_EVENTS)
        return REFUSED;
    held_event *event = &session->events[order->event];
    const int device = session->streams[order->stream].chip->device;
    if (event->event && event->device != device)
        return REFUSED;
    if (!event->event)
        TB_TRY(tb_create_event(device, &event->event));
    event->device = device;
    event->number = order->number;
    add_pending(session, order->event, order->stream);
    return tb_record(event->event, stream);
}

/* For an event that has no record nobody waits. */
static tb_status wait(session *session, const tb_order *order)
{
    tb_stream *stream = stream_of(session, order);
    if (!stream || order->event >= TB_WIRE_EVENTS)
        return REFUSED;
    tb_event *event = session->events[order->event].event;
    return event ? tb_stream_wait(stream, event) : TB_OK;
}

static tb_status create_stream(session *session, const tb_order *order)
{
    const tb_chip *chip = chip_of(session, order->device);
    if (!chip || order->stream >= TB_WIRE_STREAMS || session->streams[order->stream].stream)
        return REFUSED;
    session->streams[order->stream].chip = chip;
    memset(&session->streams[order->stream].last, 0, sizeof(tb_launch));
    return tb_create_stream(chip->device, &session->streams[order->stream].stream);
}

static tb_status destroy_event(session *session, uint32_t number)
{
    held_event *event = &session->events[number];
    if (!event->event)
        return TB_OK;
    const tb_status status = tb_event_wait(event->event);
    tb_destroy_event(event->event);
    event->event = NULL;
    return status;
}

static tb_status destroy_stream(session *session, uint32_t number)
{
    tb_stream *stream = session->streams[number].stream;
    if (!stream)
        return TB_OK;
    const tb_status status = tb_synchronize(stream);
    tb_destroy_stream(stream);
    session->streams[number].stream = NULL;
    return status;
}

/* Nothing that the client has ordered uses memory that is given back. */
static tb_status finish_device(const session *session, int device)
{
    for (int i = 0; i < TB_WIRE_STREAMS; i++)
        if (session->streams[i].stream && session->streams[i].chip->device == device)
            TB_TRY(tb_synchronize(session->streams[i].stream));
    return TB_OK;
}

/* A device's memory as far as clients may have it: all of it, what no client holds, what is kept of that or still to be zeroed, and what those
 * hold who sleep. */
typedef struct room {
    uint64_t total, free, asleep;
} room;

static tb_status find_room(const session *session, const tb_order *order, const tb_chip *chip, room *room)
{
    size_t free_bytes = 0, total_bytes = 0;
    TB_TRY(tb_device_at(chip->device)->memory(chip->device, &free_bytes, &total_bytes));
    free_bytes += tb_bytes_to_take(chip->device); /* some may be counted twice */
    if (free_bytes > total_bytes)
        free_bytes = total_bytes;
    const uint64_t most = session->facts->memory_most, held = atomic_load(&held_bytes[chip->device]);
    const uint64_t left = most == 0 ? UINT64_MAX : held < most ? most - held : 0;
    const uint64_t most_free = free_bytes + tb_kept_copies_bytes(chip->device);
    *room = (struct room){.total = most > 0 && most < total_bytes ? most : total_bytes,
                          .free = left < most_free ? left : most_free,
                          .asleep = tb_bytes_asleep(&session->sleeper, order->device)};
    return TB_OK;
}

/* A client that asks for all leaves some to the others: it may hold half of what these leave it, or as much as it had if all clients
 * and one more held the same. So what it is told is free does not change with what it takes. So many bytes beside what it holds. */
static uint64_t share_of(const session *session, const tb_order *order, const room *room)
{
    const uint64_t held = atomic_load(&session->sleeper.held_bytes[order->device]),
                   left = room->free + room->asleep, half = (held + left) / 2,
                   same = room->total / ((uint64_t)tb_count_sessions() + 1),
                   share = half > same ? half : same, more = share > held ? share - held : 0;
    return more < left ? more : left;
}

static tb_claimed claimed_of(const session *session, int device)
{
    return (tb_claimed){.held = atomic_load(&held_bytes[device]), .most = session->facts->memory_most};
}

/* What others hold who sleep is taken back where there is not enough without. */
static tb_status allocate_share(const session *session, const tb_order *order, const tb_chip *chip,
                                void **memory)
{
    for (;;) {
        const tb_claimed claimed = claimed_of(session, chip->device);
        room room;
        TB_TRY(find_room(session, order, chip, &room));
        tb_status status = TB_OUT_OF_MEMORY;
        if (order->bytes > share_of(session, order, &room))
            return status;
        if (order->bytes <= room.free)
            status = tb_allocate_past_copies(chip->device, order->bytes, &claimed, memory);
        if (status != TB_OUT_OF_MEMORY || !tb_take_back_from_sleeper(&session->sleeper, order->device))
            return status;
    }
}

static void note_held(session *session, const block *block, int64_t sign)
{
    atomic_fetch_add(&held_bytes[block->device], (uint64_t)sign * block->bytes);
    atomic_fetch_add(&session->sleeper.held_bytes[block->number], (uint64_t)sign * block->bytes);
}

static tb_status allocate(session *session, const tb_order *order)
{
    const tb_chip *chip = chip_of(session, order->device);
    void *memory = NULL;
    if (!chip)
        return REFUSED;
    const tb_status status = session->block_count == BLOCKS_MOST
                                 ? TB_OUT_OF_MEMORY
                                 : allocate_share(session, order, chip, &memory);
    if (status == TB_OK) {
        block *block = &session->blocks[session->block_count++];
        *block = (struct block){chip->device, order->device, (uintptr_t)memory, order->bytes};
        note_held(session, block, 1);
    }
    answer(session, order, status, (uintptr_t)memory, 0);
    return status == TB_OUT_OF_MEMORY ? TB_OK : status;
}

static void release_block(session *session, int index)
{
    const block freed = session->blocks[index];
    session->blocks[index] = session->blocks[--session->block_count];
    tb_clean_and_release(freed.device, (void *)(uintptr_t)freed.address, freed.bytes);
    note_held(session, &freed, -1);
}

static tb_status release(session *session, const tb_order *order)
{
    for (int i = 0; i < session->block_count; i++)
        if (session->blocks[i].address == order->address) {
            TB_TRY(finish_device(session, session->blocks[i].device));
            release_block(session, i);
            return TB_OK;
        }
    return REFUSED;
}

static tb_status tell_memory(session *session, const tb_order *order)
{
    const tb_chip *chip = chip_of(session, order->device);
    room room = {0};
    if (!chip)
        return REFUSED;
    const tb_status status = find_room(session, order, chip, &room);
    answer(session, order, status, share_of(session, order, &room), room.total);
    return status;
}

/* ---- Copies of operands ----------------------------------------------------------------------------------- */

static bool check_copied(session *session, const tb_order *order, tb_copied_block *block, char **notes)
{
    block->stream = stream_of(session, order);
    if (!block->stream || order->copy.key == 0 || order->copy.notes_bytes > TB_NOTES_BYTES_MOST)
        return false;
    block->device = session->streams[order->stream].chip->device;
    block->key = order->copy.key;
    block->memory = (void *)(uintptr_t)order->address;
    block->bytes = order->bytes;
    *notes = tb_check_slot(&session->holdings, order->copy.notes, order->copy.notes_bytes);
    return *notes && order->bytes > 0 &&
           holds(&session->holdings, block->device, order->address, order->bytes);
}

static tb_status find_copy(session *session, const tb_order *order)
{
    tb_copied_block block;
    uint64_t notes_bytes;
    char *notes;
    if (!check_copied(session, order, &block, &notes))
        return REFUSED;
    TB_TRY(tb_find_copy(&block, notes, order->copy.notes_bytes, &notes_bytes));
    answer(session, order, TB_OK, notes_bytes, 0);
    return TB_OK;
}

/* The client goes on when its notes have been read. */
static tb_status keep_copy(session *session, const tb_order *order)
{
    tb_copied_block block;
    char *notes;
    if (!check_copied(session, order, &block, &notes))
        return REFUSED;
    const tb_claimed claimed = claimed_of(session, block.device);
    void *own = malloc(order->copy.notes_bytes + 1);
    if (own)
        memcpy(own, notes, order->copy.notes_bytes);
    answer(session, order, TB_OK, 0, 0);
    return own ? tb_keep_copy(&block, &claimed, own, order->copy.notes_bytes) : TB_OK;
}

static tb_status tell_key(const tb_order *order)
{
    if (order->copy.key == 0)
        return REFUSED;
    tb_tell_key(order->copy.key);
    return TB_OK;
}

static tb_status carry_out(session *session, tb_order *order)
{
    switch (order->kind) {
    case TB_ORDER_COMMAND:
        return command(session, order);
    case TB_ORDER_RECORD:
        return record(session, order);
    case TB_ORDER_WAIT:
        return wait(session, order);
    case TB_ORDER_CREATE_STREAM:
        return create_stream(session, order);
    case TB_ORDER_DESTROY_STREAM:
        return order->stream < TB_WIRE_STREAMS ? destroy_stream(session, order->stream) : REFUSED;
    case TB_ORDER_CREATE_EVENT: /* it is made when it is recorded, on the device where that is */
        return order->event < TB_WIRE_EVENTS ? TB_OK : REFUSED;
    case TB_ORDER_DESTROY_EVENT:
        return order->event < TB_WIRE_EVENTS ? destroy_event(session, order->event) : REFUSED;
    case TB_ORDER_ALLOCATE:
        return allocate(session, order);
    case TB_ORDER_RELEASE:
        return release(session, order);
    case TB_ORDER_MEMORY:
        return tell_memory(session, order);
    case TB_ORDER_TELL_KEY:
        return tell_key(order);
    case TB_ORDER_KEEP_COPY:
        return keep_copy(session, order);
    case TB_ORDER_FIND_COPY:
        return find_copy(session, order);
    }
    return REFUSED;
}

/* Copied out before it is looked at. */
static tb_status next_order(session *session, bool *any)
{
    tb_wire *wire = session->wire;
    tb_order order;
    const uint32_t waiting = atomic_load(&wire->tail) - session->head;
    *any = waiting > 0;
    if (waiting == 0)
        return TB_OK;
    if (waiting > TB_WIRE_ORDERS)
        return REFUSED;
    memcpy(&order, &wire->orders[session->head % TB_WIRE_ORDERS], sizeof order);
    atomic_store(&wire->head, ++session->head);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->head);
    return carry_out(session, &order);
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

/* Of a stream's records none passes before an earlier one: those behind one that has not are not asked. */
static tb_status tell_passed(session *session, bool *any)
{
    tb_wire *wire = session->wire;
    uint64_t waiting = 0; /* streams, by bits */
    tb_status status = TB_OK;
    int left = 0;
    for (int i = 0; i < session->pending_count; i++) {
        const uint16_t number = session->pending[i];
        held_event *event = &session->events[number];
        const uint64_t stream = UINT64_C(1) << event->stream;
        if (event->event && (status != TB_OK || (waiting & stream) != 0 || !tb_event_passed(event->event))) {
            waiting |= stream;
            session->pending[left++] = number;
            continue;
        }
        if (event->event)
            status = tb_event_wait(event->event);
        event->is_pending = false;
        atomic_fetch_sub(&pending_records[event->device], 1);
        if (status == TB_OK)
            atomic_store(&wire->passed[number], event->number);
    }
    *any = left < session->pending_count;
    session->pending_count = left;
    if (!*any || status != TB_OK)
        return status;
    atomic_fetch_add(&wire->events_passed, 1);
    if (atomic_load(&wire->client_sleeps))
        tb_wire_wake(&wire->events_passed);
    return TB_OK;
}

/* ---- What a client holds that sleeps ---------------------------------------------------------------------- */

static tb_status release_all(session *session)
{
    while (session->block_count > 0) {
        TB_TRY(finish_device(session, session->blocks[session->block_count - 1].device));
        release_block(session, session->block_count - 1);
    }
    return TB_OK;
}

/* Only this thread does what the client orders, and only it gives back what the client holds. A client that keeps to `use` gives no
 * order while the server has it; those that it has given before are done first, of which the ring holds all. From then on it names
 * nothing of what was taken back. One that does not keep to it names blocks that are not in its list any more: it is refused. */
static tb_status take_back(session *session)
{
    tb_wire *wire = session->wire;
    uint32_t nobody = 0;
    tb_status status = TB_OK;
    if (atomic_compare_exchange_strong(&wire->use, &nobody, TB_WIRE_TAKING_BACK)) {
        bool any = true;
        for (int i = 0; i < TB_WIRE_ORDERS && any && status == TB_OK; i++)
            status = next_order(session, &any);
        if (status == TB_OK)
            status = release_all(session);
        atomic_store(&wire->use, TB_WIRE_TAKEN_BACK);
        tb_wire_wake(&wire->use);
    }
    atomic_store(&session->sleeper.is_wanted, 0);
    return status;
}

/* ---- The session ------------------------------------------------------------------------------------------ */

static bool has_left(int socket, int client)
{
    struct pollfd ready[] = {{.fd = socket, .events = POLLIN | POLLRDHUP}, {.fd = client, .events = POLLIN}};
    return poll(ready, 2, 0) != 0;
}

/* Until an order comes, or for a while. */
static void sleep_for_orders(session *session)
{
    tb_wire *wire = session->wire;
    atomic_store(&wire->server_sleeps, 1);
    if (atomic_load(&wire->tail) == session->head)
        tb_wire_wait(&wire->tail, session->head, SLEEP_SECONDS);
    atomic_store(&wire->server_sleeps, 0);
}

static void pause_for_device(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(PAUSE_SECONDS * 1e9)}, NULL);
}

static tb_status do_orders(session *session, bool *any)
{
    bool more = true;
    *any = false;
    for (int i = 0; i < ORDERS_AT_A_TIME && more; i++) {
        TB_TRY(next_order(session, &more));
        *any = *any || more;
    }
    return TB_OK;
}

/* Where the client says, as long as clients are few; else wherever there is room. */
static void choose_cores(const session *session, bool is_alone, bool *is_beside)
{
    cpu_set_t cores;
    const bool wants = is_alone && atomic_load_explicit(&session->wire->knows_cores, memory_order_acquire);
    if (wants == *is_beside)
        return;
    *is_beside = wants;
    if (wants)
        cores = session->wire->cores;
    else if (sched_getaffinity(getpid(), sizeof cores, &cores) != 0) /* the main thread's */
        return;
    (void)!sched_setaffinity(0, sizeof cores, &cores);
}

static tb_status serve_client(session *session, int socket, int client, const atomic_bool *stop)
{
    double moved = tb_seconds(), looked = moved;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    bool is_beside = false;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns: pauses are as short as they are meant to be */
    while (!atomic_load(stop)) {
        bool ordered, passed;
        TB_TRY(do_orders(session, &ordered));
        TB_TRY(tell_passed(session, &passed));
        if (atomic_load_explicit(&session->sleeper.is_wanted, memory_order_relaxed))
            TB_TRY(take_back(session));
        const double now = tb_seconds();
        const bool is_alone = CORES_OF_CLIENT * tb_count_sessions() <= cores;
        choose_cores(session, is_alone, &is_beside);
        if (ordered || passed)
            atomic_store_explicit(&session->sleeper.moved, moved = now, memory_order_relaxed);
        else if (session->pending_count > 0 && (now - moved > BUSY_SECONDS || !is_alone))
            pause_for_device();
        else if (session->pending_count == 0 && now - moved > SPIN_SECONDS)
            sleep_for_orders(session);
        else
            sched_yield(); /* to a thread that has work to do, where one waits for this core */
        if (now - looked < SLEEP_SECONDS)
            continue;
        looked = now;
        if (has_left(socket, client))
            break;
    }
    return TB_OK;
}

/* The device has done all of it before it is given back. */
static void free_all(session *session)
{
    for (uint32_t stream = 0; stream < TB_WIRE_STREAMS; stream++)
        (void)destroy_stream(session, stream);
    for (uint32_t event = 0; event < TB_WIRE_EVENTS; event++)
        (void)destroy_event(session, event);
    for (int i = 0; i < session->pending_count; i++)
        atomic_fetch_sub(&pending_records[session->events[session->pending[i]].device], 1);
    while (session->block_count > 0)
        release_block(session, session->block_count - 1);
}

static tb_status serve_among_others(session *session, int socket, int client, const atomic_bool *stop)
{
    session->sleeper.wire = session->wire;
    atomic_store(&session->sleeper.moved, tb_seconds());
    if (!tb_enter_sleepers(&session->sleeper))
        return REFUSED;
    const tb_status status = serve_client(session, socket, client, stop);
    tb_leave_sleepers(&session->sleeper);
    return status;
}

tb_ending tb_hold_session(const tb_session_facts *facts, const tb_berth *berth, int socket, int client,
                          const atomic_bool *stop)
{
    session *session = calloc(1, sizeof *session);
    if (!session)
        return TB_CLIENT_REFUSED;
    session->holdings =
        (tb_holdings){.slots = berth->slots, .slots_bytes = berth->slots_bytes, .holds = holds};
    session->facts = facts;
    session->wire = berth->wire;
    const tb_status status = serve_among_others(session, socket, client, stop);
    atomic_store(&berth->wire->status, TB_DEVICE_LOST);
    tb_wire_wake(&berth->wire->events_passed);
    tb_wire_wake(&berth->wire->answered);
    tb_wire_wake(&berth->wire->head);
    free_all(session);
    free(session);
    return status == TB_OK            ? TB_CLIENT_LEFT
           : status == TB_DEVICE_LOST ? TB_DEVICES_FAILED
                                      : TB_CLIENT_REFUSED;
}
