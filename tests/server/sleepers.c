/* Clients that work in turn, and hold together more than the device has: each finds what others hold who sleep, and goes on without
 * what it has held itself. What sessions do for that is in sharing.c; here is what clients do.
 *
 *   sleepers COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/device/memory.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

#include <pthread.h>
#include <sys/mman.h>

enum { CHILD_SECONDS = 120, CLIENTS = 5, ROUNDS = 3, PRODUCTS = 3, THREADS = 2 };

/* Of doubles, square. A client holds all three matrices, and may hold half of the memory; three clients fill it. */
enum { EXTENT = 300 };
#define MEMORY "7000000"

/* Longer than a client does nothing that is awake (lib/server/sleepers.c). */
#define ASLEEP_SECONDS 0.15

static uint64_t seed;

/* Whose turn it is: each client's number comes in each round. */
static struct {
    atomic_int turn;
} * turns;

static bool is_served(void)
{
    char plan[200];
    tileblas_last_plan(plan, sizeof plan);
    return strstr(plan, "device 32") != NULL;
}

static int multiply_large(void)
{
    known_product p = {
        .m = EXTENT, .n = EXTENT, .k = EXTENT, .factor = 2, .memory = TB_MEMORY_HOST, .of_doubles = true};
    int served = 0;
    known_place(&p);
    for (int i = 0; i < PRODUCTS; i++) {
        known_multiply(&p);
        served += is_served();
        CHECK(known_errors(&p) == 0, "%d numbers are wrong", known_errors(&p));
    }
    known_free(&p);
    return served;
}

/* Bytes of the device that this client believes to hold, once it has looked whether they were taken back. */
static size_t held_bytes(void)
{
    if (tb_begin_use(TB_SERVED_FIRST))
        tb_end_use(TB_SERVED_FIRST);
    return tb_kept_bytes(TB_SERVED_FIRST);
}

/* The threads of a client share its slots and its memory: not all of these are served. */
static void *multiply_beside(void *number)
{
    check_random random = {seed + (uint64_t)(uintptr_t)number};
    for (int i = 0; i < 2; i++)
        multiply(&random, 200, "by threads that wake up");
    return NULL;
}

/* All at once find that what the client has held was taken back. */
static void wake_up_by_threads(int turn)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, multiply_beside, (void *)(10 * (uintptr_t)turn + i));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void multiply_in_turn(int number)
{
    prefer_device();
    tileblas_set_option("KEEP_SECONDS", "600");
    for (int round = 0; round < ROUNDS; round++) {
        const int turn = round * CLIENTS + number;
        while (atomic_load(&turns->turn) < turn)
            server_pause(0.005);
        if (round == 1)
            CHECK(held_bytes() == 0, "client %d holds %zu bytes that others have needed", number,
                  held_bytes());
        if (round == 2)
            wake_up_by_threads(turn);
        const int served = multiply_large();
        CHECK(served == PRODUCTS, "client %d, round %d: %d of %d products are served", number, round, served,
              PRODUCTS);
        server_pause(ASLEEP_SECONDS);
        if (round == 0) {
            CHECK(held_bytes() > 0, "from client %d was taken what nobody needs", number);
            server_pause(ASLEEP_SECONDS);
        }
        atomic_fetch_add(&turns->turn, 1);
    }
}

static void check_nothing_is_held(void)
{
    int clients = 1;
    int64_t bytes = 1;
    for (int i = 0; i < 200 && (clients > 0 || bytes > 0); i++) {
        bytes = server_holds(&clients);
        server_pause(0.02);
    }
    CHECK(clients == 0 && bytes == 0, "%d clients hold %lld bytes", clients, (long long)bytes);
}

static pid_t start_client(int number)
{
    fflush(stdout);
    const pid_t client = fork();
    if (client == 0) {
        atomic_store(&check_failures, 0);
        multiply_in_turn(number);
        fflush(stdout);
        _exit(atomic_load(&check_failures) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return client;
}

int main(int argument_count, char **arguments)
{
    pid_t clients[CLIENTS];
    if (argument_count != 2)
        return EXIT_FAILURE;
    server_command = arguments[1];
    seed = check_seed();
    const runtime_folder folder = make_runtime_folder();
    turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv("TILEBLAS_SIM_MEMORY", MEMORY, 1);
    setenv("TILEBLAS_CALIBRATE", "0", 1);
    const pid_t server = server_start();
    unsetenv("TILEBLAS_SIM_MEMORY");
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = start_client(i);
    for (int i = 0; i < CLIENTS; i++) {
        const child_end end = child_wait(clients[i], CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "client %d: %s", i, child_end_text(end));
    }
    check_nothing_is_held();
    CHECK(server_end(server, SIGTERM) == 0, "the server did not end well");
    remove_runtime_folder(&folder);
    return check_result();
}
