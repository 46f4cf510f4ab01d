/* What a server believes of whoever calls, and what it lets out of its hands.
 *
 *   callers COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "include/tileblas.h"
#include "tests/server/running_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

/* Whether there is an answer to what is sent first, before the server hangs up. */
static bool is_answered(const void *said, size_t bytes)
{
    tb_welcome answer;
    const int caller = tb_open_server_socket();
    struct pollfd ready = {.fd = caller, .events = POLLIN};
    if (bytes > 0 && send(caller, said, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        abort();
    const bool has_come = poll(&ready, 1, 20000) == 1;
    const ssize_t received = recv(caller, &answer, sizeof answer, MSG_DONTWAIT);
    CHECK(has_come, "after %zu bytes the server waits for more", bytes);
    close(caller);
    return received > 0;
}

/* Nobody who has the files of a welcome takes anything from the server, or from the client that has them next. */
static void check_files(void)
{
    const tb_hello hello = {.build = tb_wire_build(), .slot_bytes = 1};
    const int client = tb_open_server_socket();
    tb_welcome welcome;
    tb_enclosed beside;
    if (send(client, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello ||
        !tb_receive_welcome(client, 20000, &welcome, &beside) || !beside.has_files)
        abort();
    for (int i = 0; i < 2; i++) {
        struct stat found;
        fstat(beside.files[i], &found);
        CHECK(ftruncate(beside.files[i], found.st_size - 1) != 0, "file %d can be made shorter", i);
        CHECK(ftruncate(beside.files[i], found.st_size + 1) != 0, "file %d can be made longer", i);
        CHECK(fcntl(beside.files[i], F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0,
              "file %d can be closed to others", i);
        close(beside.files[i]);
    }
    close(client);
}

/* The question for the welcome alone, that of a client, and those that are none. */
static void call(void)
{
    tb_hello hello = {.build = tb_wire_build()};
    int clients = 1;
    const pid_t server = server_start();
    tileblas_set_option("SERVER", "auto");
    CHECK(is_answered(&hello, sizeof hello), "a question is not answered");
    for (int i = 0; i < 2; i++) {
        hello.slot_bytes = (uint64_t)i;
        hello.build = tb_wire_build() + 1;
        CHECK(!is_answered(&hello, sizeof hello), "another build is answered");
        hello.build = tb_wire_build();
        for (size_t bytes = 0; bytes < sizeof hello; bytes += 5)
            CHECK(!is_answered(&hello, bytes), "%zu bytes of a question are answered", bytes);
    }
    CHECK(server_holds(&clients) == 0 && clients == 0, "the server has %d clients", clients);
    check_files();
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2)
        return EXIT_FAILURE;
    server_command = arguments[1];
    const runtime_folder folder = make_runtime_folder();
    call();
    remove_runtime_folder(&folder);
    return check_result();
}
