/* Operands that one process has sent and another one finds: what crosses the link, and that products are right whatever the server keeps.
 *
 *   across STATEMENT COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device. Each process below has the operands at its own addresses, and a fingerprint
 * key that it gets from its server.
 */
#include "lib/device/platform.h"
#include "tests/server/sending_client.h"

#include <pthread.h>
#include <sys/mman.h>

/* ---- What is found ---------------------------------------------------------------------------------------- */

static void next_process_finds(void)
{
    const pid_t server = server_start();
    run(1, 2, all, "the first process");
    tb_welcome status = status_with(A_BYTES + B_BYTES, 0);
    CHECK(status.found_bytes == 0, "found by nobody");
    run(1, 3, nothing, "the second process");
    status = status_with(A_BYTES + B_BYTES, 0);
    printf("%.0f of %.0f bytes of operands did not cross the link\n", (double)status.found_bytes,
           A_BYTES + B_BYTES);
    CHECK((double)status.found_bytes == A_BYTES + B_BYTES, "%.0f bytes were found",
          (double)status.found_bytes);
    run(2, 1, all, "a process with other operands");
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

/* Of processes that multiply once: the second one has the copy made, the third one finds it. */
static void processes_of_one_call_find(void)
{
    const pid_t server = server_start();
    run(1, 1, all, "the first process");
    status_with(0, 0);
    run(1, 1, all, "the second process");
    status_with(A_BYTES + B_BYTES, 0);
    run(1, 1, nothing, "the third process");
    server_end(server, SIGTERM);
}

static void owner_may_live_or_be_killed(void)
{
    const pid_t server = server_start(), owner = start_owner(1, NULL);
    status_with(A_BYTES + B_BYTES, 1);
    run(1, 1, nothing, "beside the owner");
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    run(1, 1, nothing, "after the owner was killed");
    server_end(server, SIGTERM);
}

/* ---- What is not ------------------------------------------------------------------------------------------ */

static void what_differs_is_sent(void)
{
    const pid_t server = server_start();
    run(1, 2, all, "the first process");
    status_with(A_BYTES + B_BYTES, 0);
    run_changed(1, change_one_byte, 1, slots(1), "another byte");
    run_changed(1, change_most, 1, slots(3), "other bytes in most slots");
    run(1, 1, nothing, "as it was at first");
    run_changed(1, change_everywhere, 1, slots(4), "other bytes in all slots");
    run(1, 3, slots(4), "and once more as it was");
    server_end(server, SIGTERM);
}

static void multiply_changed(operands *own)
{
    change_one_byte(own);
    multiply(own, "the owner, another byte");
    change_everywhere(own);
    multiply(own, "the owner, other bytes");
    multiply(own, "the owner, and again");
}

/* The owner's block is written to after its copy was made. */
static void copies_are_not_the_owners_block(void)
{
    const pid_t server = server_start(), owner = start_owner(1, multiply_changed);
    status_with(A_BYTES + B_BYTES, 1);
    run(1, 2, up_to_a, "what the owner had at first");
    run_changed(1, change_everywhere, 2, up_to_a, "what it has");
    run_changed(1, change_one_byte, 2, up_to_a, "what it had in between");
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    server_end(server, SIGTERM);
}

/* ---- Writers ---------------------------------------------------------------------------------------------- */

enum { WRITTEN = 200 * M + CHANGED_ROW };

static atomic_bool writing;
static _Atomic(float) *written;

static void *write_and_write(void *unused)
{
    while (atomic_load(&writing)) {
        atomic_store_explicit(written, 1000, memory_order_relaxed);
        atomic_store_explicit(written, 2, memory_order_relaxed);
    }
    return unused;
}

static void set_written(operands *own)
{
    own->a[WRITTEN] = 2;
}

static void set_written_otherwise(operands *own)
{
    own->a[WRITTEN] = 1000;
}

/* Products of what a thread writes to meanwhile have any of its values. */
static void race(void *given)
{
    static float c[M * N];
    const job *job = given;
    pthread_t writer;
    prefer_server();
    operands own = make(job->number);
    job->prepare(&own);
    compute(&own, c);
    written = (void *)(own.a + WRITTEN);
    atomic_store(&writing, true);
    pthread_create(&writer, NULL, write_and_write, NULL);
    for (int i = 0; i < job->calls; i++)
        compute(&own, c);
    atomic_store(&writing, false);
    pthread_join(writer, NULL);
}

/* It writes while the copy is made that is kept, and while it is compared. */
static void racing_writers_spoil_no_copy(void)
{
    enum { ROUNDS = 4 };
    const pid_t server = server_start();
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t number = (uint64_t)round;
        job racing = {number, 1 + round % 2, all, "racing", set_written};
        const child_end end = child_run(race, &racing, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "a process with a thread that writes: %s", child_end_text(end));
        status_with((round + 1) * (A_BYTES + B_BYTES), 0);
        run_changed(number, set_written, 2, up_to_a, "what it held");
        run_changed(number, set_written_otherwise, 2, up_to_a, "what else it held");
    }
    server_end(server, SIGTERM);
}

