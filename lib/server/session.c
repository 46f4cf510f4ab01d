#include "lib/server/session.h"

#include "lib/process/clock.h"
#include "lib/server/orders.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
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

/* How often the driver is asked about what devices tell clients themselves. */
#define ASKING_SECONDS 1e-3

/* Orders that are done before events are looked at again. */
enum { ORDERS_AT_A_TIME = 4 };

typedef struct session {
    tb_client client;
    tb_sleeper sleeper;
} session;

/* ---- What a client holds that sleeps ---------------------------------------------------------------------- */

/* Only this thread does what the client orders, and only it gives back what the client holds. A client that keeps to `use` gives no
 * order while the server has it; those that it has given before are done first, of which the ring holds all. From then on it names
 * nothing of what was taken back. One that does not keep to it names blocks that are not in its list any more: it is refused. */
static tb_status take_back(session *session)
{
    tb_wire *wire = session->client.wire;
    uint32_t nobody = 0;
    tb_status status = TB_OK;
    if (atomic_compare_exchange_strong(&wire->use, &nobody, TB_WIRE_TAKING_BACK)) {
        bool any = true;
        for (int i = 0; i < TB_WIRE_ORDERS && any && status == TB_OK; i++)
            status = tb_do_next_order(&session->client, &any);
        if (status == TB_OK)
            status = tb_give_all_blocks(&session->client);
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
static void sleep_for_orders(const tb_client *client)
{
    tb_wire *wire = client->wire;
    atomic_store(&wire->server_sleeps, 1);
    if (atomic_load(&wire->tail) == client->head)
        tb_wire_wait(&wire->tail, client->head, SLEEP_SECONDS);
    atomic_store(&wire->server_sleeps, 0);
}

static void pause_for_device(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(PAUSE_SECONDS * 1e9)}, NULL);
}

static tb_status do_orders(tb_client *client, bool *any)
{
    bool more = true;
    *any = false;
    for (int i = 0; i < ORDERS_AT_A_TIME && more; i++) {
        TB_TRY(tb_do_next_order(client, &more));
        *any = *any || more;
    }
    return TB_OK;
}

/* Where the client says, as long as clients are few; else wherever there is room. */
static void choose_cores(const tb_wire *wire, bool is_alone, bool *is_beside)
{
    cpu_set_t cores;
    const bool wants = is_alone && atomic_load_explicit(&wire->knows_cores, memory_order_acquire);
    if (wants == *is_beside)
        return;
    *is_beside = wants;
    if (wants)
        cores = wire->cores;
    else if (sched_getaffinity(getpid(), sizeof cores, &cores) != 0) /* the main thread's */
        return;
    (void)!sched_setaffinity(0, sizeof cores, &cores);
}

static tb_status serve_client(session *session, int socket, int client, const atomic_bool *stop)
{
    double moved = tb_seconds(), looked = moved, asked = moved;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    tb_client_events *events = &session->client.events;
    bool is_beside = false;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns: pauses are as short as they are meant to be */
    while (!atomic_load(stop)) {
        bool ordered, passed;
        TB_TRY(do_orders(&session->client, &ordered));
        const double now = tb_seconds();
        const bool asks = now - asked > ASKING_SECONDS;
        if (asks)
            asked = now;
        TB_TRY(tb_tell_passed(events, asks, &passed));
        if (atomic_load_explicit(&session->sleeper.is_wanted, memory_order_relaxed))
            TB_TRY(take_back(session));
        const bool is_alone = CORES_OF_CLIENT * tb_count_sessions() <= cores;
        choose_cores(session->client.wire, is_alone, &is_beside);
        if (ordered || passed)
            atomic_store_explicit(&session->sleeper.moved, moved = now, memory_order_relaxed);
        else if (events->pending_count > 0 && (now - moved > BUSY_SECONDS || !is_alone))
            pause_for_device();
        else if (events->pending_count == 0 && now - moved > SPIN_SECONDS)
            sleep_for_orders(&session->client);
        else
            tb_wire_pause();
        if (now - looked < SLEEP_SECONDS)
            continue;
        looked = now;
        if (has_left(socket, client))
            break;
    }
    return TB_OK;
}

static tb_status serve_among_others(session *session, int socket, int client, const atomic_bool *stop)
{
    atomic_store(&session->sleeper.moved, tb_seconds());
    if (!tb_enter_sleepers(&session->sleeper))
        return TB_REFUSED;
    const tb_status status = serve_client(session, socket, client, stop);
    tb_leave_sleepers(&session->sleeper);
    return status;
}

static void begin(session *session, const tb_session_facts *facts, tb_berth *berth)
{
    tb_client *client = &session->client;
    tb_begin_client(client, berth, facts->chips, facts->chip_count);
    client->memory.most = facts->memory_most;
    client->memory.sleeper = &session->sleeper;
    session->sleeper.wire = berth->wire;
}

tb_ending tb_hold_session(const tb_session_facts *facts, tb_berth *berth, int socket, int client,
                          const atomic_bool *stop)
{
    session *session = calloc(1, sizeof *session);
    if (!session)
        return TB_CLIENT_REFUSED;
    begin(session, facts, berth);
    const tb_status status = serve_among_others(session, socket, client, stop);
    atomic_store(&berth->wire->status, TB_DEVICE_LOST);
    tb_wire_wake(&berth->wire->events_passed);
    tb_wire_wake(&berth->wire->answered);
    tb_wire_wake(&berth->wire->head);
    tb_free_client(&session->client);
    free(session);
    return status == TB_OK            ? TB_CLIENT_LEFT
           : status == TB_DEVICE_LOST ? TB_DEVICES_FAILED
                                      : TB_CLIENT_REFUSED;
}
