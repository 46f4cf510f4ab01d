/* What a client believes of whoever answers at its server's place: its products are right whatever that says.
 *
 *   outsiders relayed|strange|mute|hanging COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device. Most of it is done by a relay: it stands where programs look for a server,
 * asks a sound one, and passes the answer on with one thing changed.
 */
#include "lib/process/clock.h"
#include "lib/process/private_folder.h"
#include "lib/serving/connection.h"
#include "tests/server/door.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { CHILD_SECONDS = 120, PRODUCTS = 12, NOBODY = 65534 };

static runtime_folder folder;

/* ---- Answers ----------------------------------------------------------------------------------------------- */

typedef struct relayed {
    tb_welcome welcome;
    size_t bytes; /* of the welcome that are sent */
    int files[2], file_count;
    bool is_by_another_user;
} relayed;

static void change_nothing(relayed *answer)
{
    (void)answer;
}

static void change_build(relayed *answer)
{
    answer->welcome.build++;
}

static void change_status(relayed *answer)
{
    answer->welcome.status = TB_DEVICE_LOST;
}

static void tell_no_devices(relayed *answer)
{
    answer->welcome.device_count = 0;
}

static void tell_too_many_devices(relayed *answer)
{
    answer->welcome.device_count = TB_WIRE_DEVICES + 1;
}

static void tell_negative_devices(relayed *answer)
{
    answer->welcome.device_count = -1;
}

static void leave_last_byte_out(relayed *answer)
{
    answer->bytes--;
}

static void send_one_byte(relayed *answer)
{
    answer->bytes = 1;
}

static void send_no_file(relayed *answer)
{
    answer->file_count = 0;
}

static void send_one_file(relayed *answer)
{
    answer->file_count = 1;
}

/* Of the same name and size, and whole pages. */
static void put_file(relayed *answer, int which, uint64_t bytes, int seals)
{
    const int file = memfd_create("tileblas of another", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0 || fcntl(file, F_ADD_SEALS, seals) != 0)
        abort();
    close(answer->files[which]);
    answer->files[which] = file;
}

static void open_wire(relayed *answer)
{
    put_file(answer, 0, sizeof(tb_wire), F_SEAL_GROW);
}

static uint64_t slots_bytes_of(const tb_welcome *welcome)
{
    return tb_slots_after(&welcome->slots, welcome->slots.steps_most);
}

static void open_slots(relayed *answer)
{
    put_file(answer, 1, slots_bytes_of(&answer->welcome), F_SEAL_GROW);
}

static void shorten_wire(relayed *answer)
{
    put_file(answer, 0, sizeof(tb_wire) - 1, F_SEAL_SHRINK);
}

static void shorten_slots(relayed *answer)
{
    put_file(answer, 1, slots_bytes_of(&answer->welcome) - 1, F_SEAL_SHRINK);
}

static void tell_endless_slots(relayed *answer)
{
    answer->welcome.slots.first = UINT64_MAX;
}

static void send_folders(relayed *answer)
{
    for (int i = 0; i < 2; i++) {
        close(answer->files[i]);
        answer->files[i] = open(".", O_RDONLY | O_CLOEXEC);
    }
}

/* Sound ones, at which nobody listens. */
static void send_dead_files(relayed *answer)
{
    put_file(answer, 0, sizeof(tb_wire), F_SEAL_SHRINK);
    put_file(answer, 1, slots_bytes_of(&answer->welcome), F_SEAL_SHRINK);
}

static void send_as_another_user(relayed *answer)
{
    answer->is_by_another_user = true;
}

/* ---- The relay --------------------------------------------------------------------------------------------- */

typedef void change(relayed *answer);

static void send_answer(int client, relayed *answer)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    const size_t files_bytes = (size_t)answer->file_count * sizeof(int);
    struct iovec part = {.iov_base = &answer->welcome, .iov_len = answer->bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (files_bytes > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(files_bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files_bytes);
        memcpy(CMSG_DATA(header), answer->files, files_bytes);
    }
    if (answer->is_by_another_user && setuid(NOBODY) != 0)
        abort();
    (void)!sendmsg(client, &message, MSG_NOSIGNAL);
}

