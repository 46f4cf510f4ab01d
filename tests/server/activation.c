/* A server that is started for the first client by whoever has opened its socket, as systemd does: products are right from the first one
 * on, and served once the server is up.
 *
 *   activation products|wrong|gone COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "include/tileblas.h"
#include "lib/process/private_folder.h"
#include "tests/server/door.h"
#include "tests/server/running_server.h"
#include "tests/sim/known_product.h"

#include <poll.h>
#include <sys/socket.h>

enum { CHILD_SECONDS = 120, FIRST_HANDED = 3 };

/* ---- In systemd's place -------------------------------------------------------------------------------------- */

static _Noreturn void become_server(int door, const char *process)
{
    char own[16];
    snprintf(own, sizeof own, "%d", (int)getpid());
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", process ? process : own, 1);
    dup2(door, FIRST_HANDED);
    execl(server_command, server_command, "serve", (char *)NULL);
    _exit(127);
}

/* Waits for the first client; then it is the server. */
static pid_t start_behind(int door, double seconds)
{
    const pid_t server = fork();
    struct pollfd ready = {.fd = door, .events = POLLIN};
    if (server == 0) {
        poll(&ready, 1, -1);
        server_pause(seconds);
        become_server(door, NULL);
    }
    return server;
}

/* ---- Clients ------------------------------------------------------------------------------------------------- */

/* Where the product was computed. */
static void multiply(char *plan, size_t size)
{
    known_product p = known_make(70, 60, 50, 1, 2, TB_MEMORY_HOST);
    known_multiply(&p);
    tileblas_last_plan(plan, size);
    CHECK(known_errors(&p) == 0, "%d numbers are wrong (%s)", known_errors(&p), plan);
    known_free(&p);
}

/* On the host, and then by the server, and by no device of the process's own between. */
static void multiply_until_served(void *unused)
{
    (void)unused;
    char plan[400] = "";
    tileblas_set_option("SERVER", "auto");
    tileblas_set_option("ROUTE", "streamed");
    for (int i = 0; i < 5000 && !strstr(plan, "device 32") && atomic_load(&check_failures) == 0; i++) {
        multiply(plan, sizeof plan);
        CHECK(i > 0 || strstr(plan, "device 32") == NULL, "the server was up before it was started");
        CHECK(strstr(plan, "device 0") == NULL, "on a device of its own: %s", plan);
        server_pause(0.005);
    }
    CHECK(strstr(plan, "device 32") != NULL, "the server does not serve: %s", plan);
}

static void products(void)
{
    const int door = open_door(SOCK_SEQPACKET);
    const pid_t server = start_behind(door, 0.3);
    child_end end = child_run(multiply_until_served, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the first client: %s", child_end_text(end));
    tb_welcome status;
    CHECK(tb_ask_status(&status, 5000) && status.process == server, "process %d answers, not %d",
          status.process, (int)server);
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
    /* The name is the launcher's, who starts another server at it. */
    const pid_t next = start_behind(door, 0);
    end = child_run(multiply_until_served, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client of the next server: %s", child_end_text(end));
    server_end(next, SIGTERM);
    close(door);
}

/* What a server is handed that is no socket for clients, it does not use; what is handed to another process it leaves alone. */
static void wrong(void)
{
    int ends[2], status = 0;
    const int door = open_door(SOCK_STREAM);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        abort();
    const int handed[] = {door, ends[0]};
    for (int i = 0; i < 2; i++) {
        const pid_t server = fork();
        if (server == 0)
            become_server(handed[i], NULL);
        waitpid(server, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1, "socket %d: the server ends with %d", i, status);
    }
    char path[PATH_MAX];
    tb_print_server_place(path, sizeof path);
    unlink(path);
    const pid_t server = fork();
    if (server == 0)
        become_server(ends[0], "1");
    tb_welcome told;
    bool answers = false;
    for (int i = 0; i < 1000 && !(answers = tb_ask_status(&told, 1000)); i++)
        server_pause(0.01);
    CHECK(answers, "what was handed to another process is heeded");
    server_end(server, SIGTERM);
    close(door);
}

/* Somebody has put another socket in the place of the server's: it leaves that alone, and ends, as nobody finds it. */
static void gone(void)
{
    char path[PATH_MAX];
    const pid_t server = server_start();
    tb_print_server_place(path, sizeof path);
    unlink(path);
    const int door = open_door(SOCK_SEQPACKET);
    int status = -1;
    CHECK(waitpid(server, &status, 0) == server && status == 0, "the server ends with %d", status);
    CHECK(access(path, F_OK) == 0, "the other socket is gone");
    close(door);
}

int main(int argument_count, char **arguments)
{
    static const server_program programs[] = {{"products", products}, {"wrong", wrong}, {"gone", gone}};
    if (argument_count != 3)
        return EXIT_FAILURE;
    server_command = arguments[2];
    const runtime_folder folder = make_runtime_folder();
    close(tb_open_private_folder()); /* systemd makes it with the socket */
    server_run_program(programs, sizeof programs / sizeof *programs, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
