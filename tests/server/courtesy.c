/* What a client leaves alone that is its program's: files, memory, signals, limits; and what a server leaves alone that is others'.
 *
 *   courtesy closed|room|signals|forks|stranger|limit|berths|orphan|user COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/process/private_folder.h"
#include "lib/serving/connection.h"
#include "tests/server/door.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { CHILD_SECONDS = 120, FILES_MOST = 64 };

static int multiply_some(uint64_t seed)
{
    check_random random = {seed};
    int served = 0;
    for (int i = 0; i < 2; i++)
        served += multiply(&random, 100, "beside a fork");
    return served;
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static bool is_same_file(int file, int other)
{
    struct stat x, y;
    return fstat(file, &x) == 0 && fstat(other, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool was_open[FILES_MOST];

static void note_files(void)
{
    for (int file = 0; file < FILES_MOST; file++)
        was_open[file] = fcntl(file, F_GETFD) >= 0;
}

static void *meet_deaf_server(void *unused)
{
    CHECK(!tb_connect_to_server(1 << 20, 500), "nobody has answered");
    return unused;
}

/* While a client waits for the greeting, the program closes what it does not know, and its own next files have those numbers. */
static void closed(void)
{
    const int door = open_door(SOCK_SEQPACKET), own = memfd_create("the program's", 0);
    bool is_taken[FILES_MOST] = {false};
    pthread_t client;
    int taken = 0;
    note_files();
    tileblas_set_option("SERVER", "auto");
    pthread_create(&client, NULL, meet_deaf_server, NULL);
    const int peer = accept(door, NULL, NULL);
    server_pause(0.1); /* what it opens for a moment is closed */
    for (int file = 0; file < FILES_MOST; file++)
        if (!was_open[file] && file != peer && fcntl(file, F_GETFD) >= 0 && dup2(own, file) == file) {
            is_taken[file] = true;
            taken++;
        }
    pthread_join(client, NULL);
    CHECK(taken > 0, "the client has no socket");
    for (int file = 0; file < FILES_MOST; file++)
        CHECK(!is_taken[file] || is_same_file(file, own), "the program's file %d was closed", file);
}

/* One of the files that come with the welcome, and not the other. */
static void find_no_room(void *unused)
{
    (void)unused;
    struct rlimit limit;
    const int files = open_files();
    getrlimit(RLIMIT_NOFILE, &limit);
    tileblas_set_option("SERVER", "auto");
    int met = 0;
    for (rlim_t most = 3; most < 20; most++) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_NOFILE, &limit);
        met += tb_connect_to_server(1 << 20, 2000);
        tb_forget_server();
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        CHECK(open_files() == files, "with room for %d files %d stay", (int)most, open_files() - files);
    }
    CHECK(met > 0 && met < 17, "the server was met %d times", met);
}

static void room(void)
{
    const pid_t server = server_start();
    const child_end end = child_run(find_no_room, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client without room for files: %s", child_end_text(end));
    server_end(server, SIGTERM);
}

/* ---- Signals ------------------------------------------------------------------------------------------------ */

static void note(int signal)
{
    (void)signal;
}

/* They do not end the wait for a server that answers late. */
static void signals(void)
{
    const struct sigaction action = {.sa_handler = note};
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    tb_welcome status;
    const pid_t server = server_start();
    tileblas_set_option("SERVER", "auto");
    kill(server, SIGSTOP);
    const pid_t helper = fork();
    if (helper == 0) {
        server_pause(0.3);
        kill(server, SIGCONT);
        _exit(0);
    }
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    const bool answers = tb_ask_status(&status, 60000);
    setitimer(ITIMER_REAL, &never, NULL);
    waitpid(helper, NULL, 0);
    CHECK(answers, "with signals no server is found");
    server_end(server, SIGTERM);
}

/* ---- Forks -------------------------------------------------------------------------------------------------- */

static char *place; /* of the slots of the parent's, where the child has nothing */
static char *mapped;

/* Before the library's own. */
static void map_in_child(void)
{
    if (place)
        mapped = mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                      -1, 0);
}

__attribute__((constructor(200))) static void watch_forks_first(void)
{
    pthread_atfork(NULL, NULL, map_in_child);
}