/* What a sound server says, which goes on serving whoever has the files for as long as its socket is open. */
static int ask_sound_server(const tb_hello *hello, relayed *answer)
{
    const int server = tb_open_server_socket();
    tb_enclosed beside;
    if (server < 0 || send(server, hello, sizeof *hello, MSG_NOSIGNAL) != (ssize_t)sizeof *hello ||
        !tb_receive_welcome(server, 20000, &answer->welcome, &beside) || !beside.has_files)
        abort();
    memcpy(answer->files, beside.files, sizeof answer->files);
    answer->bytes = sizeof answer->welcome;
    answer->file_count = 2;
    return server;
}

static void relay_client(int client, change *change)
{
    tb_hello hello;
    relayed answer = {0};
    struct pollfd left = {.fd = client, .events = POLLRDHUP};
    if (recv(client, &hello, sizeof hello, 0) != (ssize_t)sizeof hello)
        return;
    const int server = ask_sound_server(&hello, &answer);
    change(&answer);
    send_answer(client, &answer);
    for (int i = 0; i < 2; i++)
        close(answer.files[i]);
    poll(&left, 1, -1);
    close(server);
}

/* Who has come. */
static atomic_int *come;

/* Each client by a process of its own, which may become another user's. */
static _Noreturn void relay(int door, change *change)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        const int client = accept(door, NULL, NULL);
        atomic_fetch_add(come, 1);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            relay_client(client, change);
            _exit(0);
        }
        close(client);
    }
}

/* ---- Clients ----------------------------------------------------------------------------------------------- */

static int multiply_all(void)
{
    check_random random = {1};
    int served = 0;
    for (int i = 0; i < PRODUCTS; i++)
        served += multiply(&random, 100, "by a client of whoever");
    return served;
}

static void be_served(void *unused)
{
    (void)unused;
    has_no_device = true;
    prefer_device();
    const int served = multiply_all();
    CHECK(served == PRODUCTS, "%d of %d products were served", served, PRODUCTS);
}

/* Longer than a client asks no server again. */
#define LOOK_SECONDS 1.1

/* And is not asked again and again; one without files that can be mapped, or that does nothing, not even when one is looked for again. */
static void be_left(void *is_left_alone)
{
    const int files = open_files();
    const double start = tb_seconds();
    has_no_device = true;
    prefer_device();
    int served = multiply_all();
    if (is_left_alone) {
        server_pause(LOOK_SECONDS);
        served += multiply_all();
    }
    const int asked = atomic_load(come);
    const double seconds = tb_seconds() - start;
    CHECK(served == 0, "%d products were served", served);
    CHECK(asked > 0 && asked <= 1 + (int)seconds, "it was asked %d times in %.1f s", asked, seconds);
    CHECK(!is_left_alone || asked == 1, "it is not left alone: it was asked %d times", asked);
    CHECK(open_files() == files && shared_maps() == 0, "%d files stay open, and %d maps stay",
          open_files() - files, shared_maps());
}

/* A sound server, at a place that clients are not told of. */
static pid_t start_elsewhere(void)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/sound", folder.path);
    setenv("TILEBLAS_SERVER", path, 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SERVER");
    return server;
}

static child_end meet_relay(int door, change *change, void (*client)(void *), bool *is_left_alone)
{
    char path[PATH_MAX + 8];
    atomic_store(come, 0);
    fflush(stdout);
    const pid_t between = fork();
    if (between == 0) {
        snprintf(path, sizeof path, "%s/sound", folder.path);
        tileblas_set_option("SERVER", path);
        relay(door, change);
    }
    const child_end end = child_run(client, is_left_alone, CHILD_SECONDS);
    kill(between, SIGKILL);
    waitpid(between, NULL, 0);
    return end;
}

/* Through a relay that changes nothing. */
static void relayed_soundly(void)
{
    const pid_t server = start_elsewhere();
    const int door = open_door(SOCK_SEQPACKET);
    const child_end end = meet_relay(door, change_nothing, be_served, NULL);
    CHECK(end == CHILD_RIGHT, "a client behind a relay: %s", child_end_text(end));
    close(door);
    server_end(server, SIGTERM);
}

