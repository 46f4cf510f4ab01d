#include "lib/server/server.h"

#include "lib/device/platform.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/process/clock.h"
#include "lib/server/cleaning.h"
#include "lib/server/client_events.h"
#include "lib/server/client_memory.h"
#include "lib/server/kept_copies.h"
#include "lib/server/listening.h"
#include "lib/server/port.h"
#include "lib/server/session.h"
#include "lib/server/warm_up.h"
#include "lib/user/options.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Between two moves of the heartbeat. */
#define BEAT_SECONDS 2e-3

/* A client says what it is within so long of its coming. */
#define HELLO_MILLISECONDS 1000

/* Copies of operands that nobody has used for so long are given back. */
#define UNUSED_SECONDS 600.0

/* Pieces beside the slots of a pipeline for each device. */
#define SLOTS_BESIDE ((uint64_t)8 << 20)

static tb_session_facts facts;
static tb_welcome welcome;
static atomic_bool stop, lost;
static volatile sig_atomic_t was_signalled;
static double ready_since;

static tb_slots_extent slots_extent(void)
{
    enum { SLOTS_OF_A_PIPELINE = 8 };
    const uint64_t devices = (uint64_t)facts.chip_count,
                   slots = SLOTS_OF_A_PIPELINE * (uint64_t)tb_slot_bytes();
    return (tb_slots_extent){devices * (slots + SLOTS_BESIDE), devices * slots, TB_WIRE_STEPS};
}

/* What devices had to do is looked at with each move of the heartbeat, and summed up over this long. */
#define LOAD_SECONDS 1.0

static _Atomic(float) loads[TB_WIRE_DEVICES];

typedef struct load_sums {
    double since;
    int looks, at_work[TB_WIRE_DEVICES];
} load_sums;

static void look_at_devices(load_sums *sums)
{
    const double now = tb_seconds();
    sums->looks++;
    for (int i = 0; i < facts.chip_count; i++)
        sums->at_work[i] += tb_is_at_work(facts.chips[i].device);
    if (now - sums->since < LOAD_SECONDS)
        return;
    for (int i = 0; i < TB_WIRE_DEVICES; i++)
        atomic_store(&loads[i], (float)sums->at_work[i] / (float)sums->looks);
    *sums = (load_sums){.since = now};
}

/* A server that has been stopped, or is gone, has no heartbeat; one whose devices are busy for long has. */
static void *beat(void *unused)
{
    load_sums sums = {.since = tb_seconds()};
    while (!atomic_load(&stop)) {
        look_at_devices(&sums);
        tb_beat();
        nanosleep(&(struct timespec){.tv_nsec = (long)(BEAT_SECONDS * 1e9)}, NULL);
    }
    return unused;
}

/* And kernels are made ready, besides. */
static void *keep_berths(void *unused)
{
    for (int i = 0; i < facts.chip_count && tb_option_value(TB_OPTION_CALIBRATE) != 0; i++)
        tb_warm_up(&facts.chips[i], &stop);
    while (!atomic_load(&stop)) {
        tb_keep_berths();
        tb_give_back_kept();
        tb_drop_copies(UNUSED_SECONDS);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return unused;
}

/* ---- Clients ---------------------------------------------------------------------------------------------- */

/* A client of this user's and of this build. */
static bool hear_hello(int socket, tb_hello *hello, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
        return false;
    *pid = peer.pid;
    return poll(&ready, 1, HELLO_MILLISECONDS) == 1 &&
           recv(socket, hello, sizeof *hello, MSG_DONTWAIT) == (ssize_t)sizeof *hello &&
           hello->build == tb_wire_build();
}

static tb_welcome make_welcome(void)
{
    tb_welcome own = welcome;
    own.clients = tb_clients();
    own.seconds = tb_seconds() - ready_since;
    for (int i = 0; i < facts.chip_count; i++) {
        own.held_bytes[i] = tb_held_bytes(facts.chips[i].device);
        own.kept_bytes[i] = tb_kept_copies_bytes(facts.chips[i].device);
        own.loads[i] = atomic_load(&loads[i]);
    }
    own.found_bytes = tb_found_bytes();
    return own;
}

static void say_status(int socket)
{
    const tb_welcome own = make_welcome();
    (void)!send(socket, &own, sizeof own, MSG_NOSIGNAL);
}

static bool say_welcome(int socket, const tb_berth *berth)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    const int files[2] = {berth->wire_file, berth->slots_file};
    tb_welcome own = make_welcome();
    struct iovec part = {.iov_base = &own, .iov_len = sizeof own};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    own.slots = berth->extent;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(header), files, sizeof files);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof own;
}

