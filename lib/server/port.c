#include "lib/server/port.h"

#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/server/kept_copies.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Clients at a time. Berths that wait for the next ones: so many are made, and so many kept that others have left, but of the computer's
 * memory only a share, and all of them only for so long after one was taken last. */
enum { CLIENTS_MOST = 256, READY_LEAST = 2, READY_MOST = 16, MEMORY_SHARE = 32 };
#define KEEP_SECONDS 60.0

/* Where there is no memory for one, or for more slots, or the device takes none, the next attempt is so much later. */
#define ATTEMPT_SECONDS 1.0

static struct {
    tb_lock lock;
    tb_slots_extent slots;
    int most;            /* that are ready */
    uint64_t steps_most; /* of all clients' slots */
    tb_berth ready[READY_MOST], left[READY_MOST];
    int ready_count, left_count;
    double taken;                   /* when one was taken last */
    double failed;                  /* when there was no memory for one */
    tb_berth *in_use[CLIENTS_MOST]; /* whose hearts beat */
    int clients;
    tb_berth *growing;               /* NULL: none does */
    tb_berth *wanting[CLIENTS_MOST]; /* to grow, in the order of asking */
    int wanting_count;
    double empty_since;
} port;

void tb_open_port(const tb_slots_extent *slots)
{
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
                   most = memory / MEMORY_SHARE / (slots->first + 1);
    port.slots = *slots;
    port.steps_most = memory / MEMORY_SHARE / (slots->step + 1);
    port.most = most < READY_LEAST ? READY_LEAST : most > READY_MOST ? READY_MOST : (int)most;
    port.taken = port.empty_since = tb_seconds();
}

/* ---- Berths ----------------------------------------------------------------------------------------------- */

bool tb_take_berth(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool is_ready = port.ready_count > 0, has_room = port.clients < CLIENTS_MOST;
    if (is_ready && has_room)
        *berth = port.ready[--port.ready_count];
    port.taken = tb_seconds();
    tb_free_lock(&port.lock);
    return has_room && (is_ready || tb_make_berth(berth, &port.slots));
}

void tb_give_berth(tb_berth *berth, bool has_ended)
{
    tb_take_lock(&port.lock);
    const bool is_kept = has_ended && port.left_count + port.ready_count < port.most;
    if (is_kept)
        port.left[port.left_count++] = *berth;
    tb_free_lock(&port.lock);
    if (!is_kept)
        tb_unmake_berth(berth);
}

/* One that was left; false: there is none. */
static bool take_left(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool any = port.left_count > 0;
    if (any)
        *berth = port.left[--port.left_count];
    tb_free_lock(&port.lock);
    return any;
}

/* Under the lock. */
static bool has_just_failed(void)
{
    return port.failed > 0 && tb_seconds() - port.failed <= ATTEMPT_SECONDS;
}

static void note_failure(void)
{
    tb_take_lock(&port.lock);
    port.failed = tb_seconds();
    tb_free_lock(&port.lock);
}

static bool wants_more(void)
{
    tb_take_lock(&port.lock);
    const bool wants = port.ready_count + port.left_count < READY_LEAST && !has_just_failed();
    tb_free_lock(&port.lock);
    return wants;
}

static void add_ready(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool has_room = port.ready_count < port.most;
    if (has_room)
        port.ready[port.ready_count++] = *berth;
    tb_free_lock(&port.lock);
    if (!has_room)
        tb_unmake_berth(berth);
}

static void make_ready(tb_berth *berth)
{
    if (tb_make_berth(berth, &port.slots))
        add_ready(berth);
    else
        note_failure();
}

/* One that nobody has needed for long. */
static bool take_surplus(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool any = port.ready_count > READY_LEAST && tb_seconds() - port.taken > KEEP_SECONDS;
    if (any)
        *berth = port.ready[--port.ready_count];
    tb_free_lock(&port.lock);
    return any;
}

/* ---- Slots that grow -------------------------------------------------------------------------------------- */

