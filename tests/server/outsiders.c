/* What a client believes of whoever answers at its server's place, and what of its surroundings: the products are right whatever they say.
 *
 *   outsiders relayed|strange|foreign|environment COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device. Most of it is done by a relay: it stands where programs look for a server,
 * asks a sound one, and passes the answer on with one thing changed.
 */
#include "lib/process/clock.h"
#include "lib/process/private_folder.h"
#include "tests/server/door.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
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

static void open_slots(relayed *answer)
{
    put_file(answer, 1, answer->welcome.slots_bytes, F_SEAL_GROW);
}

static void shorten_wire(relayed *answer)
{
    put_file(answer, 0, sizeof(tb_wire) - 1, F_SEAL_SHRINK);
}

static void shorten_slots(relayed *answer)
{
    put_file(answer, 1, answer->welcome.slots_bytes - 1, F_SEAL_SHRINK);
}

static void tell_endless_slots(relayed *answer)
{
    answer->welcome.slots_bytes = UINT64_MAX;
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
    put_file(answer, 1, answer->welcome.slots_bytes, F_SEAL_SHRINK);
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

/* And is not asked again and again. */
static void be_left(void *unused)
{
    (void)unused;
    const int files = open_files();
    const double start = tb_seconds();
    has_no_device = true;
    prefer_device();
    const int served = multiply_all(), asked = atomic_load(come);
    const double seconds = tb_seconds() - start;
    CHECK(served == 0, "%d products were served", served);
    CHECK(asked > 0 && asked <= 1 + (int)seconds, "it was asked %d times in %.1f s", asked, seconds);
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

static child_end meet_relay(int door, change *change, void (*client)(void *))
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
    const child_end end = child_run(client, NULL, CHILD_SECONDS);
    kill(between, SIGKILL);
    waitpid(between, NULL, 0);
    return end;
}

/* Through a relay that changes nothing. */
static void relayed_soundly(void)
{
    const pid_t server = start_elsewhere();
    const int door = open_door(SOCK_SEQPACKET);
    const child_end end = meet_relay(door, change_nothing, be_served);
    CHECK(end == CHILD_RIGHT, "a client behind a relay: %s", child_end_text(end));
    close(door);
    server_end(server, SIGTERM);
}

static void strange(void)
{
    static const struct {
        const char *what;
        change *change;
    } rows[] = {{"another build", change_build},
                {"another status", change_status},
                {"no devices", tell_no_devices},
                {"too many devices", tell_too_many_devices},
                {"less than no devices", tell_negative_devices},
                {"a byte less", leave_last_byte_out},
                {"one byte", send_one_byte},
                {"no file", send_no_file},
                {"one file", send_one_file},
                {"a wire that can be made shorter", open_wire},
                {"slots that can be made shorter", open_slots},
                {"a wire that is too short", shorten_wire},
                {"slots that are too short", shorten_slots},
                {"slots without end", tell_endless_slots},
                {"folders", send_folders},
                {"files of nobody", send_dead_files},
                {"another user's answer", send_as_another_user}};
    const pid_t server = start_elsewhere();
    const int door = open_door(SOCK_SEQPACKET);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].change == send_as_another_user && geteuid() != 0)
            continue;
        const child_end end = meet_relay(door, rows[i].change, be_left);
        CHECK(end == CHILD_RIGHT, "a client that is sent %s: %s", rows[i].what, child_end_text(end));
    }
    close(door);
    server_end(server, SIGTERM);
}

/* ---- A server of another user -------------------------------------------------------------------------------- */

/* A folder that everybody reaches, and that is the user's. */
static void make_common_folder(char *path, uid_t user)
{
    strcpy(path, "/tmp/tileblas-outsiders-XXXXXX");
    if (!mkdtemp(path) || chmod(path, 0755) != 0 || chown(path, user, user) != 0)
        SKIP("no folder for another user can be made");
}

/* In the folder where it runs; NULL: nothing is to be read there. */
static pid_t start_as_another_user(const char *path)
{
    int ends[2];
    char line[128] = "";
    const int command = open(server_command, O_RDONLY | O_CLOEXEC);
    if (pipe(ends) != 0 || command < 0)
        abort();
    const pid_t server = fork();
    if (server == 0) {
        char *arguments[] = {"tileblas", "serve", "--socket", "socket", NULL};
        if (dup2(ends[1], STDOUT_FILENO) < 0 || chdir(path) != 0 || setgid(NOBODY) != 0 ||
            setuid(NOBODY) != 0)
            _exit(127);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fexecve(command, arguments, environ);
        _exit(127);
    }
    close(ends[1]);
    close(command);
    const bool is_ready = read(ends[0], line, sizeof line - 1) > 0 && strncmp(line, "ready", 5) == 0;
    close(ends[0]);
    CHECK(is_ready, "another user's server says: %s", line);
    return server;
}