static void strange(void)
{
    static const struct {
        const char *what;
        change *change;
        bool is_left_alone;
    } rows[] = {{"another build", change_build, false},
                {"another status", change_status, false},
                {"no devices", tell_no_devices, false},
                {"too many devices", tell_too_many_devices, false},
                {"less than no devices", tell_negative_devices, false},
                {"a byte less", leave_last_byte_out, false},
                {"one byte", send_one_byte, false},
                {"no file", send_no_file, false},
                {"one file", send_one_file, false},
                {"a wire that can be made shorter", open_wire, false},
                {"slots that can be made shorter", open_slots, false},
                {"a wire that is too short", shorten_wire, false},
                {"slots that are too short", shorten_slots, true},
                {"slots without end", tell_endless_slots, false},
                {"folders", send_folders, false},
                {"files of nobody", send_dead_files, true},
                {"another user's answer", send_as_another_user, false}};
    bool is_left_alone = true;
    const pid_t server = start_elsewhere();
    const int door = open_door(SOCK_SEQPACKET);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].change == send_as_another_user && geteuid() != 0)
            continue;
        const child_end end =
            meet_relay(door, rows[i].change, be_left, rows[i].is_left_alone ? &is_left_alone : NULL);
        CHECK(end == CHILD_RIGHT, "a client that is sent %s: %s", rows[i].what, child_end_text(end));
    }
    close(door);
    server_end(server, SIGTERM);
}

/* ---- Sockets at which nobody answers ------------------------------------------------------------------------ */

static void be_unanswered(void *unused)
{
    (void)unused;
    const int files = open_files();
    has_no_device = true;
    prefer_device();
    tileblas_set_option("START", "background"); /* who waits for a device waits for an answer */
    const int served = multiply_all();
    CHECK(served == 0 && open_files() == files, "%d products were served, and %d files stay open", served,
          open_files() - files);
}

/* Of two kinds; and a file, a folder, and a link to nothing, where a socket should be. */
static void mute(void)
{
    static const int types[] = {SOCK_SEQPACKET, SOCK_STREAM};
    char path[PATH_MAX];
    tb_print_server_place(path, sizeof path);
    for (int i = 0; i < 5; i++) {
        const int there = i < 2    ? open_door(types[i])
                          : i == 2 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
                          : i == 3 ? mkdir(path, 0700)
                                   : symlink("nothing", path);
        const child_end end = child_run(be_unanswered, NULL, CHILD_SECONDS);
        CHECK(there >= 0 && end == CHILD_RIGHT, "a client at socket %d: %s", i, child_end_text(end));
        if (i < 3)
            close(there);
        remove(path);
    }
}

/* In whose place this stands before send: it comes late. */
static bool sends_late;
ssize_t __real_send(int socket, const void *said, size_t bytes, int flags);
ssize_t __wrap_send(int socket, const void *said, size_t bytes, int flags);
ssize_t __wrap_send(int socket, const void *said, size_t bytes, int flags)
{
    struct pollfd over = {.fd = socket};
    if (sends_late)
        CHECK(poll(&over, 1, 20000) == 1, "nobody hangs up");
    return __real_send(socket, said, bytes, flags);
}

static void call_late(void *unused)
{
    (void)unused;
    tb_welcome welcome;
    const int files = open_files();
    tileblas_set_option("SERVER", "auto");
    sends_late = true;
    CHECK(!tb_connect_to_server(1, 5000) && !tb_ask_status(&welcome, 5000), "nobody has answered");
    CHECK(open_files() == files, "%d files stay open", open_files() - files);
}

/* Somebody hangs up before the client has said anything. */
static void hanging(void)
{
    const int door = open_door(SOCK_SEQPACKET);
    fflush(stdout);
    const pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            close(accept(door, NULL, NULL));
    }
    const child_end end = child_run(call_late, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client of whoever hangs up: %s", child_end_text(end));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close(door);
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {
        {"relayed", relayed_soundly}, {"strange", strange}, {"mute", mute}, {"hanging", hanging}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    server_command = arguments[2];
    folder = make_runtime_folder();
    close(tb_open_private_folder());
    come = mmap(NULL, sizeof *come, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