/* ---- Limits ----------------------------------------------------------------------------------------------- */

static void without_cache(operands *unused)
{
    (void)unused;
    tileblas_set_option("OPERAND_CACHE", "0");
}

static void with_limit(operands *unused)
{
    (void)unused;
    tileblas_set_option("DEVICE_MEMORY", "64");
}

static void options_of_the_cache_hold(void)
{
    pid_t server = server_start();
    run_changed(1, without_cache, 3, all, "without a cache");
    run_changed(1, with_limit, 3, all, "with a limit");
    status_with(0, 0);
    run(1, 2, all, "with a cache");
    status_with(A_BYTES + B_BYTES, 0);
    run_changed(1, without_cache, 1, all, "without a cache, although there is a copy");
    server_end(server, SIGTERM);

    setenv("TILEBLAS_OPERAND_CACHE", "0", 1);
    server = server_start();
    unsetenv("TILEBLAS_OPERAND_CACHE");
    run(1, 2, all, "a server without copies");
    run(1, 2, all, "a server without copies, and again");
    status_with(0, 0);
    server_end(server, SIGTERM);
}

/* What a process with these operands is told is free of the device, which replaces their number. */
static void ask_for_memory(void *number)
{
    size_t free_bytes, total_bytes;
    prefer_server();
    operands own = make(*(size_t *)number);
    multiply(&own, "who asks for memory");
    CHECK(tb_served_devices->memory(TB_SERVED_FIRST, &free_bytes, &total_bytes) == TB_OK, "no answer");
    *(size_t *)number = free_bytes;
    discard(&own);
}