/* Under the lock. */
static bool find(tb_berth *const *berths, int count, const tb_berth *berth, int *index)
{
    *index = 0;
    while (*index < count && berths[*index] != berth)
        ++*index;
    return *index < count;
}

/* Under the lock: by which all clients' slots have grown, or are about to. */
static uint64_t count_steps(void)
{
    uint64_t steps = (uint64_t)port.wanting_count + (port.growing ? 1 : 0);
    for (int i = 0; i < port.clients; i++)
        steps += atomic_load(&port.in_use[i]->steps);
    return steps;
}

void tb_want_slots(tb_berth *berth)
{
    int index;
    tb_take_lock(&port.lock);
    if (find(port.in_use, port.clients, berth, &index) && port.growing != berth &&
        atomic_load(&berth->steps) < port.slots.steps_most &&
        !find(port.wanting, port.wanting_count, berth, &index) && count_steps() < port.steps_most)
        port.wanting[port.wanting_count++] = berth;
    tb_free_lock(&port.lock);
}

/* Under the lock. */
static void stop_wanting(const tb_berth *berth)
{
    int index;
    if (!find(port.wanting, port.wanting_count, berth, &index))
        return;
    port.wanting_count--;
    memmove(&port.wanting[index], &port.wanting[index + 1],
            (size_t)(port.wanting_count - index) * sizeof *port.wanting);
}

/* Those of the client that has asked first; not at once where others' could not. */
static void grow_slots(void)
{
    tb_take_lock(&port.lock);
    tb_berth *berth = port.growing = port.wanting_count > 0 && !has_just_failed() ? port.wanting[0] : NULL;
    if (berth)
        stop_wanting(berth);
    tb_free_lock(&port.lock);
    if (!berth)
        return;
    if (!tb_grow_berth(berth))
        note_failure();
    tb_take_lock(&port.lock);
    port.growing = NULL;
    tb_free_lock(&port.lock);
}

static int count_wanting(void)
{
    tb_take_lock(&port.lock);
    const int count = port.wanting_count;
    tb_free_lock(&port.lock);
    return count;
}

/* ---- Now and then ----------------------------------------------------------------------------------------- */

void tb_keep_berths(void)
{
    tb_berth berth;
    for (int i = count_wanting(); i > 0; i--) /* who asks meanwhile waits for the next time */
        grow_slots();
    while (take_left(&berth)) {
        tb_clean_berth(&berth);
        add_ready(&berth);
    }
    while (wants_more())
        make_ready(&berth);
    while (take_surplus(&berth))
        tb_unmake_berth(&berth);
}

/* ---- Clients ---------------------------------------------------------------------------------------------- */

bool tb_enter_port(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool has_room = port.clients < CLIENTS_MOST;
    if (has_room)
        port.in_use[port.clients++] = berth;
    tb_tell_client_keys(berth->wire);
    tb_free_lock(&port.lock);
    return has_room;
}

void tb_leave_port(const tb_berth *berth)
{
    int index;
    tb_take_lock(&port.lock);
    stop_wanting(berth);
    while (port.growing == berth) {
        tb_free_lock(&port.lock);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        tb_take_lock(&port.lock);
    }
    if (find(port.in_use, port.clients, berth, &index))
        port.in_use[index] = port.in_use[--port.clients];
    port.empty_since = tb_seconds();
    tb_free_lock(&port.lock);
}

void tb_beat(void)
{
    tb_take_lock(&port.lock);
    for (int i = 0; i < port.clients; i++) {
        atomic_fetch_add(&port.in_use[i]->wire->heartbeat, 1);
        tb_tell_client_keys(port.in_use[i]->wire);
    }
    tb_free_lock(&port.lock);
}

int tb_clients(void)
{
    tb_take_lock(&port.lock);
    const int clients = port.clients;
    tb_free_lock(&port.lock);
    return clients;
}

double tb_empty_since(void)
{
    tb_take_lock(&port.lock);
    const double since = port.clients == 0 ? port.empty_since : 0;
    tb_free_lock(&port.lock);
    return since;
}
