#include "lib/serving/connection.h"

#include "lib/process/clock.h"
#include "lib/process/leaving.h"
#include "lib/process/lock.h"
#include "lib/serving/greeting.h"
#include "lib/serving/pulse.h"
#include "words/integers.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a server is asked to greet, before one that does not is left alone. */
#define UNANSWERED_MILLISECONDS 1000

/* How long a thread looks before it sleeps, and sleeps before it looks whether the server lives. */
#define SPIN_SECONDS  200e-6
#define SLEEP_SECONDS 5e-3

static struct {
    tb_wire *wire; /* NULL: there is no connection */
    char *slots;
    bool has_opened; /* the socket */
    int socket;
    dev_t socket_device;
    ino_t socket_inode;
    pid_t process; /* the server's; 0: it is in a place where this process does not see it */
    tb_welcome welcome;
    tb_lock lock; /* held while an order is written, and until it is answered */
    tb_lock forgetting;
    uint32_t numbers; /* of orders that were answered */
    atomic_bool lost;
} server;

/* ---- The greeting ----------------------------------------------------------------------------------------- */

/* Whether nobody can make the file shorter than that: what has been mapped of it would fault. */
static bool stays_as_long(int file, size_t bytes)
{
    struct stat found;
    const int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(file, &found) == 0 &&
           (uint64_t)found.st_size >= bytes;
}

/* A forked child does not get it: the server writes to the parent's pages. Pages are there already, and are found as they are touched:
 * to find all of 72 MiB at once would take longer than most first products. */
static void *map(int file, uint64_t bytes)
{
    if (!stays_as_long(file, bytes))
        return NULL;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    madvise(mapped, bytes, MADV_DONTFORK);
    return mapped;
}

/* No sum of these is too large to be a number. */
static bool is_possible(const tb_slots_extent *extent)
{
    return extent->first < UINT64_MAX / 4 && extent->step < UINT64_MAX / 4 / (TB_WIRE_STEPS + 1) &&
           extent->steps_most <= TB_WIRE_STEPS;
}

static uint64_t slots_bytes(void)
{
    return tb_slots_after(&server.welcome.slots, server.welcome.slots.steps_most);
}

/* Where the process may not map all that they could grow to, they do not grow. */
static char *map_slots(int file)
{
    if (!is_possible(&server.welcome.slots) || !stays_as_long(file, slots_bytes()))
        return NULL;
    char *slots = map(file, slots_bytes());
    if (slots)
        return slots;
    server.welcome.slots.steps_most = 0;
    return map(file, slots_bytes());
}

static bool greet(int socket, size_t slot_bytes, int milliseconds)
{
    const tb_hello hello = {.build = tb_wire_build(), .slot_bytes = slot_bytes};
    tb_enclosed beside;
    if (send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello ||
        !tb_receive_welcome(socket, milliseconds, &server.welcome, &beside))
        return false;
    server.process = beside.process;
    for (int device = 0; device < server.welcome.device_count; device++)
        server.welcome.chips[device].clusters =
            server.welcome.knows_clusters[device] ? &server.welcome.clusters[device] : NULL;
    if (beside.has_files) {
        server.wire = map(beside.files[0], sizeof *server.wire);
        server.slots = map_slots(beside.files[1]);
        close(beside.files[0]);
        close(beside.files[1]);
    }
    if (server.wire && server.slots)
        return true;
    tb_leave_server_alone(); /* it makes slots for each greeting, for which there may be no room here for long */
    return false;
}

static bool open_socket(void)
{
    struct stat found;
    server.socket = tb_open_server_socket();
    server.has_opened = server.socket >= 0 && fstat(server.socket, &found) == 0;
    if (!server.has_opened)
        return false;
    server.socket_device = found.st_dev;
    server.socket_inode = found.st_ino;
    return true;
}

/* The program may have closed it, and its number be another file's: the inode tells. */
static bool has_socket(void)
{
    struct stat found;
    return server.has_opened && fstat(server.socket, &found) == 0 && found.st_dev == server.socket_device &&
           found.st_ino == server.socket_inode;
}

static void unmap(void)
{
    if (server.wire)
        munmap(server.wire, sizeof *server.wire);
    if (server.slots)
        munmap(server.slots, slots_bytes());
}

static void close_socket(void)
{
    if (has_socket())
        close(server.socket);
}

/* Who left in between would have what is another's by then closed and unmapped once more. */
void tb_forget_server(void)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    close_socket();
    unmap();
    memset(&server, 0, sizeof server);
    tb_let_signals(&signals);
}

/* What its parent has mapped it has not: what is at those places by now is the program's. */
void tb_forget_server_in_child(void)
{
    close_socket();
    memset(&server, 0, sizeof server);
}

