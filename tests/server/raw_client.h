/* A client of a session in this process, which writes its orders itself: any. */
#ifndef TEST_RAW_CLIENT_H
#define TEST_RAW_CLIENT_H

#include "lib/device/platform.h"
#include "lib/machine/calibrate.h"
#include "lib/server/session.h"
#include "tests/check.h"

#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RAW_SLOTS_BYTES = 1 << 16 };

static tb_session_facts raw_facts;
static atomic_bool raw_stop;

typedef struct raw_client {
    tb_berth berth;
    int sockets[2];
    pthread_t session;
    tb_ending ending;
    uint32_t numbers;
} raw_client;

/* The simulated devices are up, and described. */
static inline bool raw_open(uint64_t memory_most)
{
    static tb_device_description descriptions[TB_WIRE_DEVICES];
    static tb_chip chips[TB_WIRE_DEVICES];
    int devices;
    if (tb_platform.open(&devices) != TB_OK)
        return false;
    for (int i = 0; i < devices; i++) {
        if (tb_device_at(i)->open_device(i) != TB_OK ||
            tb_device_at(i)->describe(i, &descriptions[i]) != TB_OK)
            return false;
        chips[i] = tb_presume_chip(i, &descriptions[i]);
        chips[i].clusters = tb_device_at(i)->clusters(i);
    }
    raw_facts = (tb_session_facts){.chips = chips, .chip_count = devices, .memory_most = memory_most};
    return devices > 0;
}

static inline void *raw_hold(void *held)
{
    raw_client *client = held;
    client->ending = tb_hold_session(&raw_facts, &client->berth, client->sockets[1], -1, &raw_stop);
    return NULL;
}

static inline bool raw_is_over(const raw_client *client)
{
    return atomic_load(&client->berth.wire->status) != TB_OK;
}

static inline void raw_look_again(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static inline void raw_send(raw_client *client, const tb_order *order)
{
    tb_wire *wire = client->berth.wire;
    const uint32_t tail = atomic_load(&wire->tail);
    wire->orders[tail % TB_WIRE_ORDERS] = *order;
    atomic_store(&wire->tail, tail + 1);
    tb_wire_wake(&wire->tail);
    while (!raw_is_over(client) && atomic_load(&wire->head) != tail + 1)
        raw_look_again();
}

/* The status of the answer. */
static inline tb_status raw_ask(raw_client *client, tb_order order, uint64_t *answered)
{
    tb_wire *wire = client->berth.wire;
    order.number = ++client->numbers;
    raw_send(client, &order);
    while (!raw_is_over(client) && atomic_load(&wire->answered) != order.number)
        raw_look_again();
    *answered = wire->answers[0];
    return raw_is_over(client) ? TB_DEVICE_LOST : (tb_status)wire->answer;
}

/* Until all that was ordered in the stream is done. */
static inline void raw_finish(raw_client *client)
{
    const uint32_t number = ++client->numbers;
    raw_send(client, &(tb_order){.kind = TB_ORDER_RECORD, .number = number});
    while (!raw_is_over(client) && atomic_load(&client->berth.wire->passed[0]) != number)
        raw_look_again();
}

/* In its berth, with a stream. */
static inline void raw_begin(raw_client *client)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, client->sockets) != 0 ||
        pthread_create(&client->session, NULL, raw_hold, client) != 0)
        abort();
    raw_send(client, &(tb_order){.kind = TB_ORDER_CREATE_STREAM});
}

static inline void raw_come_to(raw_client *client, const tb_slots_extent *slots)
{
    *client = (raw_client){0};
    if (!tb_make_berth(&client->berth, slots))
        abort();
    raw_begin(client);
}

static inline void raw_come(raw_client *client)
{
    raw_come_to(client, &(tb_slots_extent){.first = RAW_SLOTS_BYTES});
}

/* ---- What it holds ----------------------------------------------------------------------------------------- */

static inline tb_status raw_take(raw_client *client, uint64_t bytes, uint64_t *address)
{
    return raw_ask(client, (tb_order){.kind = TB_ORDER_ALLOCATE, .bytes = bytes}, address);
}

static inline void raw_release(raw_client *client, uint64_t address)
{
    raw_send(client, &(tb_order){.kind = TB_ORDER_RELEASE, .address = address});
}

/* So many of its threads give orders. */
static inline void raw_use(raw_client *client, uint32_t threads)
{
    atomic_store(&client->berth.wire->use, threads);
}

/* Longer than a client does nothing that is awake (lib/server/sleepers.c). */
#define RAW_ASLEEP_NANOSECONDS 150000000

static inline void raw_fall_asleep(raw_client *client)
{
    raw_use(client, 0);
    nanosleep(&(struct timespec){.tv_nsec = RAW_ASLEEP_NANOSECONDS}, NULL);
}

/* Between the device and the first bytes of the slots. */
static inline tb_order raw_copy(tb_direction direction, uint64_t address, uint64_t bytes)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    void *const there = (void *)(uintptr_t)address;
    order.command.kind = TB_COMMAND_COPY;
    order.command.copy = direction == TB_HOST_TO_DEVICE ? tb_copy_of_bytes(direction, there, NULL, bytes)
                                                        : tb_copy_of_bytes(direction, NULL, there, bytes);
    return order;
}

/* So much of what is left as the slots hold at a time. */
static inline uint64_t raw_part(uint64_t bytes)
{
    return bytes < RAW_SLOTS_BYTES ? bytes : RAW_SLOTS_BYTES;
}

static inline void raw_write(raw_client *client, uint64_t address, uint64_t bytes, uint32_t word)
{
    uint32_t *words = (uint32_t *)(void *)client->berth.slots;
    for (size_t i = 0; i < RAW_SLOTS_BYTES / sizeof word; i++)
        words[i] = word;
    for (uint64_t part; bytes > 0; address += part, bytes -= part) {
        part = raw_part(bytes);
        const tb_order order = raw_copy(TB_HOST_TO_DEVICE, address, part);
        raw_send(client, &order);
    }
    raw_finish(client);
}

/* How many words there are that. */
static inline long raw_count(raw_client *client, uint64_t address, uint64_t bytes, uint32_t word)
{
    const uint32_t *words = (const uint32_t *)(const void *)client->berth.slots;
    long count = 0;
    for (uint64_t part; bytes > 0; address += part, bytes -= part) {
        part = raw_part(bytes);
        const tb_order order = raw_copy(TB_DEVICE_TO_HOST, address, part);
        raw_send(client, &order);
        raw_finish(client);
        for (size_t i = 0; i < part / sizeof word; i++)
            count += words[i] == word;
    }
    return count;
}

static inline void raw_end(raw_client *client)
{
    close(client->sockets[0]);
    pthread_join(client->session, NULL);
    close(client->sockets[1]);
}

static inline void raw_leave(raw_client *client)
{
    raw_end(client);
    tb_unmake_berth(&client->berth);
}

#endif