/* Programs that this one becomes get none of it. */
static void check_files_of_served(void)
{
    int count = 0;
    for (int file = 0; file < FILES_MOST; file++)
        if (!was_open[file] && fcntl(file, F_GETFD) >= 0) {
            CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0, "file %d is inherited", file);
            count++;
        }
    CHECK(count > 0, "a client has no file");
}

/* What another library has put where the parent has its slots is the child's. */
static void fork_with_memory(void *unused)
{
    (void)unused;
    note_files();
    prefer_device();
    CHECK(multiply_some(1) == 2, "products are not served");
    check_files_of_served();
    place = tb_server_slots();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        unsigned char is_there;
        const bool is_right = mapped == place && mincore(mapped, 4096, &is_there) == 0;
        _exit(is_right ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    CHECK(child_wait(child, CHILD_SECONDS) == CHILD_RIGHT, "a child's memory was unmapped");
    CHECK(multiply_some(2) == 2, "products are not served after a fork");
}

static void forks(void)
{
    const pid_t server = server_start();
    const child_end end = child_run(fork_with_memory, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client that forks: %s", child_end_text(end));
    server_end(server, SIGTERM);
}

/* ---- Servers ------------------------------------------------------------------------------------------------ */

static int wait_for_end(pid_t server)
{
    int status = -1;
    for (int i = 0; i < 500 && waitpid(server, &status, WNOHANG) == 0; i++)
        server_pause(0.02);
    if (status == -1)
        server_end(server, SIGKILL);
    return status;
}

/* A socket of another kind, at which somebody listens, has the name: the server leaves it there. */
static void stranger(void)
{
    char path[PATH_MAX];
    const int door = open_door(SOCK_STREAM);
    tb_print_server_place(path, sizeof path);
    const pid_t server = fork();
    if (server == 0) {
        execl(server_command, server_command, "serve", (char *)NULL);
        _exit(127);
    }
    const int status = wait_for_end(server);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1, "the server ends with %d", status);
    CHECK(access(path, F_OK) == 0, "the other socket is gone");
    close(door);
}

/* What a client has got, and keeps: the wire's file and the slots'. */
static bool is_welcomed(int client, int files[2])
{
    const tb_hello hello = {.build = tb_wire_build(), .slot_bytes = 1};
    tb_welcome welcome;
    tb_enclosed beside;
    if (client < 0 || send(client, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello ||
        !tb_receive_welcome(client, 20000, &welcome, &beside) || !beside.has_files)
        return false;
    memcpy(files, beside.files, sizeof beside.files);
    return true;
}

static char *map_file(int file, size_t *bytes)
{
    struct stat found;
    fstat(file, &found);
    *bytes = (size_t)found.st_size;
    return mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

/* So that all of it is somebody's. */
static void write_all(int file)
{
    size_t bytes;
    char *written = map_file(file, &bytes);
    if (written != MAP_FAILED)
        memset(written, 's', bytes);
}

static long count_written(int file)
{
    size_t bytes;
    long count = 0;
    char *read = map_file(file, &bytes);
    for (size_t i = 0; read != MAP_FAILED && i < bytes; i++)
        count += read[i] == 's';
    munmap(read, bytes);
    return count;
}

enum { NEXT = 4 };

/* Clients that come now, all at once: none has anything of what another one has written; whether one has those files. */
static bool come_after(const int before[2], const char *whose)
{
    int clients[NEXT], files[NEXT][2];
    bool has_same = false;
    for (int i = 0; i < NEXT; i++) {
        clients[i] = tb_open_server_socket();
        CHECK(is_welcomed(clients[i], files[i]), "client %d is not welcomed", i);
        for (int j = 0; j < 2; j++) {
            has_same |= is_same_file(before[j], files[i][j]);
            const long count = count_written(files[i][j]);
            CHECK(count < 4096, "%ld bytes of %s are there", count, whose);
            close(files[i][j]);
        }
    }
    for (int i = 0; i < NEXT; i++)
        close(clients[i]);
    return has_same;
}

/* What a client has had the next one may have, when it was cleaned, and only when the client's process has ended. */
static void berths(void)
{
    int files[2];
    const pid_t server = server_start();
    tileblas_set_option("SERVER", "auto");
    int client = tb_open_server_socket();
    CHECK(is_welcomed(client, files), "a client is not welcomed");
    close(client);
    server_pause(0.5);
    CHECK(!come_after(files, "a living client's"), "what a client that lives has is another one's");
    const pid_t child = fork();
    if (child == 0) {
        client = tb_open_server_socket();
        const bool has = is_welcomed(client, files);
        write_all(files[1]);
        write_all(files[0]);
        _exit(has ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    CHECK(child_wait(child, CHILD_SECONDS) == CHILD_RIGHT, "a client that ends is not welcomed");
    server_pause(0.5);
    come_after(files, "a client's that has ended");
    close(files[0]);
    close(files[1]);
    server_end(server, SIGTERM);
}

/* A server has files for many clients, whatever limit it was given that it can raise. */
static void limit(void)
{
    enum { CLIENTS = 6, FILES = 26 };
    struct rlimit before;
    int clients[CLIENTS], files[CLIENTS][2];
    getrlimit(RLIMIT_NOFILE, &before);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES, before.rlim_max});
    const pid_t server = server_start();
    setrlimit(RLIMIT_NOFILE, &before);
    tileblas_set_option("SERVER", "auto");
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = tb_open_server_socket();
        CHECK(is_welcomed(clients[i], files[i]), "client %d is not welcomed", i);
    }
    for (int i = 0; i < CLIENTS; i++) {
        close(files[i][0]);
        close(files[i][1]);
        close(clients[i]);
    }
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

/* A client's child holds its socket open: that the client has ended is known all the same. */
static void orphan(void)
{
    int ends[2], files[2], clients = 1;
    pid_t child = 0;
    const pid_t server = server_start();
    tileblas_set_option("SERVER", "auto");
    if (pipe(ends) != 0)
        abort();
    const pid_t parent = fork();
    if (parent == 0) {
        const bool has = is_welcomed(tb_open_server_socket(), files);
        const pid_t held = fork();
        if (held == 0)
            for (;;)
                pause();
        _exit(has && write(ends[1], &held, sizeof held) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    CHECK(child_wait(parent, CHILD_SECONDS) == CHILD_RIGHT, "a client is not welcomed");
    CHECK(read(ends[0], &child, sizeof child) == (ssize_t)sizeof child, "it has no child");
    for (int i = 0; i < 250 && server_holds(&clients) >= 0 && clients > 0; i++)
        server_pause(0.02);
    CHECK(clients == 0, "a client that has ended is still there");
    if (child > 0)
        kill(child, SIGKILL);
    close(ends[0]);
    close(ends[1]);
    server_end(server, SIGTERM);
}

/* Another user that can reach the socket, as no user's own library would try to. */
static void come_as_another_user(void *path)
{
    tb_welcome welcome;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const tb_hello hello = {.build = tb_wire_build(), .slot_bytes = 1};
    char *name = strrchr(path, '/');
    *name++ = '\0';
    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    const int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (chdir(path) != 0 || seteuid(65534) != 0)
        abort();
    setfsuid(0); /* files are still root's, and reached */
    CHECK(connect(client, (const struct sockaddr *)&address, sizeof address) == 0, "there is no server");
    CHECK(send(client, &hello, sizeof hello, MSG_NOSIGNAL) < 0 ||
              recv(client, &welcome, sizeof welcome, 0) <= 0,
          "another user is welcomed");
}

static void user(void)
{
    char path[PATH_MAX];
    if (geteuid() != 0)
        SKIP("only root can be another user");
    const pid_t server = server_start();
    tileblas_set_option("SERVER", "auto");
    tb_print_server_place(path, sizeof path);
    const child_end end = child_run(come_as_another_user, path, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "another user: %s", child_end_text(end));
    server_end(server, SIGTERM);
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {
        {"closed", closed}, {"room", room},         {"signals", signals},
        {"forks", forks},   {"stranger", stranger}, {"limit", limit},
        {"berths", berths}, {"orphan", orphan},     {"user", user}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    server_command = arguments[2];
    const runtime_folder folder = make_runtime_folder();
    close(tb_open_private_folder()); /* for sockets that are none of a server's */
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