bool tb_connect_to_server(size_t slot_bytes, int milliseconds)
{
    const double start = tb_seconds();
    if (!open_socket())
        return false;
    if (greet(server.socket, slot_bytes, milliseconds))
        return true;
    if (milliseconds >= UNANSWERED_MILLISECONDS && 1e3 * (tb_seconds() - start) >= milliseconds)
        tb_leave_server_alone();
    tb_forget_server();
    return false;
}

const tb_welcome *tb_server_welcome(void)
{
    return &server.welcome;
}

char *tb_server_slots(void)
{
    return server.slots;
}

uint32_t tb_server_slots_steps(void)
{
    const uint32_t steps = atomic_load_explicit(&server.wire->slots_steps, memory_order_acquire),
                   most = server.welcome.slots.steps_most;
    return steps < most ? steps : most;
}

bool tb_server_knows_key(uint64_t key)
{
    bool is_known = false;
    for (int i = 0; i < TB_WIRE_KEYS; i++)
        is_known |= atomic_load_explicit(&server.wire->keys[i], memory_order_relaxed) == key;
    return is_known;
}

bool tb_server_knows_cores(void)
{
    return atomic_load_explicit(&server.wire->knows_cores, memory_order_relaxed);
}

void tb_tell_server_cores(const cpu_set_t *cores)
{
    server.wire->cores = *cores;
    atomic_store(&server.wire->knows_cores, 1);
}

/* ---- Waiting ---------------------------------------------------------------------------------------------- */

static bool has_ended(void)
{
    struct pollfd ready = {.fd = server.socket, .events = POLLIN | POLLRDHUP};
    return poll(&ready, 1, 0) != 0;
}

static bool is_alive(tb_pulse *pulse)
{
    return !has_ended() && tb_has_pulse(pulse, atomic_load(&server.wire->heartbeat), server.process);
}

static bool is_lost(void)
{
    return atomic_load_explicit(&server.lost, memory_order_relaxed);
}

static tb_status lose(void)
{
    atomic_store(&server.lost, true);
    return TB_DEVICE_LOST;
}

typedef bool is_so(uint32_t which, uint32_t number);

/* Where the answer comes as soon as this thread sleeps, so many times in a row, it has kept the server from its core: then
 * threads sleep without looking, for a while. */
#define AT_ONCE_SECONDS 30e-6
#define SHARING_SECONDS 50e-3
enum { AT_ONCE_LEAST = 3 };
static _Atomic(double) shared_until;
static _Atomic(int) at_once;

static void look(is_so *is, uint32_t which, uint32_t number)
{
    const double start = tb_seconds();
    while (!is(which, number) && tb_seconds() - start < SPIN_SECONDS)
        tb_wire_pause();
}

static void note_sleep(double seconds)
{
    const int before = atomic_load_explicit(&at_once, memory_order_relaxed),
              now = seconds < AT_ONCE_SECONDS ? before + 1 : 0;
    atomic_store_explicit(&at_once, now % AT_ONCE_LEAST, memory_order_relaxed);
    if (now >= AT_ONCE_LEAST)
        atomic_store_explicit(&shared_until, tb_seconds() + SHARING_SECONDS, memory_order_relaxed);
}

static void stop_sleeping(void *unused)
{
    (void)unused;
    atomic_fetch_sub(&server.wire->client_sleeps, 1);
}

/* The server looks at client_sleeps after it has moved the word: one of the two sees the other. */
static void sleep_until(is_so *is, uint32_t which, uint32_t number, _Atomic(uint32_t) *word)
{
    tb_leaving leaving;
    tb_when_left(&leaving, stop_sleeping, NULL);
    atomic_fetch_add(&server.wire->client_sleeps, 1);
    const uint32_t seen = atomic_load(word);
    if (!is(which, number))
        tb_wire_wait(word, seen, SLEEP_SECONDS);
    stop_sleeping(NULL);
    tb_not_left(&leaving);
}

/* Until it is so, or the server is lost: looks for a while, then sleeps until the word moves. */
static tb_status wait_until(is_so *is, uint32_t which, uint32_t number, _Atomic(uint32_t) *word)
{
    tb_pulse pulse = {0};
    const bool looks = tb_seconds() >= atomic_load_explicit(&shared_until, memory_order_relaxed);
    if (looks)
        look(is, which, number);
    const double start = tb_seconds();
    bool sleeps = false;
    for (; !is(which, number); sleeps = true) {
        if (is_lost())
            return TB_DEVICE_LOST;
        if (atomic_load(&server.wire->status) != TB_OK || !is_alive(&pulse))
            return lose();
        sleep_until(is, which, number, word);
    }
    if (looks && sleeps)
        note_sleep(tb_seconds() - start);
    return is_lost() || atomic_load(&server.wire->status) != TB_OK ? lose() : TB_OK;
}

