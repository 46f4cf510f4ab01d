#include "lib/server/server.h"

#include "lib/device/platform.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/process/private_folder.h"
#include "lib/server/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* So many clients at a time; berths that wait for the next ones. */
enum { CLIENTS_MOST = 256, BERTHS_READY = 2 };

/* Between two moves of the heartbeat. */
#define BEAT_SECONDS 2e-3

/* A client says what it is within so long of its coming. */
#define HELLO_MILLISECONDS 1000

/* What a pipeline's slots take, and pieces beside them. */
#define SLOTS_BESIDE ((uint64_t)8 << 20)

static tb_session_facts facts;
static tb_welcome welcome;
static atomic_bool stop, lost;
static volatile sig_atomic_t was_signalled;

/* ---- Berths ----------------------------------------------------------------------------------------------- */

static struct {
    tb_lock lock;
    tb_berth ready[BERTHS_READY];
    int ready_count;
    tb_wire *in_use[CLIENTS_MOST]; /* whose hearts beat */
    int clients;
    double left; /* when the last client left */
} port;

static uint64_t slots_bytes(void)
{
    enum { SLOTS_OF_A_PIPELINE = 8 };
    return SLOTS_OF_A_PIPELINE * (uint64_t)tb_slot_bytes() + SLOTS_BESIDE;
}

static bool wants_berths(void)
{
    tb_take_lock(&port.lock);
    const bool wants = port.ready_count < BERTHS_READY;
    tb_free_lock(&port.lock);
    return wants;
}

/* One at a time, made without the lock. */
static void make_berths_ready(void)
{
    tb_berth fresh;
    while (wants_berths() && !atomic_load(&stop) && tb_make_berth(&fresh, slots_bytes())) {
        tb_take_lock(&port.lock);
        const bool is_wanted = port.ready_count < BERTHS_READY;
        if (is_wanted)
            port.ready[port.ready_count++] = fresh;
        tb_free_lock(&port.lock);
        if (!is_wanted)
            tb_unmake_berth(&fresh);
    }
}

/* One that was ready, or a new one. */
static bool take_berth(tb_berth *berth)
{
    tb_take_lock(&port.lock);
    const bool is_ready = port.ready_count > 0, has_room = port.clients < CLIENTS_MOST;
    if (is_ready && has_room)
        *berth = port.ready[--port.ready_count];
    tb_free_lock(&port.lock);
    return has_room && (is_ready || tb_make_berth(berth, slots_bytes()));
}

static bool enter(tb_wire *wire)
{
    tb_take_lock(&port.lock);
    const bool has_room = port.clients < CLIENTS_MOST;
    if (has_room)
        port.in_use[port.clients++] = wire;
    tb_free_lock(&port.lock);
    return has_room;
}

static void leave(const tb_wire *wire)
{
    tb_take_lock(&port.lock);
    for (int i = 0; i < port.clients; i++)
        if (port.in_use[i] == wire) {
            port.in_use[i] = port.in_use[--port.clients];
            break;
        }
    port.left = tb_seconds();
    tb_free_lock(&port.lock);
}

/* A server that has been stopped, or is gone, has no heartbeat; one whose devices are busy for long has. */
static void *beat(void *unused)
{
    while (!atomic_load(&stop)) {
        tb_take_lock(&port.lock);
        for (int i = 0; i < port.clients; i++)
            atomic_fetch_add(&port.in_use[i]->heartbeat, 1);
        tb_free_lock(&port.lock);
        nanosleep(&(struct timespec){.tv_nsec = (long)(BEAT_SECONDS * 1e9)}, NULL);
    }
    return unused;
}

static void *keep_berths(void *unused)
{
    while (!atomic_load(&stop)) {
        make_berths_ready();
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
    tb_take_lock(&port.lock);
    own.clients = port.clients;
    tb_free_lock(&port.lock);
    for (int i = 0; i < facts.chip_count; i++)
        own.held_bytes[i] = tb_held_bytes(facts.chips[i].device);
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
    own.slots_bytes = berth->slots_bytes;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(header), files, sizeof files);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof own;
}

static void hold_session(int socket, tb_berth *berth, pid_t pid)
{
    const int client = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (enter(berth->wire)) {
        if (say_welcome(socket, berth)) {
            tb_close_berth_files(berth);
            if (tb_hold_session(&facts, berth, socket, client, &stop) == TB_DEVICES_FAILED) {
                atomic_store(&lost, true);
                atomic_store(&stop, true);
            }
        }
        leave(berth->wire);
    }
    if (client >= 0)
        close(client);
}