/* Otherwise products would be cut in another way for there being copies. */
static void copies_count_as_free(void)
{
    size_t *bytes = mmap(NULL, 2 * sizeof *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t server = server_start();
    for (size_t i = 0; i < 2; i++) {
        bytes[i] = 2 + i;
        const child_end end = child_run(ask_for_memory, &bytes[i], CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "a process that asks: %s", child_end_text(end));
        run(1, 2, i == 0 ? all : nothing, "who leaves copies");
        status_with(A_BYTES + B_BYTES, 0);
    }
    CHECK(bytes[0] == bytes[1] && bytes[0] > 0, "%zu bytes are free, and %zu beside copies", bytes[0],
          bytes[1]);
    server_end(server, SIGTERM);
}

/* Copies have an eighth of the device, whose memory clients get when they need it. */
static void copies_have_a_share(void)
{
    enum { OPERANDS = 5 };
    setenv("TILEBLAS_SIM_MEMORY", "10485760", 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SIM_MEMORY");
    for (uint64_t number = 0; number < OPERANDS; number++) {
        run(number, 2, all, "operands one after the other");
        tb_welcome status;
        CHECK(tb_ask_status(&status, 5000) && status.kept_bytes[0] <= 10485760 / 8, "copies have %.0f bytes",
              (double)status.kept_bytes[0]);
    }
    run(OPERANDS - 1, 1, nothing, "the last ones");
    run(0, 1, all, "the first ones");
    server_end(server, SIGTERM);
}

/* ---- Another server --------------------------------------------------------------------------------------- */

static void tell(int file)
{
    char byte = 0;
    CHECK(write(file, &byte, 1) == 1, "nobody listens");
}

static void hear(int file)
{
    char byte;
    CHECK(read(file, &byte, 1) == 1, "nobody tells");
}

/* Has the key of the first server, and so has its child, which meets the second one. */
static void meet_first_server(int from, int to)
{
    prefer_server();
    operands own = make(1);
    multiply(&own, "the first server");
    tell(to);
    hear(from);
    const pid_t child = fork();
    for (int i = 0; child == 0 && i < 3; i++)
        multiply(&own, "the second server, and the first one's key");
    CHECK(child == 0 || child_wait(child, CHILD_SECONDS) == CHILD_RIGHT, "the child has failed");
    fflush(stdout);
    _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void other_servers_have_other_keys(void)
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        abort();
    const pid_t first = server_start(), process = fork();
    if (process == 0)
        meet_first_server(there[0], back[1]);
    hear(back[0]);
    server_end(first, SIGKILL);
    const pid_t second = server_start();
    run(1, 2, all, "a process of the second server's");
    status_with(A_BYTES + B_BYTES, 0);
    tell(there[1]);
    const child_end end = child_wait(process, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a process that meets two servers: %s", child_end_text(end));
    const tb_welcome status = status_with(A_BYTES + B_BYTES, 0);
    CHECK(status.found_bytes == 0, "%.0f bytes were found by another key", (double)status.found_bytes);
    server_end(second, SIGTERM);
}

/* ---- Many at once ----------------------------------------------------------------------------------------- */

#ifdef __SANITIZE_THREAD__
enum { CLIENTS = 2, JOBS = 2 };
#else
enum { CLIENTS = 6, JOBS = 12 };
#endif

/* Processes with the same operands, which they change from time to time, start and are killed at any moment. On a machine that is
 * busy a client may take its server for gone. */
static void join_in(uint64_t own_seed)
{
    check_random random = {own_seed};
    prefer_server();
    for (int i = 0; i < JOBS; i++) {
        operands own = make((uint64_t)check_between(&random, 1, 2));
        static void (*const changes[])(operands *) = {NULL, NULL, change_one_byte, change_most,
                                                      change_everywhere};
        void (*change)(operands *) = CHECK_PICK(&random, changes);
        multiply_right(&own, "among many");
        if (change)
            change(&own);
        multiply_right(&own, "among many, changed");
        multiply_right(&own, "among many, once more");
        discard(&own);
    }
}

static void many_find_what_is_right(void)
{
    check_random random = {operand_seed};
    pid_t clients[CLIENTS];
    setenv("TILEBLAS_SIM_DELAY", "200", 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SIM_DELAY");
    fflush(stdout);
    for (int i = 0; i < CLIENTS; i++)
        if ((clients[i] = fork()) == 0) {
            atomic_store(&check_failures, 0);
            join_in(operand_seed + (uint64_t)i);
            fflush(stdout);
            _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        }
    for (int i = 0; i < CLIENTS; i++) {
        const bool is_killed = i % 3 == 0;
        server_pause((double)check_between(&random, 0, 100) * 1e-3);
        if (is_killed)
            kill(clients[i], SIGKILL);
        const child_end end = child_wait(clients[i], CHILD_SECONDS);
        CHECK(is_killed || end == CHILD_RIGHT, "client %d: %s", i, child_end_text(end));
    }
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
}

int main(int argument_count, char **arguments)
{
    static const server_program statements[] = {{"next", next_process_finds},
                                                {"once", processes_of_one_call_find},
                                                {"owner", owner_may_live_or_be_killed},
                                                {"differs", what_differs_is_sent},
                                                {"written", copies_are_not_the_owners_block},
                                                {"racing", racing_writers_spoil_no_copy},
                                                {"options", options_of_the_cache_hold},
                                                {"share", copies_have_a_share},
                                                {"memory", copies_count_as_free},
                                                {"servers", other_servers_have_other_keys},
                                                {"many", many_find_what_is_right}};
    if (argument_count != 3)
        return EXIT_FAILURE;
#ifdef __SANITIZE_THREAD__
    if (strcmp(arguments[1], "racing") == 0 || strcmp(arguments[1], "servers") == 0)
        SKIP("a race is meant, or a fork after which the thread sanitizer knows no threads");
#endif
    server_command = arguments[2];
    operand_seed = check_seed();
    const runtime_folder folder = make_runtime_folder();
    server_run_program(statements, sizeof statements / sizeof *statements, arguments[1]);
    remove_runtime_folder(&folder);
    return check_result();
}