bool tb_record_has_passed(uint32_t event, uint32_t number)
{
    return (int32_t)(atomic_load_explicit(&server.wire->passed[event], memory_order_acquire) - number) >= 0;
}

tb_status tb_wait_for_record(uint32_t event, uint32_t number)
{
    return is_lost() ? TB_DEVICE_LOST
                     : wait_until(tb_record_has_passed, event, number, &server.wire->events_passed);
}

/* ---- Orders ----------------------------------------------------------------------------------------------- */

static bool has_room(uint32_t which, uint32_t tail)
{
    (void)which;
    return tail - atomic_load_explicit(&server.wire->head, memory_order_acquire) < TB_WIRE_ORDERS;
}

static bool is_answered(uint32_t which, uint32_t number)
{
    (void)which;
    return atomic_load_explicit(&server.wire->answered, memory_order_acquire) == number;
}

/* Only what the kind needs is copied: most orders have no command. */
static size_t bytes_of(const tb_order *order)
{
    switch (order->kind) {
    case TB_ORDER_COMMAND:
        return sizeof *order;
    case TB_ORDER_TELL_KEY:
    case TB_ORDER_KEEP_COPY:
    case TB_ORDER_FIND_COPY:
        return offsetof(tb_order, copy) + sizeof order->copy;
    default:
        return offsetof(tb_order, command);
    }
}

/* Under the lock. */
static tb_status write_order(const tb_order *order)
{
    tb_wire *wire = server.wire;
    const uint32_t tail = atomic_load_explicit(&wire->tail, memory_order_relaxed);
    if (!has_room(0, tail))
        TB_TRY(wait_until(has_room, 0, tail, &wire->head));
    memcpy(&wire->orders[tail % TB_WIRE_ORDERS], order, bytes_of(order));
    /* The order is there when tail says so; and either the server sees that tail has moved before it sleeps, or this thread sees
     * that it sleeps. */
    atomic_store(&wire->tail, tail + 1);
    if (atomic_load(&wire->server_sleeps))
        tb_wire_wake(&wire->tail);
    return TB_OK;
}

/* What a thread has left in the middle that jumped out of here is not gone on with: what it had asked for nobody gives back. */
static bool take_connection(void)
{
    if (is_lost())
        return false;
    tb_take_lock(&server.lock);
    if (!tb_is_damaged(&server.lock))
        return true;
    tb_free_lock(&server.lock);
    lose();
    return false;
}

tb_status tb_send_order(const tb_order *order)
{
    if (!take_connection())
        return TB_DEVICE_LOST;
    const tb_status status = write_order(order);
    tb_free_lock(&server.lock);
    return status;
}

tb_status tb_ask_server(tb_order *order, uint64_t answers[2])
{
    if (!take_connection())
        return TB_DEVICE_LOST;
    order->number = ++server.numbers;
    tb_status status = write_order(order);
    if (status == TB_OK)
        status = wait_until(is_answered, 0, order->number, &server.wire->answered);
    if (status == TB_OK) {
        status = (tb_status)server.wire->answer;
        answers[0] = server.wire->answers[0];
        answers[1] = server.wire->answers[1];
    }
    tb_free_lock(&server.lock);
    return status;
}

/* ---- Threads that order ----------------------------------------------------------------------------------- */

static bool is_not_being_taken_back(uint32_t which, uint32_t number)
{
    (void)which, (void)number;
    return atomic_load(&server.wire->use) != TB_WIRE_TAKING_BACK;
}

/* The first thread that comes forgets, and then uses what is left; those that come with it wait. Nobody leaves it half done. */
static void forget_taken_back(void (*forget)(void))
{
    sigset_t signals;
    tb_hold_signals(&signals);
    tb_take_lock(&server.forgetting);
    if (atomic_load(&server.wire->use) == TB_WIRE_TAKEN_BACK) {
        forget();
        atomic_store(&server.wire->use, 0);
    }
    tb_free_lock(&server.forgetting);
    tb_let_signals(&signals);
}

void tb_begin_orders(void (*forget)(void))
{
    while (!is_lost()) {
        uint32_t now = atomic_load(&server.wire->use);
        if (now == TB_WIRE_TAKING_BACK)
            (void)wait_until(is_not_being_taken_back, 0, 0, &server.wire->use);
        else if (now == TB_WIRE_TAKEN_BACK)
            forget_taken_back(forget);
        else if (atomic_compare_exchange_strong(&server.wire->use, &now, now + 1))
            return;
    }
}

/* What it comes to where the connection is lost nobody asks. */
void tb_end_orders(void)
{
    atomic_fetch_sub(&server.wire->use, 1);
}