static atomic_int receiving; /* threads */

static void *receive_client(void *argument)
{
    const int socket = (int)(intptr_t)argument;
    tb_berth berth;
    tb_hello hello;
    pid_t pid;
    const bool is_client = hear_hello(socket, &hello, &pid);
    if (is_client && hello.slot_bytes == 0) {
        say_status(socket);
    } else if (is_client && take_berth(&berth)) {
        hold_session(socket, &berth, pid);
        tb_unmake_berth(&berth);
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

/* The lock is this server's for as long as it lives; -1: another one has it, or there is no folder. */
static int take_name(int folder, const char *name)
{
    char lock_name[80];
    snprintf(lock_name, sizeof lock_name, "%s.lock", name);
    const int file = openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static int listen_in(int folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
    unlinkat(folder, name, 0); /* of a server that was killed */
    if (file >= 0 && bind(file, (const struct sockaddr *)&address, sizeof address) == 0 &&
        fchmodat(folder, name, 0600, 0) == 0 && listen(file, CLIENTS_MOST) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static bool is_idle(const tb_server_options *options)
{
    tb_take_lock(&port.lock);
    const bool is_idle =
        options->idle_seconds > 0 && port.clients == 0 && tb_seconds() - port.left > options->idle_seconds;
    tb_free_lock(&port.lock);
    return is_idle;
}

static void accept_clients(int listening, const tb_server_options *options)
{
    while (!was_signalled && !atomic_load(&stop) && !is_idle(options)) {
        struct pollfd ready = {.fd = listening, .events = POLLIN};
        if (poll(&ready, 1, 50) != 1)
            continue;
        const int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            start_receiving(client);
    }
}

/* ---- Serving ---------------------------------------------------------------------------------------------- */

static void note_signal(int signal)
{
    (void)signal;
    was_signalled = 1;
}

static bool bring_devices_up(void)
{
    const tb_plan now = {.start = TB_START_NOW};
    tb_machine_start(&now, NULL);
    const tb_machine machine = tb_machine_facts();
    facts.chips = machine.chips;
    while (facts.chip_count < machine.chip_count && facts.chip_count < TB_WIRE_DEVICES &&
           machine.chips[facts.chip_count].open)
        facts.chip_count++;
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
}

/* What they hold is given back by them; not for ever, as a device may be at fault. */
static void wait_for_sessions(void)
{
    enum { ROUNDS = 2000 };
    for (int round = 0; round < ROUNDS && atomic_load(&receiving) > 0; round++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The heart, and who makes berths, while clients are received. */
static bool receive_clients(int listening, const tb_server_options *options)
{
    pthread_t heart, keeper;
    if (pthread_create(&heart, NULL, beat, NULL) != 0)
        return false;
    const bool has_keeper = pthread_create(&keeper, NULL, keep_berths, NULL) == 0;
    port.left = tb_seconds();
    printf("ready: %s\n", welcome.descriptions[0].name);
    fflush(stdout);
    if (has_keeper)
        accept_clients(listening, options);
    atomic_store(&stop, true);
    wait_for_sessions();
    pthread_join(heart, NULL);
    if (has_keeper)
        pthread_join(keeper, NULL);
    return has_keeper;
}

static tb_server_end serve_in(int folder, const tb_server_options *options)
{
    char name[64];
    tb_wire_socket_name(name, sizeof name);
    const int own = take_name(folder, name);
    if (own < 0)
        return TB_SERVER_IS_THERE_ALREADY;
    if (!bring_devices_up())
        return TB_SERVER_HAS_NO_DEVICE;
    prepare_welcome();
    make_berths_ready();
    const int listening = listen_in(folder, name);
    if (listening < 0)
        return TB_SERVER_HAS_NO_SOCKET;
    const bool has_served = receive_clients(listening, options);
    unlinkat(folder, name, 0);
    close(listening);
    if (!has_served)
        return TB_SERVER_HAS_NO_SOCKET;
    return atomic_load(&lost) && !was_signalled ? TB_SERVER_LOST_DEVICE : TB_SERVER_STOPPED;
}

tb_server_end tb_serve(const tb_server_options *options)
{
    const struct sigaction action = {.sa_handler = note_signal};
    const int folder = tb_open_private_folder();
    if (folder < 0)
        return TB_SERVER_HAS_NO_SOCKET;
    facts.memory_most = options->memory_most;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* who has read that it is ready may be gone */
    const tb_server_end end = serve_in(folder, options);
    close(folder);
    return end;
}