/* The process has ended, or does so at once: its files are closed a little earlier. */
static bool has_ended(int client)
{
    enum { MILLISECONDS = 100 };
    struct pollfd ended = {.fd = client, .events = POLLIN};
    return client >= 0 && poll(&ended, 1, MILLISECONDS) == 1;
}

/* A client that has not waited for the welcome has not got the berth. */
static void hold_session(int socket, tb_berth *berth, pid_t pid)
{
    const int client = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    bool is_unused = true;
    if (tb_enter_port(berth)) {
        is_unused = !say_welcome(socket, berth);
        if (!is_unused && tb_hold_session(&facts, berth, socket, client, &stop) == TB_DEVICES_FAILED) {
            atomic_store(&lost, true);
            atomic_store(&stop, true);
        }
        tb_leave_port(berth);
    }
    tb_give_berth(berth, is_unused || has_ended(client));
    if (client >= 0)
        close(client);
}

/* Many that did not wait for the server while it started. */
static bool has_left(int socket)
{
    struct pollfd ended = {.fd = socket, .events = POLLRDHUP};
    return poll(&ended, 1, 0) != 0;
}

static atomic_int receiving; /* threads */

static void *receive_client(void *argument)
{
    const int socket = (int)(intptr_t)argument;
    tb_berth berth;
    tb_hello hello;
    pid_t pid;
    const bool is_client = hear_hello(socket, &hello, &pid) && !has_left(socket);
    if (is_client && hello.slot_bytes == 0) {
        say_status(socket);
    } else if (is_client && tb_take_berth(&berth)) {
        hold_session(socket, &berth, pid);
    }
    close(socket);
    atomic_fetch_sub(&receiving, 1);
    return NULL;
}

static void start_receiving(int socket)
{
    pthread_t thread;
    atomic_fetch_add(&receiving, 1);
    if (pthread_create(&thread, NULL, receive_client, (void *)(intptr_t)socket) == 0) {
        pthread_detach(thread);
        return;
    }
    atomic_fetch_sub(&receiving, 1);
    close(socket);
}

/* ---- The socket ------------------------------------------------------------------------------------------- */

/* Nobody is there, and has been for long; or nobody can come any more. */
static bool is_idle(const tb_listening *listening, const tb_server_options *options)
{
    const double since = tb_empty_since();
    return since > 0 && ((options->idle_seconds > 0 && tb_seconds() - since > options->idle_seconds) ||
                         !tb_is_found(listening));
}