static void refuse_another_users(void *path)
{
    tb_welcome status;
    const int files = open_files();
    has_no_device = true;
    prefer_device();
    tileblas_set_option("SERVER", path);
    const int served = multiply_all();
    CHECK(served == 0 && open_files() == files, "%d products were served by another user's server", served);
    CHECK(!tb_ask_status(&status, 5000) && strstr(tb_why_no_server(), "another user") != NULL,
          "another user's server: %s", tb_why_no_server());
}

static void foreign(void)
{
    char path[64], socket_path[PATH_MAX];
    if (geteuid() != 0)
        SKIP("only root can be another user");
    make_common_folder(path, NOBODY);
    snprintf(socket_path, sizeof socket_path, "%s/socket", path);
    const pid_t server = start_as_another_user(path);
    CHECK(access(socket_path, F_OK) == 0, "there is no server's socket");
    const child_end end = child_run(refuse_another_users, socket_path, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client of another user's server: %s", child_end_text(end));
    CHECK(server_end(server, SIGTERM) == 0, "another user's server did not end well");
    CHECK(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s stays", path);
}

/* ---- The environment of a program that has its owner's rights ---------------------------------------------- */

/* What this program does where it is run as such a one. */
static int be_privileged(const char *wanted)
{
    if ((getauxval(AT_SECURE) != 0) != (strcmp(wanted, "secure") == 0))
        return CHECK_SKIPPED;
    has_no_device = true;
    tileblas_set_option("ROUTE", "streamed");
    multiply_all();
    return check_result();
}

static int open_copy(const char *path, mode_t mode)
{
    char bytes[1 << 16];
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
              to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    for (ssize_t count; (count = read(from, bytes, sizeof bytes)) > 0;)
        if (write(to, bytes, (size_t)count) != count)
            abort();
    close(from);
    if (fchmod(to, mode) != 0)
        abort();
    close(to);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether it has ended well; whoever knocks meanwhile waits at the door. */
static bool run_copy(int program, const char *variable, const char *value, uid_t user, const char *wanted)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {"outsiders", "as", (char *)(uintptr_t)wanted, NULL};
        unsetenv("XDG_RUNTIME_DIR");
        setenv(variable, value, 1);
        if (setgid(user) != 0 || setuid(user) != 0)
            _exit(127);
        fexecve(program, arguments, environ);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED)
        SKIP("programs have no rights of their owner's here");
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool has_knocked(int door)
{
    struct pollfd ready = {.fd = door, .events = POLLIN};
    const bool any = poll(&ready, 1, 0) == 1;
    if (any)
        close(accept(door, NULL, NULL));
    return any;
}

/* Which somebody else has set: the option, and the folder for what runs. Where the program has its caller's rights both are heeded. */
static void environment(void)
{
    char path[PATH_MAX + 16], copy[PATH_MAX + 16];
    if (geteuid() != 0)
        SKIP("only root can give a program away");
    snprintf(path, sizeof path, "%s/named", folder.path);
    snprintf(copy, sizeof copy, "%s/program", folder.path);
    const int in_folder = open_door(SOCK_SEQPACKET);
    tileblas_set_option("SERVER", path);
    const int named = open_door(SOCK_SEQPACKET), program = open_copy(copy, 04755);
    const struct {
        const char *variable, *value;
        int door;
    } rows[] = {{"TILEBLAS_SERVER", path, named}, {"XDG_RUNTIME_DIR", folder.path, in_folder}};
    for (int i = 0; i < 2; i++) {
        CHECK(run_copy(program, rows[i].variable, rows[i].value, 0, "open") && has_knocked(rows[i].door),
              "%s is not heeded at all", rows[i].variable);
        CHECK(run_copy(program, rows[i].variable, rows[i].value, NOBODY, "secure"),
              "a product of a program with rights of its owner's is wrong");
        CHECK(!has_knocked(rows[i].door), "%s is heeded", rows[i].variable);
    }
}

int main(int argument_count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {{"relayed", relayed_soundly},
                    {"strange", strange},
                    {"foreign", foreign},
                    {"environment", environment}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    if (strcmp(arguments[1], "as") == 0)
        return be_privileged(arguments[2]);
    server_command = arguments[2];
    folder = make_runtime_folder();
    close(tb_open_private_folder());
    come = mmap(NULL, sizeof *come, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(arguments[1], programs[i].name) == 0)
            programs[i].run();
    remove_runtime_folder(&folder);
    return check_result();
}