/* Until clients leave who have all the files that this process may have. */
static void pause_for_files(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void accept_clients(const tb_listening *listening, const tb_server_options *options)
{
    while (!was_signalled && !atomic_load(&stop) && !is_idle(listening, options)) {
        struct pollfd ready = {.fd = listening->socket, .events = POLLIN};
        if (poll(&ready, 1, 50) != 1)
            continue;
        const int client = accept4(listening->socket, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            start_receiving(client);
        else
            pause_for_files();
    }
}

/* ---- Serving ---------------------------------------------------------------------------------------------- */

static void note_signal(int signal)
{
    (void)signal;
    was_signalled = 1;
}

static bool is_wanted(const tb_server_options *options, int device)
{
    return options->devices == 0 || (options->devices >> device & 1) == 1;
}

/* The first of them settles what devices there are; the others are opened behind it. */
static bool bring_devices_up(const tb_server_options *options)
{
    static tb_chip chips[TB_WIRE_DEVICES];
    const int first = options->devices != 0 ? __builtin_ctzll(options->devices) : 0;
    tb_plan now = {.start = TB_START_NOW, .needs_device = true, .place.device = first};
    if (options->devices != 0)
        tb_machine_prefer(first);
    tb_machine_start(&now, NULL);
    for (now.place.device = 0; now.place.device < tb_machine_device_count(); now.place.device++)
        if (is_wanted(options, now.place.device))
            tb_machine_start(&now, NULL);
    const tb_machine machine = tb_machine_facts();
    for (int i = 0; i < machine.chip_count && facts.chip_count < TB_WIRE_DEVICES; i++)
        if (machine.chips[i].open && is_wanted(options, machine.chips[i].device))
            chips[facts.chip_count++] = machine.chips[i];
    facts.chips = chips;
    return facts.chip_count > 0;
}

static void prepare_welcome(void)
{
    welcome.build = tb_wire_build();
    welcome.status = TB_OK;
    welcome.process = getpid();
    welcome.device_count = facts.chip_count;
    for (int i = 0; i < facts.chip_count; i++) {
        const tb_chip *chip = &facts.chips[i];
        welcome.chips[i] = *chip;
        welcome.chips[i].clusters = NULL;
        welcome.knows_clusters[i] = chip->clusters != NULL;
        if (chip->clusters)
            welcome.clusters[i] = *chip->clusters;
        welcome.descriptions[i] = *tb_machine_device(chip->device);
    }
    tb_begin_keeping_copies(&welcome);
}

/* What they hold is given back by them; not for ever, as a device may be at fault. */
static void wait_for_sessions(void)
{
    enum { ROUNDS = 2000 };
    for (int round = 0; round < ROUNDS && atomic_load(&receiving) > 0; round++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

enum { FILES_MOST = 4096 };

/* A client takes four. Most systems let a process have a thousand unless it asks for more. */
static void allow_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    const rlim_t most = files.rlim_max < FILES_MOST ? files.rlim_max : FILES_MOST;
    if (files.rlim_cur >= most)
        return;
    files.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* The heart, and who makes berths, while clients are received. */
static bool receive_clients(const tb_listening *listening, const tb_server_options *options)
{
    pthread_t heart, keeper;
    if (pthread_create(&heart, NULL, beat, NULL) != 0)
        return false;
    const bool has_keeper = pthread_create(&keeper, NULL, keep_berths, NULL) == 0;
    ready_since = tb_seconds();
    if (options->when_ready)
        options->when_ready(welcome.descriptions[0].name);
    if (has_keeper)
        accept_clients(listening, options);
    atomic_store(&stop, true);
    wait_for_sessions();
    pthread_join(heart, NULL);
    if (has_keeper)
        pthread_join(keeper, NULL);
    return has_keeper;
}

/* Who has handed the socket over would start another server for those that wait at it. */
static void turn_away(const tb_listening *listening)
{
    struct pollfd ready = {.fd = listening->socket, .events = POLLIN};
    while (listening->socket >= 0 && poll(&ready, 1, 0) == 1) {
        const int client = accept4(listening->socket, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            break;
        close(client);
    }
}

static tb_server_end serve_at(tb_listening *listening, const tb_server_options *options)
{
    if (!bring_devices_up(options)) {
        turn_away(listening);
        return TB_SERVER_HAS_NO_DEVICE;
    }
    prepare_welcome();
    const tb_slots_extent slots = slots_extent();
    tb_open_port(&slots);
    tb_keep_berths();
    if (!tb_listen(listening) || !receive_clients(listening, options))
        return TB_SERVER_HAS_NO_SOCKET;
    return atomic_load(&lost) && !was_signalled ? TB_SERVER_LOST_DEVICE : TB_SERVER_STOPPED;
}

tb_server_end tb_serve(const tb_server_options *options)
{
    static const tb_server_end ends[] = {[TB_NAME_IS_TAKEN] = TB_SERVER_IS_THERE_ALREADY,
                                         [TB_NAME_IS_IMPOSSIBLE] = TB_SERVER_HAS_NO_SOCKET,
                                         [TB_HANDED_ANOTHER] = TB_SERVER_IS_HANDED_ANOTHER};
    const struct sigaction action = {.sa_handler = note_signal};
    tb_listening listening;
    const tb_naming naming = tb_take_name(&listening, options->path);
    if (naming != TB_NAMED)
        return ends[naming];
    facts.memory_most = options->memory_most;
    allow_files();
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* who has read that it is ready may be gone */
    signal(SIGXFSZ, SIG_IGN); /* files of clients are as large as slots, and there may be a limit */
    const tb_server_end end = serve_at(&listening, options);
    tb_stop_listening(&listening);
    return end;
}
